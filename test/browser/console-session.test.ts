import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { BrowserContext, Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import { penstock } from '../command-line.ts'
import { ADMIN_KEY, type RunningGateway, startGateway } from '../gateway/running-gateway.ts'
import { openWindow, pageErrors, testWithChromium } from './chromium.ts'

const SESSION_COOKIE = 'penstock_session'

/** A browser reports every answer with a status of 400 or more as an error; before signing in, that is the session. */
const isExpected = (complaint: string) => /the server responded with a status of 401/.test(complaint)

async function newLink(gateway: RunningGateway): Promise<{ link: string; code: string }> {
  const env = { PENSTOCK_DATA_DIR: gateway.dataDir, PENSTOCK_OBS_LISTEN: new URL(gateway.managementUrl).host }
  const { stdout } = await penstock(['console', 'link'], { env })
  return { link: stdout.trim(), code: stdout.trim().split('#code=')[1]! }
}

async function signInWithKey(page: Page, url: string, key: string): Promise<void> {
  await page.goto(url)
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Sign out' }).waitFor()
}

const cookieOf = async (context: BrowserContext) =>
  (await context.cookies()).find(({ name }) => name === SESSION_COOKIE)?.value

/** Returns everything that scripts of the page can read later: storage, databases, caches, cookies, address and history. */
const readable = (page: Page) =>
  page.evaluate<string>(`(async () => JSON.stringify([
    { ...localStorage }, { ...sessionStorage }, document.cookie, location.href, history.state, document.referrer,
    await indexedDB.databases(), await caches.keys(), window.name,
  ]))()`)

testWithChromium('no key, code or session id is in storage, address or history, with a key', async (browser) => {
  const gateway = await startGateway()
  const { context, strayed } = await openWindow(browser, gateway.managementUrl)
  const page = await context.newPage()
  const complaints = pageErrors(page)
  await signInWithKey(page, `${gateway.managementUrl}/ingest`, ADMIN_KEY)
  expect(new URL(page.url()).pathname).toBe('/ingest')
  const secret = await cookieOf(context)
  expect(secret).toMatch(/^[0-9A-Za-z]{43}$/)
  const seen = await readable(page)
  for (const text of [ADMIN_KEY, secret!]) expect(seen).not.toContain(text)
  await page.reload()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('API key').waitFor()
  expect(await cookieOf(context)).toBeUndefined()
  expect(await page.getByLabel('API key').inputValue()).toBe('')
  expect([strayed, complaints.filter((complaint) => !isExpected(complaint))]).toEqual([[], []])
})

testWithChromium('no key, code or session id is in storage, address or history, with a link', async (browser) => {
  const gateway = await startGateway()
  const { context } = await openWindow(browser, gateway.managementUrl)
  const page = await context.newPage()
  await page.goto('about:blank')
  const { link, code } = await newLink(gateway)
  const referrers: (string | undefined)[] = []
  page.on('request', (request) => referrers.push(request.headers().referer))
  await page.goto(link)
  await page.getByRole('button', { name: 'Sign out' }).waitFor()
  const seen = await readable(page)
  for (const text of [code, (await cookieOf(context))!]) expect(seen).not.toContain(text)
  expect(referrers.filter((referrer) => referrer?.includes(code))).toEqual([])
  const { entries } = await (await context.newCDPSession(page)).send('Page.getNavigationHistory')
  expect(entries.map(({ url }) => url)).toEqual(['about:blank', `${gateway.managementUrl}/pipelines`])
  // Opened again, it leaves the session of this browser as it is.
  await page.goto('about:blank')
  await page.goto(link)
  await page.getByRole('button', { name: 'Sign out' }).waitFor()
  expect(page.url()).toBe(`${gateway.managementUrl}/pipelines`)
  // The link works once, in whatever browser it is opened.
  const other = await openWindow(browser, gateway.managementUrl)
  const second = await other.context.newPage()
  await second.goto(link)
  await second.getByRole('alert').waitFor()
  expect(await cookieOf(other.context)).toBeUndefined()
  // A new one works where the form stands already, although only the fragment changes.
  await second.goto((await newLink(gateway)).link)
  await second.getByRole('button', { name: 'Sign out' }).waitFor()
  expect(second.url()).not.toContain('code')
})

testWithChromium('a revoked key ends the sessions in every browser at once', async (browser) => {
  const gateway = await startGateway()
  const made = await penstock(['api-key', 'create', '--name', 'mira', '--role', 'Viewer'], {
    env: { PENSTOCK_DATA_DIR: gateway.dataDir },
  })
  const pages = []
  for (let index = 0; index < 2; index += 1) {
    const { context } = await openWindow(browser, gateway.managementUrl)
    const page = await context.newPage()
    await signInWithKey(page, `${gateway.managementUrl}/pipelines`, made.stdout.trim())
    pages.push(page)
  }
  const id = /created API key (\w+)/.exec(made.stderr)![1]!
  await penstock(['api-key', 'revoke', id], { env: { PENSTOCK_DATA_DIR: gateway.dataDir } })
  for (const page of pages) {
    expect(await page.evaluate<number>("fetch('/api/v1/ingest_auth/state').then(({ status }) => status)")).toBe(401)
    await page.reload()
    await page.getByLabel('API key').waitFor()
    await page.getByText('Your session ended because its API key was revoked.').waitFor()
  }
})

testWithChromium('the sign-in page says how the session ended, and an unknown path leads back', async (browser) => {
  const gateway = await startGateway()
  const { context } = await openWindow(browser, gateway.managementUrl)
  const page = await context.newPage()
  const answer = await page.goto(`${gateway.managementUrl}/no-such-page`)
  expect(answer?.status()).toBe(404)
  expect(await page.getByRole('status').count()).toBe(0)
  await page.getByLabel('API key').fill(ADMIN_KEY)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Nothing at this address' }).waitFor()
  await page.getByRole('link', { name: 'Go to Pipelines' }).click()
  await page.getByRole('heading', { level: 1, name: 'Pipelines' }).waitFor()

  const other = await context.newPage()
  await other.goto(`${gateway.managementUrl}/ingest`)
  await other.getByRole('button', { name: 'Create token' }).waitFor()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('status').getByText('You are signed out.').waitFor()
  await other.getByRole('link', { name: 'API keys' }).click()
  await other
    .getByRole('status')
    .getByText(/^Your session has ended: you signed out in another tab/)
    .waitFor()
})

testWithChromium(
  'a tab goes on after another one has signed in again, and shows the form after a sign-out',
  async (browser) => {
    const gateway = await startGateway()
    const { context } = await openWindow(browser, gateway.managementUrl)
    const [first, second] = [await context.newPage(), await context.newPage()]
    await signInWithKey(first, `${gateway.managementUrl}/ingest`, ADMIN_KEY)
    await second.goto(`${gateway.managementUrl}/ingest`)
    await second.getByRole('button', { name: 'Create token' }).waitFor()
    await first.getByRole('button', { name: 'Sign out' }).click()
    await signInWithKey(first, `${gateway.managementUrl}/ingest`, ADMIN_KEY)

    const create = async (name: string) => {
      await second.getByRole('button', { name: 'Create token' }).click()
      await second.getByRole('textbox', { name: 'Name' }).fill(name)
      await second.getByRole('button', { name: 'Create', exact: true }).click()
    }
    const statuses: number[] = []
    second.on('response', (response) => {
      if (response.request().method() === 'POST') statuses.push(response.status())
    })
    await create('laptop')
    await second.getByRole('textbox', { name: 'Ingest token' }).waitFor()
    await second.getByRole('button', { name: 'Done' }).click()
    expect(statuses).toEqual([403, 201])

    await first.getByRole('button', { name: 'Sign out' }).click()
    await first.getByLabel('API key').waitFor()
    await create('never')
    await second.getByLabel('API key').waitFor()
    const { json } = await gateway.call<{ name: string }[]>('GET', '/tokens')
    expect(json.map(({ name }) => name)).toEqual(['laptop'])
  },
)

testWithChromium('a page of another origin can neither frame the console nor use its session', async (browser) => {
  const gateway = await startGateway()
  const { managementUrl } = gateway
  const evil = createServer((_request, response) => {
    response.setHeader('Content-Type', 'text/html')
    response.end(`<iframe id="frame" src="${managementUrl}/ingest"></iframe>`)
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    evil.closeAllConnections()
    evil.close()
  })
  const context = await browser.newContext()
  const page = await context.newPage()
  await signInWithKey(page, managementUrl, ADMIN_KEY)
  // Another port of the same host is the same site, so SameSite alone would send the cookie.
  const complaints = pageErrors(page)
  await page.goto(`http://127.0.0.1:${(evil.address() as AddressInfo).port}/`)
  await expect.poll(() => complaints.join('\n')).toMatch(/frame-ancestors|X-Frame-Options/)
  const attack = (init: string) =>
    page.evaluate<string>(`fetch('${managementUrl}/api/v1/ingest_auth/state', ${init}).then(String, String)`)
  const enable = `JSON.stringify({ enabled: true })`
  const json = `headers: { 'Content-Type': 'application/json' }`
  for (const init of [
    `{ credentials: 'include' }`,
    `{ method: 'PUT', credentials: 'include', ${json}, body: ${enable} }`,
    `{ method: 'PUT', credentials: 'include', mode: 'no-cors', body: ${enable} }`,
  ]) {
    expect(await attack(init)).toContain('TypeError')
  }
  const post = `{ method: 'POST', mode: 'no-cors', credentials: 'include', body: '{"name":"evil"}' }`
  await page.evaluate(`fetch('${managementUrl}/api/v1/ingest_auth/tokens', ${post})`)
  expect((await gateway.call<{ enabled: boolean }>('GET', '/state')).json.enabled).toBe(false)
  expect((await gateway.call('GET', '/tokens')).json).toEqual([])
})
