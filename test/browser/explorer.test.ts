import { join } from 'node:path'
import process from 'node:process'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import type { ServedWorld } from '../graphql/served-world.ts'
import { openWindow, pageErrors, testWithChromium } from './chromium.ts'
import { serveUser, signIn } from './served-user.ts'

const EXPLORER = '/-/graphql-explorer'

let served: ServedWorld

beforeAll(async () => {
  served = (await serveUser()).served
  const { world } = served
  await world.project('open', await world.group('ops', { visibility: 'public' }), 'public')
})

afterAll(() => served?.close())

async function openExplorer(page: Page): Promise<void> {
  const introspected = page.waitForResponse((response) => response.request().postData()?.includes('__schema') === true)
  await page.goto(served.url + EXPLORER)
  const schema = await (await introspected).json()
  expect(schema.data.__schema.queryType.name).toBe('Query')
  await page.locator('.graphiql-query-editor .view-line').first().waitFor()
}

/** Runs the operation in the editor, and returns the answer when it is shown. */
async function run(page: Page, operationName: string) {
  // The page reads the typed text after a short delay.
  await page.locator('.graphiql-tab', { hasText: operationName }).waitFor()
  const answered = page.waitForResponse((response) => response.request().postData()?.includes(operationName) === true)
  await page.locator('.graphiql-execute-button').click()
  const response = await answered
  await page.locator('.graphiql-response .view-line').first().waitFor()
  return response.json()
}

async function type(page: Page, editor: string, text: string): Promise<void> {
  await page.locator(`${editor} .view-lines:visible`).click()
  await page.keyboard.press('Control+A')
  await page.keyboard.insertText(text)
}

const shownAnswer = async (page: Page) =>
  (await page.locator('.graphiql-response .view-lines').innerText()).replaceAll('\u00a0', ' ')

testWithChromium('loads only our own files, runs its first query and shows the schema', async (browser) => {
  const { context, strayed } = await openWindow(browser, served.url)
  const page = await context.newPage()
  const complaints = pageErrors(page)
  await openExplorer(page)
  expect(await page.locator('.who').innerText()).toMatch(/^Not signed in: sign in, or put a token/)

  const { data, errors } = await run(page, 'Start')
  expect(errors).toBeUndefined()
  expect(data.currentUser).toBeNull()
  expect(data.projects.nodes).toMatchObject([{ fullPath: 'ops/open' }])
  expect(data.queryComplexity).toMatchObject({ limit: 200 })
  await expect.poll(() => shownAnswer(page)).toContain('"fullPath": "ops/open"')

  await page.getByLabel('Show Documentation Explorer').click()
  const docs = page.locator('.graphiql-doc-explorer')
  await docs.getByText('Query', { exact: true }).click()
  await docs.getByText('queryComplexity', { exact: true }).first().waitFor()

  expect(strayed).toEqual([])
  expect(complaints).toEqual([])
})

testWithChromium(
  'in a session: shows the signed-in user, and performs mutations that the session allows',
  async (browser) => {
    const { context, strayed } = await openWindow(browser, served.url)
    const start = await context.newPage()
    await start.goto(served.url + EXPLORER)
    await start.getByText('sign in', { exact: true }).click()
    await signIn(start)
    await start.waitForURL(served.url + EXPLORER)
    await start.close()

    const page = await context.newPage()
    const complaints = pageErrors(page)
    await openExplorer(page)
    expect(await page.locator('.who').innerText()).toBe('Signed in as mira.')

    const { data } = await run(page, 'Start')
    expect(data).toMatchObject({ currentUser: { username: 'mira' }, queryComplexity: { limit: 250 } })
    await page.getByLabel('Show Documentation Explorer').click()
    await page.locator('.graphiql-doc-explorer').getByText('Query', { exact: true }).waitFor()
    if (process.env.PENSTOCK_SCREENSHOT) {
      await expect.poll(() => shownAnswer(page)).toContain('"username": "mira"')
      await page.screenshot({ path: join(import.meta.dirname, '../../docs/guides/pictures/graphql-explorer.png') })
    }

    await type(
      page,
      '.graphiql-query-editor',
      'mutation Say { echoCreate(input: { messages: ["hi"] }) { echoes errors } }',
    )
    expect(await run(page, 'Say')).toEqual({ data: { echoCreate: { echoes: ['hi'], errors: [] } } })
    await expect.poll(() => shownAnswer(page)).toContain('"hi"')
    // Without the CSRF token of the page, the same cookie cannot perform mutations.
    const unproven = await context.request.post(`${served.url}/api/graphql`, {
      data: { query: 'mutation Say { echoCreate(input: { messages: ["hi"] }) { echoes } }' },
    })
    expect(unproven.status()).toBe(422)
    expect([strayed, complaints]).toEqual([[], []])
  },
)

testWithChromium('a token in the headers authenticates its owner, and is not stored', async (browser) => {
  const token = await served.tokenOf(await served.world.user('noor'))
  const { context, strayed } = await openWindow(browser, served.url)
  const page = await context.newPage()
  await openExplorer(page)
  await page.getByRole('button', { name: 'Headers' }).click()
  await type(page, '.graphiql-editor-tool', JSON.stringify({ Authorization: `Bearer ${token}` }))
  await type(page, '.graphiql-query-editor', 'query Who { currentUser { username } }')
  expect(await run(page, 'Who')).toEqual({ data: { currentUser: { username: 'noor' } } })
  const kept = await page.evaluate<string>(
    'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href])',
  )
  expect(kept).toContain('currentUser { username }')
  expect(kept).not.toContain(token)
  expect(strayed).toEqual([])
})
