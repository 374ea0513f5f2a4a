import { createApplication, createUser } from '@penstock/core'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, vi } from 'vitest'
import { ServedWorld } from '../graphql/served-world.ts'
import { openWindow, pageErrors, testWithChromium } from './chromium.ts'
import { violations, violationsIn } from './console-window.ts'

vi.setConfig({ testTimeout: 300_000 })

const PASSWORD = 'correct horse 1'
const NARROW = { width: 390, height: 844 }

let served: ServedWorld
let authorize: string

beforeAll(async () => {
  served = await ServedWorld.start()
  const { world } = served
  const root = await world.user('root', { isAdministrator: true })
  await world.perform(root, createUser, {
    ...{ username: 'ada', name: 'Ada Holt', email: 'ada@example.test', password: PASSWORD, admin: true },
  })
  await world.project('tide', await world.group('harbour'), 'public')
  const redirectUri = 'https://board.example.test/callback'
  const application = {
    name: 'a-board-with-a-name-that-is-longer-than-a-narrow-screen-is-wide',
    redirectUri,
    scopes: 'api',
  }
  const { uid } = await world.perform(root, createApplication, application)
  const query = { client_id: uid, redirect_uri: redirectUri, response_type: 'code', scope: 'api' }
  authorize = `/oauth/authorize?${new URLSearchParams(query)}`
})

afterAll(() => served?.close())

const overflow = (page: Page) => page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')

/** The pages of the core besides the explorer. They have no scripts, so each is complete at once. */
const pages = (): readonly string[] => [
  ...['/', '/-/account', '/-/account/notifications', '/oauth/authorized_applications', authorize, '/oauth/device'],
  ...['/-/admin/settings', '/-/admin/settings?q=visibility', '/-/admin/settings/default_project_visibility'],
  '/harbour/tide/-/pipelines/1',
]

testWithChromium(
  'at 390 px axe finds nothing serious on the pages of the core, and none scrolls sideways',
  async (browser) => {
    const { context, strayed } = await openWindow(browser, served.url)
    const page = await context.newPage()
    const complaints = pageErrors(page)
    await page.setViewportSize(NARROW)
    await page.goto(`${served.url}/users/sign_in`)
    expect(['/users/sign_in', await overflow(page), await violations(page)]).toEqual(['/users/sign_in', 0, []])
    await page.getByLabel('Username or e-mail').fill('ada')
    await page.getByLabel('Password').fill('wrong')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    expect(['refused', await overflow(page), await violations(page)]).toEqual(['refused', 0, []])
    await page.getByLabel('Username or e-mail').fill('ada')
    await page.getByLabel('Password').fill(PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
    for (const path of pages()) {
      await page.goto(served.url + path)
      expect([path, await overflow(page), await violations(page)]).toEqual([path, 0, []])
    }
    const isExpected = (text: string) => /status of 40[134]|status of 422/.test(text)
    expect([strayed, complaints.filter((text) => !isExpected(text))]).toEqual([[], []])
  },
)

testWithChromium(
  'at 390 px the explorer shows query and answer, and axe finds nothing serious in our control',
  async (browser) => {
    const { context } = await openWindow(browser, served.url)
    const page = await context.newPage()
    await page.setViewportSize(NARROW)
    for (const colorScheme of ['light', 'dark'] as const) {
      // The editor takes its colors when the page is loaded.
      await page.emulateMedia({ colorScheme })
      await page.goto(`${served.url}/-/graphql-explorer`)
      await page.locator('.graphiql-query-editor .view-line').first().waitFor()
      await page.locator('.graphiql-execute-button').click()
      const answer = page.locator('.graphiql-response .view-line').filter({ hasText: 'queryComplexity' })
      await answer.waitFor()
      for (const part of ['.graphiql-query-editor', '.graphiql-response']) {
        const { width, height } = (await page.locator(part).boundingBox())!
        expect([part, width > 340, height > 150]).toEqual([part, true, true])
      }
      // The library puts the button of a tab into an element with the role of a tab.
      const options = { rules: { 'nested-interactive': { enabled: false } } }
      expect([await overflow(page), await violationsIn(page, colorScheme, options)]).toEqual([0, []])
    }
    await page.getByLabel('Show Documentation Explorer').click()
    await page.locator('.graphiql-doc-explorer').getByText('Query', { exact: true }).waitFor()
    const { width } = (await page.locator('.graphiql-plugin').boundingBox())!
    expect([width > 300, await overflow(page)]).toEqual([true, 0])
  },
)
