import {
  accessLevels,
  getNotificationSetting,
  groupNotificationSettings,
  projectNotificationSettings,
  type User,
} from '@penstock/core'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import type { ServedWorld } from '../graphql/served-world.ts'
import { openWindow, pageErrors, testWithChromium } from './chromium.ts'
import { violations } from './console-window.ts'
import { serveUser, signIn } from './served-user.ts'

const PAGE = '/-/account/notifications'
/** More than the controls of the page. */
const MAX_TABS = 60

let served: ServedWorld
let mira: User
let parents: { readonly group: number; readonly project: number; readonly site: number }

beforeAll(async () => {
  const started = await serveUser()
  served = started.served
  mira = started.mira
  const { world } = served
  const group = await world.group('ops')
  const project = await world.project('tools', await world.group('infra'))
  const site = await world.project('site', await world.group('open', { visibility: 'public' }), 'public')
  await world.project('secret', await world.group('other'))
  await world.member(group, mira, accessLevels.developer)
  await world.member(project, mira, accessLevels.developer)
  parents = { group: group.id, project: project.id, site: site.id }
})

afterAll(() => served?.close())

const isNarrowEnough = async (page: Page) =>
  (await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')) <= 0

/** Moves the focus forward to the element, as a user does who has no mouse. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  for (let tabs = 0; tabs < MAX_TABS; tabs += 1) {
    if ((await target.and(page.locator(':focus')).count()) > 0) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`${target} cannot be reached`)
}

/** Chooses the option that begins with `letters`, and presses the button that follows. */
async function choose(page: Page, name: string, letters: string, button: string): Promise<void> {
  await tabTo(page, page.getByRole('combobox', { name, exact: true }))
  await page.keyboard.type(letters)
  await tabTo(page, page.getByRole('button', { name: button, exact: true }))
  const saved = page.waitForResponse((response) => response.request().method() === 'POST')
  await page.keyboard.press('Enter')
  await saved
  await page.waitForLoadState()
}

const shown = (page: Page, names: readonly string[]) =>
  Promise.all(names.map((name) => page.getByRole('combobox', { name, exact: true }).inputValue()))

async function stored() {
  const { world } = served
  const settings = [
    await world.perform(mira, getNotificationSetting, {}),
    await world.perform(mira, groupNotificationSettings.get, { parent: parents.group }),
    await world.perform(mira, projectNotificationSettings.get, { parent: parents.project }),
    await world.perform(mira, projectNotificationSettings.get, { parent: parents.site }),
  ]
  return settings.map(({ level }) => level)
}

testWithChromium(
  'a user sees, changes and keeps the levels for everything, a group and projects, by keyboard and without scripts',
  async (browser) => {
    const { context, strayed } = await openWindow(browser, served.url)
    const page = await context.newPage()
    const complaints = pageErrors(page)
    await page.setViewportSize({ width: 390, height: 844 })
    await page.goto(served.url + PAGE)
    await signIn(page)
    await page.getByRole('heading', { name: 'Notifications' }).waitFor()
    const ofMember = ['Level', 'Level of ops', 'Level of infra/tools']
    expect(await shown(page, ofMember)).toEqual(['participating', 'global', 'global'])
    expect([await violations(page), await isNarrowEnough(page)]).toEqual([[], true])

    await choose(page, 'Level', 'What', 'Save')
    await choose(page, 'Level of ops', 'Most', 'Save the level of ops')
    await choose(page, 'Level of infra/tools', 'Nothing', 'Save the level of infra/tools')
    expect(await stored()).toEqual(['mention', 'watch', 'disabled', 'global'])
    await tabTo(page, page.getByRole('combobox', { name: 'Kind' }))
    await page.keyboard.type('project')
    await tabTo(page, page.getByRole('textbox', { name: 'Path' }))
    await page.keyboard.type('open/site')
    await choose(page, 'Its level', 'Threads', 'Save its level')
    expect(await stored()).toEqual(['mention', 'watch', 'disabled', 'participating'])

    const later = await context.newPage()
    await later.goto(served.url + PAGE)
    const all = [...ofMember, 'Level of open/site']
    expect(await shown(later, all)).toEqual(['mention', 'watch', 'disabled', 'participating'])
    expect([await violations(later), await isNarrowEnough(later)]).toEqual([[], true])
    expect([await later.evaluate<number>('document.scripts.length'), complaints, strayed]).toEqual([0, [], []])
  },
)

testWithChromium('a choice that is not possible is refused with its message, and changes nothing', async (browser) => {
  const { context } = await openWindow(browser, served.url)
  const page = await context.newPage()
  await page.goto(served.url + PAGE)
  await signIn(page)
  await page.getByRole('heading', { name: 'Notifications' }).waitFor()
  const before = await stored()
  for (const path of ['other/secret', 'no/where']) {
    await tabTo(page, page.getByRole('combobox', { name: 'Kind' }))
    await page.keyboard.type('project')
    await tabTo(page, page.getByRole('textbox', { name: 'Path' }))
    await page.keyboard.type(path)
    await choose(page, 'Its level', 'Most', 'Save its level')
    expect(await page.getByRole('alert').textContent()).toBe('There is no such group or project.')
    expect(await page.getByText(path).count()).toBe(0)
  }
  for (const [name, button] of [
    ['Level', 'Save'],
    ['Level of ops', 'Save the level of ops'],
  ] as const) {
    // The page offers valid levels only; a changed page can send others.
    await page.evaluate('for (const option of document.querySelectorAll("[name=level] option")) option.value = "loud"')
    await choose(page, name, 'Most', button)
    expect(await page.getByRole('alert').textContent()).toMatch(/^Choose one of the levels\b/)
  }
  expect([await stored(), await violations(page)]).toEqual([before, []])
})
