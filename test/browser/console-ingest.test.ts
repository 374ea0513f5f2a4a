import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { startSink } from '../gateway/accepting-sink.ts'
import { exportOnce } from '../gateway/export-client.ts'
import { type RunningGateway, startGateway } from '../gateway/running-gateway.ts'
import { startGatewayAt } from '../gateway/stepped-clock.ts'
import { testWithChromium } from './chromium.ts'
import { callManagement, cellTexts, keyOf, openConsole, violations } from './console-window.ts'

const HOSTILE = '<img src=x onerror=alert(1)>\u202e"\'; render'

async function gatewayWithSink(): Promise<RunningGateway> {
  const sink = await startSink()
  return startGateway({ PENSTOCK_UPSTREAM: sink.url })
}

const send = async ({ otlpPort }: RunningGateway, token?: string, service = 'nightly-render') =>
  (await exportOnce(otlpPort, 'HTTP JSON', { service, ...(token !== undefined && { token }) })).code

const cells = (page: Page, name: string) => cellTexts(page.getByRole('table', { name }))

const enforcement = (page: Page) => page.getByRole('switch', { name: 'Ingest enforcement' })

/** Returns what a shell prints. The gateway is in this process, so nothing may block it in between. */
const printed = async (script: string) => (await promisify(execFile)('bash', ['-c', script])).stdout

testWithChromium('the example of a new token sends a trace, and the dialog leads to it', async (browser) => {
  const gateway = await startGateway()
  const { page, complaints, strayed } = await openConsole(browser, gateway, '/ingest')
  await page.getByRole('button', { name: 'Create token' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill('laptop')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  const use = page.getByRole('region', { name: 'Use it' })
  await use.getByText('Nothing has arrived with this token yet.').waitFor()
  expect(await violations(page)).toEqual([])
  expect(await printed(await use.locator('pre').first().innerText())).toMatch(/^HTTP\/1\.1 200 /)
  await use.getByText('The trace has arrived.').waitFor()
  await use.getByRole('link', { name: 'Open the trace' }).click()
  await page.getByRole('heading', { level: 1, name: 'The token works.' }).waitFor()
  await page.getByRole('treegrid', { name: 'Spans' }).waitFor()
  expect([strayed, complaints()]).toEqual([[], []])
})

testWithChromium('an Admin sees a valid token on a wrong path, and where it belongs', async (browser) => {
  const gateway = await gatewayWithSink()
  const { token } = await callManagement<{ token: string }>(gateway, 'POST', '/api/v1/ingest_auth/tokens', {
    name: 'ci',
  })
  const path = `/v1/traces/v1/${HOSTILE}`
  const answer = await fetch(`http://127.0.0.1:${gateway.otlpPort}${encodeURI(path)}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'user-agent': 'otel-test' },
    body: '{}',
  })
  expect(answer.status).toBe(404)
  const { page, complaints, strayed } = await openConsole(browser, gateway, '/ingest')
  await expect.poll(() => cells(page, 'Valid tokens on a wrong path')).toHaveLength(1)
  const [row] = await cells(page, 'Valid tokens on a wrong path')
  expect(row).toEqual(expect.arrayContaining([expect.stringContaining('/v1/traces'), 'ci', 'otel-test', '1']))
  const sizes = await page
    .locator('tbody .mono')
    .evaluateAll((paths) => paths.map((path) => getComputedStyle(path).fontSize))
  expect([...new Set(sizes)]).toHaveLength(1)
  expect(await violations(page)).toEqual([])
  await page.setViewportSize({ width: 390, height: 800 })
  expect(await violations(page)).toEqual([])
  expect([strayed, complaints()]).toEqual([[], []])
})

testWithChromium('an Admin sees who would be refused, confirms, and makes a token that works', async (browser) => {
  const gateway = await gatewayWithSink()
  expect([await send(gateway), await send(gateway), await send(gateway, undefined, HOSTILE)]).toEqual([200, 200, 200])
  const { page, complaints, strayed } = await openConsole(browser, gateway, '/ingest')
  await expect.poll(() => cells(page, 'Clients that would be refused')).toHaveLength(1)
  const ingestLink = (name: string) => page.getByRole('link', { name, exact: true })
  // The two requests and the third state different services, so they are counted as two clients, although they have one row.
  await ingestLink('Ingest 2 clients would be refused').waitFor()
  const { clients } = await callManagement<{ clients: { count: number; service_names: string[] }[] }>(
    gateway,
    'GET',
    '/api/v1/ingest_auth/readiness',
  )
  const [row] = await cells(page, 'Clients that would be refused')
  expect(clients[0]!.service_names).toEqual([HOSTILE, 'nightly-render'])
  expect(row).toEqual(
    expect.arrayContaining([clients[0]!.service_names.join(', '), String(clients[0]!.count), 'no token']),
  )

  await enforcement(page).click()
  const dialog = page.getByRole('alertdialog', { name: 'Enforce ingest tokens?' })
  await dialog.getByText('2 clients would be refused.').waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  expect(await enforcement(page).getAttribute('aria-checked')).toBe('false')
  expect(await send(gateway)).toBe(200)
  await enforcement(page).click()
  await dialog.getByRole('button', { name: 'Confirm' }).click()
  await expect.poll(() => enforcement(page).getAttribute('aria-checked')).toBe('true')
  await ingestLink('Ingest').waitFor()
  expect(await send(gateway)).toBe(401)

  await page.getByRole('button', { name: 'Create token' }).click()
  const form = page.getByRole('dialog', { name: 'Create ingest token' })
  await form.getByRole('button', { name: 'Create' }).click()
  await form.getByText('Give the token a name.').waitFor()
  await form.getByRole('textbox', { name: 'Name' }).fill(HOSTILE)
  await form.getByText('Limits and restrictions').click()
  await form.getByRole('checkbox', { name: 'metrics' }).uncheck()
  await form.getByRole('textbox', { name: 'Requests a second, traces' }).fill('20k')
  await form.getByRole('button', { name: 'Create' }).click()
  const field = page.getByRole('textbox', { name: 'Ingest token' })
  const value = await field.inputValue()
  expect([await field.isEditable(), value.startsWith('psin_')]).toEqual([false, true])
  await page.getByRole('button', { name: 'Copy' }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  expect(await send(gateway, value)).toBe(200)
  const use = page.getByRole('region', { name: 'Use it' })
  expect(await use.innerText()).toContain(`Send OTLP over HTTP or gRPC to ${gateway.otlpUrl}.`)
  const texts = await use.locator('pre').allInnerTexts()
  expect(await printed(texts[0]!)).toMatch(/^HTTP\/1\.1 200 /)
  // Without a store the dialog cannot know the trace, only that the token is used.
  await use.getByText('The token was used for the first time.').waitFor()
  const headers = await printed(`${texts[1]}; printenv OTEL_EXPORTER_OTLP_HEADERS`)
  expect(headers).toBe(`Authorization=Bearer%20${value}\n`)
  await use.getByRole('button').first().click()
  await use.getByText('Copied').first().waitFor({ state: 'attached' })
  await page.getByRole('button', { name: 'Done' }).click()
  expect(await page.content()).not.toContain(value)
  expect((await cells(page, 'Ingest tokens'))[0]![0]).toContain(HOSTILE)

  await page.getByRole('button', { name: `Rotate ${HOSTILE}` }).click()
  await page.getByLabel('Accept the old value for').selectOption({ label: 'Not at all' })
  await page.getByRole('button', { name: 'Confirm' }).click()
  const next = await field.inputValue()
  expect([next === value, await send(gateway, value), await send(gateway, next)]).toEqual([false, 401, 200])
  await page.getByRole('button', { name: 'Done' }).click()

  // The old one has expired, so the new one is the last valid token while tokens are required.
  await page
    .getByRole('button', { name: `Revoke ${HOSTILE}` })
    .first()
    .click()
  await page.getByRole('button', { name: 'Confirm' }).click()
  await page.getByText('This is the last valid token').waitFor()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await enforcement(page).click()
  await expect.poll(() => enforcement(page).getAttribute('aria-checked')).toBe('false')
  await page
    .getByRole('button', { name: `Revoke ${HOSTILE}` })
    .first()
    .click()
  await page.getByRole('button', { name: 'Confirm' }).click()
  await expect.poll(() => cells(page, 'Ingest tokens')).toHaveLength(1)
  await expect
    .poll(async () => (await cells(page, 'Audit')).map(([, text]) => text))
    .toEqual([
      'Token revoked',
      'Enforcement mode changed, enforce to off',
      'Revocation refused, last valid token',
      'Token rotated',
      'Token created',
      'Enforcement mode changed, off to enforce',
      'Signed in',
    ])
  expect([await violations(page), complaints(), strayed]).toEqual([[], [], []])
})

testWithChromium('modes, grace and a change by someone else are shown in place', async (browser) => {
  const gateway = await gatewayWithSink()
  const { page } = await openConsole(browser, gateway, '/ingest')
  await page.getByLabel('Grace').fill('soon')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Write a duration such as 15 min').waitFor()
  await page.getByLabel('Grace').fill('15 min')
  await page.getByLabel('Mode').selectOption('Enforce')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('On: refusals are retried').waitFor()
  expect(await send(gateway)).toBe(503)
  await gateway.enforce(false, { mode: 'warn' })
  await page.getByLabel('Mode').selectOption('Report')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Someone else has changed this').waitFor()
  await page.getByText('Warn: all telemetry gets in').waitFor()
  const { id } = await gateway.token({ name: 'bench' })
  await page.keyboard.press('Escape')
  await page.locator('h1').click()
  await page.keyboard.press('r')
  await page.getByRole('button', { name: 'Edit bench' }).click()
  await page.getByRole('dialog', { name: 'Edit bench' }).waitFor()
  await callManagement(gateway, 'PATCH', `/api/v1/ingest_auth/tokens/${id}`, { name: 'bench 2' })
  await page.getByRole('button', { name: 'Save' }).last().click()
  const dialog = page.getByRole('dialog', { name: 'Edit bench 2' })
  await dialog.getByText('Someone else has changed this').waitFor()
  await dialog.getByRole('textbox', { name: 'Name' }).fill('bench 3')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect.poll(async () => (await cells(page, 'Ingest tokens'))[0]?.[0]).toContain('bench 3')
})

testWithChromium('a Viewer has no controls, an Editor none of the Admins', async (browser) => {
  const gateway = await gatewayWithSink()
  await gateway.token({ name: 'bench' })
  await send(gateway)
  const viewer = (await openConsole(browser, gateway, '/ingest', await keyOf(gateway, 'Viewer'))).page
  await expect.poll(() => cells(viewer, 'Ingest tokens')).toHaveLength(1)
  await expect.poll(() => cells(viewer, 'Clients that would be refused')).toHaveLength(1)
  expect(await viewer.locator('main').getByRole('button').count()).toBe(0)
  expect(await viewer.getByRole('switch').count()).toBe(0)
  expect(await viewer.getByRole('table', { name: 'Audit' }).count()).toBe(0)
  await viewer.getByRole('link', { name: 'API keys' }).click()
  await viewer.getByText('API keys are managed by Admins').waitFor()
  await expect.poll(() => cells(viewer, 'Ingest tokens')).toHaveLength(1)
  expect(await viewer.locator('main').getByRole('button').count()).toBe(0)
  expect(await violations(viewer)).toEqual([])

  const editor = (await openConsole(browser, gateway, '/api-keys', await keyOf(gateway, 'Editor'))).page
  await editor.getByRole('button', { name: 'Revoke bench' }).waitFor()
  expect(await editor.getByRole('button', { name: 'Create API key' }).count()).toBe(0)
  expect(await editor.getByRole('table', { name: 'API keys' }).count()).toBe(0)
})

testWithChromium('an Admin creates a key, which works until it is revoked', async (browser) => {
  const gateway = await gatewayWithSink()
  const { page, complaints, strayed } = await openConsole(browser, gateway, '/api-keys')
  await page.getByRole('button', { name: 'Create API key' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill('laptop')
  await page.getByLabel('Role').selectOption('Editor')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  const field = page.getByRole('textbox', { name: 'New API key' })
  const key = await field.inputValue()
  const status = async () =>
    (await fetch(`${gateway.managementUrl}/api/v1/ingest_auth/state`, { headers: { 'OBS-API-KEY': key } })).status
  expect([await status(), await violations(page)]).toEqual([200, []])
  await page.getByRole('button', { name: 'Done' }).click()
  expect((await cells(page, 'API keys'))[0]!.slice(0, 2)).toEqual([expect.stringContaining('laptop'), 'Editor'])
  await page.getByRole('button', { name: 'Revoke laptop' }).click()
  await page.getByRole('button', { name: 'Confirm' }).click()
  await expect.poll(() => cells(page, 'API keys')).toHaveLength(1)
  expect(await status()).toBe(401)
  await page.getByRole('button', { name: /^Revoke/ }).click()
  await page.getByRole('button', { name: 'Confirm' }).click()
  await page.getByText('This is the last Admin key.').waitFor()
  expect(await violations(page)).toEqual([])
  expect([complaints(), strayed]).toEqual([[], []])
})

/** Presses Tab until the focus is on an element with the name. */
async function tabTo(page: Page, name: string): Promise<void> {
  const isThere = () =>
    page.evaluate<boolean>(`(() => {
      const element = document.activeElement
      const names = [element.getAttribute('aria-label'), element.labels?.[0]?.textContent, element.textContent]
      return names.some((each) => each?.trim() === ${JSON.stringify(name)})
    })()`)
  for (let presses = 0; presses < 60; presses += 1) {
    await page.keyboard.press('Tab')
    if (await isThere()) return
  }
  throw new Error(`Tab does not reach ${name}`)
}

const focused = (page: Page) =>
  page.evaluate<string>('document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent')

testWithChromium('the page works by keyboard alone, and says what happened', async (browser) => {
  const gateway = await gatewayWithSink()
  await send(gateway)
  const { page } = await openConsole(browser, gateway, '/ingest')
  const { keyboard } = page
  const says = (text: string) => page.getByRole('status').filter({ hasText: text }).first().waitFor()
  await page.getByRole('switch').waitFor()
  await tabTo(page, 'Ingest enforcement')
  await keyboard.press('Space')
  await page.getByRole('alertdialog').waitFor()
  await keyboard.press('Escape')
  await expect.poll(() => focused(page)).toBe('Ingest enforcement')
  await keyboard.press('Space')
  await page.getByRole('alertdialog').waitFor()
  await tabTo(page, 'Confirm')
  await keyboard.press('Enter')
  await says('Ingest enforcement is now on, mode Enforce.')
  expect(await send(gateway)).toBe(401)

  await keyboard.press('Shift+Tab')
  await expect.poll(() => focused(page)).toBe('Create token')
  await keyboard.press('Enter')
  await page.getByRole('dialog').waitFor()
  await keyboard.type('bench')
  await keyboard.press('Enter')
  await says('Token bench created.')
  const value = await page.evaluate<string>('document.activeElement.value')
  expect(await send(gateway, value)).toBe(200)
  await tabTo(page, 'Done')
  await keyboard.press('Enter')
  await expect.poll(() => focused(page)).toBe('Create token')

  await gateway.token({ name: 'other' })
  await tabTo(page, 'Revoke bench')
  await keyboard.press('Enter')
  await page.getByRole('alertdialog', { name: 'Revoke bench?' }).waitFor()
  await tabTo(page, 'Confirm')
  await keyboard.press('Enter')
  await says('Token bench revoked.')
  await expect.poll(() => focused(page)).toBe('Ingest tokens')
  expect(await send(gateway, value)).toBe(401)
  await expect
    .poll(async () => (await cells(page, 'Ingest tokens')).map(([name]) => name?.slice(0, 5)))
    .toEqual(['other'])
})

testWithChromium('a failed request says what failed, keeps the rest, and can be tried again', async (browser) => {
  const gateway = await gatewayWithSink()
  await gateway.token({ name: 'bench' })
  const { page } = await openConsole(browser, gateway, '/ingest')
  await page.getByRole('button', { name: 'Revoke bench' }).waitFor()
  let isDown = true
  await page.route('**/ingest_auth/tokens?*', (route) =>
    isDown
      ? route.fulfill({
          status: 503,
          json: { error: { code: 'store_unavailable', message: 'Try later.', details: null, request_id: 'r-77' } },
        })
      : route.continue(),
  )
  await page.locator('h1').click()
  await page.keyboard.press('r')
  const alert = page.getByRole('alert').filter({ hasText: 'The tokens could not be loaded. Try later. Request r-77.' })
  await alert.waitFor()
  expect(await cells(page, 'Ingest tokens')).toHaveLength(1)
  isDown = false
  await page.getByRole('button', { name: 'Try again' }).click()
  await alert.waitFor({ state: 'detached' })
})

testWithChromium('the use of a token by hour is drawn, and stands in a table', async (browser) => {
  const sink = await startSink()
  const startMs = Date.parse('2026-11-21T07:59:30Z')
  const gateway = await startGatewayAt(startMs, { PENSTOCK_UPSTREAM: sink.url })
  const { id, token } = await gateway.token({ name: 'bench' })
  await gateway.token({ name: 'unused' })
  const hours = () =>
    callManagement<{ usage_by_hour: { since: string; requests: number[] } | null }>(
      gateway,
      'GET',
      `/api/v1/ingest_auth/tokens/${id}`,
    ).then(({ usage_by_hour }) => usage_by_hour?.requests.slice(-2).join())
  expect([await send(gateway, token), await send(gateway, token)]).toEqual([200, 200])
  await gateway.advanceTo(startMs + 20_000)
  await expect.poll(hours).toBe('0,2')
  await gateway.advanceTo(startMs + 60_000)
  expect(await send(gateway, token)).toBe(200)
  await gateway.advanceTo(startMs + 80_000)
  await expect.poll(hours).toBe('2,1')

  const { page } = await openConsole(browser, gateway, '/ingest')
  const row = (name: string) => page.getByRole('table', { name: 'Ingest tokens' }).getByRole('row', { name })
  await row('bench').waitFor()
  const drawn = (name: string) => row(name).locator('svg.spark path').getAttribute('d')
  expect([Boolean(await drawn('bench')), Boolean(await drawn('unused'))]).toEqual([true, false])
  await page.getByText('Show requests by hour as a table').click()
  await expect
    .poll(async () => (await cells(page, 'Requests by hour')).map(([name, ...counts]) => [name, ...counts.slice(-3)]))
    .toEqual([['bench', '0', '2', '1']])
  expect(await violations(page)).toEqual([])
})

testWithChromium('nothing is cut off at a width of 390 px', async (browser) => {
  const gateway = await gatewayWithSink()
  await gateway.token({ name: 'a-sender-with-a-name-that-is-much-longer-than-a-narrow-screen', tags: { team: 'web' } })
  await send(gateway, undefined, 'a-service-with-a-name-that-is-much-longer-than-a-narrow-screen')
  const { page } = await openConsole(browser, gateway, '/ingest')
  await page.setViewportSize({ width: 390, height: 844 })
  const overflow = () => page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
  for (const path of ['/ingest', '/api-keys']) {
    await page.goto(gateway.managementUrl + path)
    await page.getByRole('button', { name: /^Revoke a-sender/ }).waitFor()
    expect([path, await overflow(), await violations(page)]).toEqual([path, 0, []])
  }
  await page.getByRole('button', { name: 'Create token' }).click()
  await page.getByText('Limits and restrictions').click()
  expect([await overflow(), await violations(page)]).toEqual([0, []])
  const limits = page.getByRole('table', { name: 'Limits' }).getByRole('textbox')
  const boxes = await Promise.all((await limits.all()).map((limit) => limit.boundingBox()))
  expect(boxes.length).toBeGreaterThan(12)
  const { x, width } = (await page.getByRole('dialog').boundingBox())!
  for (const box of boxes) {
    expect(box!.width).toBeGreaterThan(100)
    expect([box!.x >= x, box!.x + box!.width <= x + width]).toEqual([true, true])
  }
})
