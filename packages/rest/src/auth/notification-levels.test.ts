import {
  accessLevels,
  addEmailOfUser,
  getNotificationSetting,
  groupNotificationSettings,
  projectNotificationSettings,
} from '@penstock/core'
import { expect, test } from 'vitest'
import { browser, mira, newBrowser, root, withPages, world } from './pages.harness.ts'

const PAGE = '/-/account/notifications'

withPages()

test('the page of notification levels needs a sign-in', async () => {
  const page = await newBrowser().get(PAGE)
  expect([page.status, page.location]).toEqual([303, expect.stringContaining('/users/sign_in?')])
})

test('levels for everything, for groups and for projects are saved and shown', async () => {
  const group = await world.group('ops')
  const project = await world.project('tools', group)
  await world.project('secret', await world.group('other'))
  const site = await world.project('site', await world.group('open', { visibility: 'public' }), 'public')
  await world.member(group, mira, accessLevels.developer)
  await world.perform(root, addEmailOfUser, { user: mira.id, email: 'mira@work.test', skipConfirmation: true })
  await browser.signIn()
  const page = await browser.get(PAGE)
  expect([page.status, page.text.includes('ops <span'), page.text.includes('ops/tools')]).toEqual([200, true, false])
  const save = (fields: Record<string, string>) =>
    browser.post(PAGE, { csrf_token: page.hidden.csrf_token!, ...fields })

  expect((await save({ level: 'mention', notification_email: 'mira@work.test' })).status).toBe(303)
  expect(await world.perform(mira, getNotificationSetting, {})).toMatchObject({
    level: 'mention',
    notificationEmail: 'mira@work.test',
  })
  expect((await save({ kind: 'group', path: 'ops', level: 'watch' })).status).toBe(303)
  expect((await save({ kind: 'project', path: 'ops/tools', level: 'disabled' })).status).toBe(303)
  expect((await save({ kind: 'project', path: 'open/site', level: 'watch' })).status).toBe(303)
  const ofGroup = await world.perform(mira, groupNotificationSettings.get, { parent: group.id })
  const ofProjects = await Promise.all(
    [project, site].map(({ id }) => world.perform(mira, projectNotificationSettings.get, { parent: id })),
  )
  expect([ofGroup, ...ofProjects].map(({ level }) => level)).toEqual(['watch', 'disabled', 'watch'])
  const after = await browser.get(PAGE)
  for (const path of ['ops/tools', 'open/site']) expect(after.text).toContain(`Save the level of ${path}`)

  for (const fields of [
    { kind: 'project', path: 'other/secret', level: 'watch' },
    { kind: 'group', path: 'ops', level: 'loud' },
    { level: 'watch', notification_email: 'other@example.test' },
  ]) {
    const refused = await save(fields)
    expect([refused.status, refused.text.includes('role="alert"')]).toEqual([422, true])
  }
  expect((await save({ level: 'watch', csrf_token: 'wrong' })).status).toBe(403)
})
