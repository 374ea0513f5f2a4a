import { createBroadcastMessage, createUser } from '@penstock/core'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import { ServedWorld } from '../graphql/served-world.ts'
import { openWindow, pageErrors, testWithChromium } from './chromium.ts'
import { violations } from './console-window.ts'

const PASSWORD = 'correct horse 1'

let served: ServedWorld

beforeAll(async () => {
  served = await ServedWorld.start()
  const { world } = served
  const root = await world.user('root', { isAdministrator: true })
  await world.perform(root, createUser, {
    ...{ username: 'mira', name: 'Mira Holt', email: 'mira@example.test', password: PASSWORD, skipConfirmation: true },
  })
  await world.perform(root, createBroadcastMessage, { message: 'Maintenance at noon', theme: 'light-blue' })
})

afterAll(() => served?.close())

const isNarrowEnough = async (page: Page) =>
  (await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')) <= 0

testWithChromium(
  'a user makes a token that works, by keyboard and without scripts, and revokes it',
  async (browser) => {
    const { context, strayed } = await openWindow(browser, served.url)
    const page = await context.newPage()
    const complaints = pageErrors(page)
    await page.setViewportSize({ width: 390, height: 844 })
    await page.goto(`${served.url}/-/account`)
    expect([await violations(page), await isNarrowEnough(page)]).toEqual([[], true])
    await page.keyboard.type('mira')
    await page.keyboard.press('Tab')
    await page.keyboard.type(PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Your account' }).waitFor()
    expect(page.url()).toBe(`${served.url}/-/account`)
    await page.getByText('Maintenance at noon').first().waitFor()

    await page.getByLabel('Name').fill('laptop')
    await page.getByRole('checkbox', { name: 'read_user', exact: true }).check()
    await page.getByRole('button', { name: 'Create token' }).click()
    const token = await page.getByRole('textbox', { name: 'New personal access token' }).inputValue()
    const status = async () =>
      (await fetch(`${served.url}/api/v4/user`, { headers: { 'PRIVATE-TOKEN': token } })).status
    expect([await status(), await violations(page), await isNarrowEnough(page)]).toEqual([200, [], true])
    await page.getByRole('button', { name: 'Revoke laptop' }).click()
    await page.getByText('You have no personal access token.').waitFor()
    expect([await status(), complaints, strayed]).toEqual([401, [], []])
  },
)
