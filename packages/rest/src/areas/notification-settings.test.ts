import {
  accessLevels,
  type DomainEvent,
  type Group,
  type Project,
  removeGroup,
  removeProject,
  removeUser,
  type User,
} from '@penstock/core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { RestServer } from '../server/rest-server.harness.ts'
import { notificationSettingsArea } from './notification-settings.ts'

const unset = {
  new_release: null,
  new_note: null,
  new_issue: null,
  reopen_issue: null,
  close_issue: null,
  reassign_issue: null,
  issue_due: null,
  new_merge_request: null,
  push_to_merge_request: null,
  reopen_merge_request: null,
  close_merge_request: null,
  reassign_merge_request: null,
  change_reviewer_merge_request: null,
  merge_merge_request: null,
  failed_pipeline: null,
  fixed_pipeline: null,
  success_pipeline: null,
  moved_project: null,
  merge_when_pipeline_succeeds: null,
  approver: null,
  new_epic: null,
}

let server: RestServer
let mira: User
let group: Group
let project: Project
let token: string

beforeEach(async () => {
  server = await RestServer.start({ areas: [notificationSettingsArea] })
  mira = await server.world.user('mira')
  group = await server.world.group('ops')
  project = await server.world.project('tools', group)
  await server.world.member(group, mira, accessLevels.guest)
  token = await server.tokenOf(mira)
})
afterEach(() => server.close())

const call = async (method: 'GET' | 'PUT', path: string, send?: Record<string, unknown>, as = token) => {
  const { status, body } = await server.call(method, path, { token: as, ...(send && { json: send }) })
  return [status, body]
}
const storedRows = async () =>
  (await server.world.core.db.read.selectFrom('notification_settings').selectAll().execute()).length
const events = async () =>
  (await server.world.core.db.read.selectFrom('events').select('type').execute()).filter(({ type }) =>
    type.startsWith('notification_setting.'),
  ) as Pick<DomainEvent, 'type'>[]

describe('settings for everything', () => {
  const path = 'notification_settings'

  test('are computed until they are changed', async () => {
    const standard = { level: 'participating', notification_email: mira.email }
    expect(await call('GET', path)).toEqual([200, standard])
    expect(await call('PUT', path)).toEqual([200, standard])
    expect(await call('PUT', path, { level: 'participating' })).toEqual([200, standard])
    expect([await storedRows(), await events()]).toEqual([0, []])
  })

  test('have events only while the level is custom, and keep them', async () => {
    const change = { new_note: true, failed_pipeline: false }
    expect(await call('PUT', path, change)).toEqual([200, { level: 'participating', notification_email: mira.email }])
    const custom = { level: 'custom', notification_email: mira.email, events: { ...unset, ...change } }
    const [status, body] = await call('PUT', path, { level: 'custom' })
    expect([status, body]).toEqual([200, custom])
    expect(Object.keys(body.events)).toEqual(Object.keys(unset))
    expect(await call('PUT', path, { level: 'watch' })).toEqual([
      200,
      { level: 'watch', notification_email: mira.email },
    ])
    expect(await call('PUT', path, { level: 'custom', new_note: null })).toEqual([
      200,
      { ...custom, events: { ...unset, failed_pipeline: false } },
    ])
    expect(await storedRows()).toBe(1)
    expect(await events()).toHaveLength(4)
  })

  test.each([
    [{ level: 'loud' }, { message: "'loud' is not a valid level" }],
    [{ level: '' }, { message: { level: ["can't be blank"] } }],
    [{ level: null }, { message: { level: ["can't be blank"] } }],
    [{ new_note: 'perhaps' }, { error: 'new_note is invalid' }],
    [{ level: 'watch', new_epic: [] }, { error: 'new_epic is invalid' }],
    [
      { level: 'watch', notification_email: 'other@example.test' },
      { message: { notification_email: ['must be an email you have verified'] } },
    ],
  ])('%j is rejected, and changes nothing', async (change, body) => {
    expect(await call('PUT', path, change)).toEqual([400, body])
    expect(await storedRows()).toBe(0)
  })

  test('take the parameters from the query too, and the level global', async () => {
    expect(await call('PUT', `${path}?level=custom&issue_due=yes`)).toEqual([
      200,
      { level: 'custom', notification_email: mira.email, events: { ...unset, issue_due: true } },
    ])
    expect((await call('PUT', path, { level: 'global' }))[1]).toMatchObject({ level: 'global' })
    const { email } = mira
    expect((await call('PUT', path, { notification_email: email.toUpperCase() }))[1].notification_email).toBe(email)
    expect((await call('PUT', path, { notification_email: '' }))[1].notification_email).toBe(email)
  })

  test('need a sign-in', async () => {
    const { status, body } = await server.call('PUT', path, { json: { level: 'loud' } })
    expect([status, body]).toEqual([401, { message: '401 Unauthorized' }])
  })
})

describe.each(['group', 'project'] as const)('settings for a %s', (kind) => {
  const pathOf = () => `${kind}s/${kind === 'group' ? group.id : project.id}/notification_settings`

  test('begin with the level global, and are the own ones of each user', async () => {
    const noor = await server.world.user('noor')
    await server.world.member(group, noor, accessLevels.guest)
    const asNoor = await server.tokenOf(noor)
    expect(await call('GET', pathOf())).toEqual([200, { level: 'global' }])
    expect(await call('PUT', pathOf(), { level: 'mention' })).toEqual([200, { level: 'mention' }])
    expect(await call('PUT', pathOf(), { level: 'custom', new_epic: true })).toEqual([
      200,
      { level: 'custom', events: { ...unset, new_epic: true } },
    ])
    expect(await call('GET', pathOf(), undefined, asNoor)).toEqual([200, { level: 'global' }])
    expect((await call('GET', 'notification_settings'))[1]).toMatchObject({ level: 'participating' })
  })

  test('ignore an address, which is set for everything', async () => {
    expect(await call('PUT', pathOf(), { level: 'watch', notification_email: 'other' })).toEqual([
      200,
      { level: 'watch' },
    ])
    const rows = await server.world.core.db.read.selectFrom('notification_settings').select('email').execute()
    expect(rows).toEqual([{ email: null }])
  })

  test('are rejected like those for everything, after the check of access', async () => {
    expect(await call('PUT', pathOf(), { level: 'loud' })).toEqual([400, { message: "'loud' is not a valid level" }])
    expect(await call('PUT', pathOf(), { new_note: 'perhaps' })).toEqual([400, { error: 'new_note is invalid' }])
    const stranger = await server.tokenOf(await server.world.user('noor'))
    const noun = kind === 'group' ? 'Group' : 'Project'
    expect(await call('PUT', pathOf(), { level: 'loud' }, stranger)).toEqual([
      404,
      { message: `404 ${noun} Not Found` },
    ])
    expect(await call('GET', pathOf(), undefined, stranger)).toEqual([404, { message: `404 ${noun} Not Found` }])
  })

  test('need no membership if the visibility is enough', async () => {
    const open = await server.world.group('open', { visibility: 'public' })
    const site = await server.world.project('site', open, 'public')
    const path = `${kind}s/${kind === 'group' ? open.id : site.id}/notification_settings`
    expect(await call('PUT', path, { level: 'watch' })).toEqual([200, { level: 'watch' }])
  })

  test('end with their subject and with their user', async () => {
    const root = await server.world.user('root', { isAdministrator: true })
    await call('PUT', pathOf(), { level: 'watch' })
    await call('PUT', 'notification_settings', { level: 'watch' })
    expect(await storedRows()).toBe(2)
    if (kind === 'group') await server.world.perform(root, removeGroup, { group: group.id })
    else await server.world.perform(root, removeProject, { project: project.id })
    expect(await storedRows()).toBe(1)
    await server.world.perform(root, removeUser, { user: mira.id })
    expect(await storedRows()).toBe(0)
  })
})
