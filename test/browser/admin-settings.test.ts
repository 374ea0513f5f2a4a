import { createUser, settingOf, updateApplicationSettings } from '@penstock/core'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import { ServedWorld } from '../graphql/served-world.ts'
import { openWindow, pageErrors, testWithChromium } from './chromium.ts'
import { violations } from './console-window.ts'

const PASSWORD = 'correct horse 1'
const PAGE = '/-/admin/settings'

let served: ServedWorld

beforeAll(async () => {
  served = await ServedWorld.start()
  const { world } = served
  const root = await world.user('root', { isAdministrator: true })
  await world.perform(root, createUser, {
    ...{ username: 'ada', name: 'Ada Holt', email: 'ada@example.test', password: PASSWORD, admin: true },
  })
  await world.perform(root, updateApplicationSettings, { terms: `# Terms\n\n${'very-long-word'.repeat(40)}` })
})

afterAll(() => served?.close())

const isNarrowEnough = async (page: Page) =>
  (await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')) <= 0

testWithChromium(
  'an administrator finds a setting, changes it, and goes where the settings say after signing out, without scripts',
  async (browser) => {
    const { world } = served
    const { context } = await openWindow(browser, served.url)
    const page = await context.newPage()
    const complaints = pageErrors(page)
    await page.setViewportSize({ width: 390, height: 844 })
    await page.goto(`${served.url}${PAGE}?q=visibility`)
    await page.getByLabel('Username or e-mail').fill('ada')
    await page.getByLabel('Password').fill(PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Application settings' }).waitFor()
    expect([await violations(page), await isNarrowEnough(page)]).toEqual([[], true])

    await page.getByRole('searchbox', { name: 'Search' }).fill('issues minute')
    await page.keyboard.press('Enter')
    await page.getByText('1 setting', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Change issues_create_limit' }).click()
    await page.getByRole('textbox', { name: 'issues_create_limit' }).fill('-1')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('issues_create_limit: must be greater than or equal to 0').waitFor()
    expect([await violations(page), await isNarrowEnough(page)]).toEqual([[], true])
    await page.getByRole('textbox', { name: 'issues_create_limit' }).fill('12')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('was saved').waitFor()
    expect(await settingOf(world.core, 'issues_create_limit')).toBe(12)

    for (const [name, value] of [
      ['default_project_visibility', 'internal'],
      ['disable_invite_members', 'on'],
    ] as const) {
      await page.goto(`${served.url}${PAGE}/${name}`)
      await page.getByRole('combobox', { name }).selectOption(value)
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('was saved').waitFor()
    }
    await page.goto(`${served.url}${PAGE}/terms`)
    expect([await violations(page), await isNarrowEnough(page)]).toEqual([[], true])

    await page.goto(`${served.url}${PAGE}/after_sign_out_path`)
    await page.getByRole('textbox', { name: 'after_sign_out_path' }).fill(`${served.url}/users/sign_in?return_to=/bye`)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('was saved').waitFor()
    await page.goto(`${served.url}/`)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL('**/users/sign_in?return_to=/bye')
    expect(await page.evaluate<number>('document.scripts.length')).toBe(0)
    // The form that was refused has the status 422, which the browser reports.
    expect(complaints.filter((each) => !each.includes('422'))).toEqual([])
    await context.close()
  },
)

testWithChromium('the pages are readable on a wide screen in both colour schemes', async (browser) => {
  for (const colorScheme of ['light', 'dark'] as const) {
    const { context } = await openWindow(browser, served.url)
    const page = await context.newPage()
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width: 1_280, height: 900 })
    await page.goto(`${served.url}${PAGE}?in_force=1&q=tokens`)
    await page.getByLabel('Username or e-mail').fill('ada')
    await page.getByLabel('Password').fill(PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Application settings' }).waitFor()
    expect([await violations(page), await isNarrowEnough(page)]).toEqual([[], true])
    if (process.env.PENSTOCK_SCREENSHOTS) {
      await page.screenshot({ path: `${process.env.PENSTOCK_SCREENSHOTS}/settings-${colorScheme}.png` })
    }
    await page.goto(`${served.url}${PAGE}/asset_proxy_enabled`)
    expect([await violations(page), await isNarrowEnough(page)]).toEqual([[], true])
    if (process.env.PENSTOCK_SCREENSHOTS) {
      await page.screenshot({ path: `${process.env.PENSTOCK_SCREENSHOTS}/setting-${colorScheme}.png` })
    }
    await context.close()
  }
})
