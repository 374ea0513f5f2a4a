import { Gitlab } from '@gitbeaker/rest'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { RunningCore } from './running-core.ts'

let core: RunningCore
let root: InstanceType<typeof Gitlab>

beforeEach(async () => {
  core = await RunningCore.start()
  root = new Gitlab({ host: core.url, token: core.rootToken })
  const { id: namespaceId } = await root.Groups.create('Ops', 'ops')
  await root.Projects.create({ name: 'Tools', path: 'tools', namespaceId })
})

afterEach(() => core.close())

const refusal = (status: number) => ({ cause: { response: { status } } })

test('notification settings are shown and changed', async () => {
  const { notification_email: email } = await root.NotificationSettings.show()
  expect(email).toContain('@')
  expect(await root.NotificationSettings.edit({ level: 'mention' })).toEqual({
    level: 'mention',
    notification_email: email,
  })
  expect(await root.NotificationSettings.show({ groupId: 'ops' })).toEqual({ level: 'global' })
  expect(await root.NotificationSettings.edit({ groupId: 'ops', level: 'watch' })).toEqual({ level: 'watch' })
  expect(await root.NotificationSettings.show({ groupId: 'ops' })).toEqual({ level: 'watch' })
  expect(await root.NotificationSettings.show({ projectId: 'ops/tools' })).toEqual({ level: 'global' })
  await expect(root.NotificationSettings.edit({ level: 'loud' as 'watch' })).rejects.toMatchObject(refusal(400))
  const { level, events } = await root.NotificationSettings.edit({
    projectId: 'ops/tools',
    level: 'custom',
    mergeMergeRequest: true,
    issueDue: false,
  })
  expect(level).toBe('custom')
  expect(events).toMatchObject({ merge_merge_request: true, issue_due: false, new_note: null })
  expect(Object.keys(events as object)).toHaveLength(21)
  expect(await root.NotificationSettings.show({ projectId: 'ops/tools' })).toEqual({ level, events })
})

test('e-mail addresses are added, shown and removed', async () => {
  const own = await root.UserEmails.create('root@home.test')
  expect(own).toEqual({ id: own.id, email: 'root@home.test', confirmed_at: null })
  expect(await root.UserEmails.show(own.id)).toEqual(own)
  expect(await root.UserEmails.all()).toHaveLength(2)
  await root.UserEmails.remove(own.id)
  expect(await root.UserEmails.all()).toHaveLength(1)
  await expect(root.UserEmails.show(own.id)).rejects.toMatchObject(refusal(404))
  await expect(root.UserEmails.remove(own.id)).rejects.toMatchObject(refusal(404))
  const { id: again } = await root.UserEmails.add('root@home.test')
  expect((await root.UserEmails.all()).map(({ id }) => id)).toContain(again)
  await expect(root.UserEmails.add('root@home.test')).rejects.toMatchObject(refusal(400))
  const { id: userId } = await root.Users.create({
    email: 'mira@example.test',
    username: 'mira',
    name: 'Mira',
    forceRandomPassword: true,
  })
  const other = await root.UserEmails.create('mira@home.test', { userId, skipConfirmation: true })
  expect((await root.UserEmails.all({ userId })).map(({ email }) => email)).toEqual([
    'mira@example.test',
    'mira@home.test',
  ])
  await root.UserEmails.remove(other.id, { userId })
  expect(await root.UserEmails.all({ userId })).toHaveLength(1)
})
