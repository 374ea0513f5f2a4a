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

test('notification settings are shown and changed', async () => {
  const { notification_email: email } = await root.NotificationSettings.show()
  expect(email).toContain('@')
  expect(await root.NotificationSettings.edit({ level: 'mention' })).toEqual({
    level: 'mention',
    notification_email: email,
  })
  expect(await root.NotificationSettings.show({ groupId: 'ops' })).toEqual({ level: 'global' })
  expect(await root.NotificationSettings.edit({ groupId: 'ops', level: 'watch' })).toEqual({ level: 'watch' })
  const { level, events } = await root.NotificationSettings.edit({
    projectId: 'ops/tools',
    level: 'custom',
    mergeMergeRequest: true,
    issueDue: false,
  })
  expect(level).toBe('custom')
  expect(events).toMatchObject({ merge_merge_request: true, issue_due: false, new_note: null })
  expect(Object.keys(events as object)).toHaveLength(21)
})
