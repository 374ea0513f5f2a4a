import { randomUUID } from 'node:crypto'
import {
  type AccessLevel,
  accessLevels,
  blockUser,
  type Core,
  createIssue,
  findUserByUsername,
  issueNotes,
  issueTracking,
  migrateCore,
  type NotificationLevel,
  type NotificationSwitch,
  type Project,
  perform,
  projectNotificationSettings,
  type User,
  unsubscribeByLink,
  unsubscribeUrl,
  updateIssue,
  updateNotificationSetting,
} from '@penstock/core'
import { DeliveryQueue, deliveryMigrations } from '@penstock/delivery'
import { silentLog } from '@penstock/runtime'
import { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { MAIL_QUEUE, MailQueue } from './mail-queue.ts'
import { SmtpReceiver } from './smtp-receiver.harness.ts'
import { parseSmtpUrl, smtpTransport } from './smtp-transport.ts'

let world: World
let core: Core
let receiver: SmtpReceiver
let mails: MailQueue
let project: Project
let olga: User

beforeEach(async () => {
  world = await World.open()
  await migrateCore(world.core.db, deliveryMigrations)
  receiver = await SmtpReceiver.start()
  const sender = { name: 'Penstock', address: 'penstock@svc.example.test' }
  const transport = smtpTransport(parseSmtpUrl(receiver.url)!, { sender, clock: world.clock })
  mails = new MailQueue({
    core: world.core,
    transport,
    random: () => 0.5,
    newClaim: randomUUID,
    log: silentLog,
    answersRequests: () => true,
  })
  mails.start()
  core = { ...world.core, listeners: [mails.listener] }
  olga = await world.user('olga')
  project = await world.project('tools', await world.group('ops'))
  await world.member(project, olga, accessLevels.owner)
})
afterEach(async () => {
  await mails.end()
  await receiver.close()
  await world.close()
})

/** Waits until all mails are sent, and returns the sorted names of those who got one since the last call. */
async function mailed(): Promise<string[]> {
  await vi.waitFor(
    async () => {
      await world.clock.advance(1_000)
      const { open } = await new DeliveryQueue(world.core.db as never, MAIL_QUEUE).counts()
      expect(open).toBe(0)
    },
    { timeout: 20_000, interval: 10 },
  )
  return receiver.mails
    .splice(0)
    .map(({ to }) => to.split('@')[0]!)
    .sort()
}

async function person(name: string, level: NotificationLevel, role: AccessLevel = accessLevels.developer) {
  const user = await world.user(name)
  if (role > 0) await world.member(project, user, role)
  await perform(core, user, updateNotificationSetting, { level })
  return user
}

const issueOf = (as: User, draft: object = {}) =>
  perform(core, as, createIssue, { project: project.id, title: 'Leak', ...draft })

test('each level, for users who are mentioned, who take part, and for others', async () => {
  const levels = ['disabled', 'participating', 'mention', 'watch', 'custom'] as const
  for (const level of levels) {
    for (const what of ['mentioned', 'assigned', 'other']) await person(`${level}-${what}`, level)
  }
  const ids = await Promise.all(levels.map(async (level) => (await userNamed(`${level}-assigned`)).id))
  const description = levels.map((level) => `@${level}-mentioned`).join(' ')
  await issueOf(olga, { description, assigneeIds: ids.slice(0, 1) })
  expect(await mailed()).toEqual([
    'custom-mentioned',
    'mention-mentioned',
    'participating-mentioned',
    'watch-assigned',
    'watch-mentioned',
    'watch-other',
  ])
  for (const level of levels) {
    const assignee = await userNamed(`${level}-assigned`)
    const { iid } = await issueOf(olga, { assigneeIds: [assignee.id] })
    await mailed()
    await perform(core, olga, issueNotes.create, { project: project.id, issueIid: iid, body: 'Look' })
    const got = await mailed()
    expect([level, got.includes(`${level}-assigned`)]).toEqual([
      level,
      level === 'participating' || level === 'watch' || level === 'custom',
    ])
  }
})

const userNamed = async (username: string): Promise<User> =>
  (await findUserByUsername({ db: world.core.db.read, nowMs: 0 }, username))!

test.each<[NotificationSwitch, (iid: number) => Promise<unknown>]>([
  ['closeIssue', (iid) => change(iid, { stateEvent: 'close' })],
  ['reopenIssue', (iid) => change(iid, { stateEvent: 'reopen' })],
  ['reassignIssue', (iid) => change(iid, { assigneeIds: [olga.id] })],
  ['newNote', (iid) => perform(core, olga, issueNotes.create, { project: project.id, issueIid: iid, body: 'Look' })],
])('custom with %s gets that event only', async (event, act) => {
  const mira = await person('mira', 'custom')
  const { iid } = await issueOf(olga)
  if (event === 'reopenIssue') await change(iid, { stateEvent: 'close' })
  expect(await mailed()).toEqual([])
  await perform(core, mira, projectNotificationSettings.update, {
    parent: project.id,
    level: 'custom',
    [event]: true,
  })
  await change(iid, { title: 'Other' })
  expect(await mailed()).toEqual([])
  await act(iid)
  expect(await mailed()).toEqual(['mira'])
})

const change = (issueIid: number, changes: object) =>
  perform(core, olga, updateIssue, { project: project.id, issueIid, ...changes })

test('the own action, unsubscribed and blocked users, and those who have left get nothing', async () => {
  const root = await world.user('root', { isAdministrator: true })
  const [mira, noor, pia] = [await person('mira', 'watch'), await person('noor', 'watch'), await person('pia', 'watch')]
  await perform(core, olga, updateNotificationSetting, { level: 'watch' })
  const { id, iid } = await issueOf(olga)
  expect(await mailed()).toEqual(['mira', 'noor', 'pia'])
  const link = new URL(unsubscribeUrl(core, { kind: 'issue', itemId: id, userId: mira.id })).searchParams
  await perform(core, undefined, unsubscribeByLink, {
    kind: 'issue',
    itemId: id,
    userId: mira.id,
    signature: link.get('signature')!,
  })
  await perform(core, root, blockUser, { user: noor.id })
  await world.core.db.write((db) => db.deleteFrom('members').where('user_id', '=', pia.id).execute())
  await change(iid, { stateEvent: 'close' })
  expect(await mailed()).toEqual([])
})

test('confidential issues and internal notes are mailed only to those who may read them', async () => {
  await person('guest', 'watch', accessLevels.guest)
  await person('planner', 'watch', accessLevels.planner)
  await person('stranger', 'watch', 0 as AccessLevel)
  await issueOf(olga, { confidential: true, description: '@stranger @guest' })
  expect(await mailed()).toEqual(['planner'])
  const open = await issueOf(olga)
  expect(await mailed()).toEqual(['guest', 'planner'])
  const note = { project: project.id, issueIid: open.iid, body: '@guest', internal: true }
  await perform(core, olga, issueNotes.create, note)
  expect(await mailed()).toEqual(['planner'])
})

test('mails of an issue are one conversation, and have a list and a way out', async () => {
  await person('mira', 'watch')
  const { iid } = await issueOf(olga, { title: '<b>Leak</b>\r\nBcc: all@evil.test', description: '<script>x</script>' })
  await vi.waitFor(async () => {
    await world.clock.advance(1_000)
    expect(receiver.mails).toHaveLength(1)
  })
  const [first] = receiver.mails.splice(0)
  await change(iid, { stateEvent: 'close' })
  await vi.waitFor(async () => {
    await world.clock.advance(1_000)
    expect(receiver.mails).toHaveLength(1)
  })
  const [second] = receiver.mails.splice(0)
  const { parsed } = first!
  expect(parsed.subject).toBe('tools | <b>Leak</b> Bcc: all@evil.test (#1)')
  expect([parsed.bcc, parsed.replyTo, parsed.inReplyTo]).toEqual([undefined, undefined, undefined])
  expect(parsed.html).toContain('&lt;script&gt;')
  expect(parsed.html).not.toMatch(/<script|<b>/)
  expect(second!.parsed.subject).toMatch(/^Re: tools/)
  expect([second!.parsed.inReplyTo, second!.parsed.references]).toEqual([parsed.messageId, parsed.messageId])
  expect(second!.parsed.messageId).not.toBe(parsed.messageId)
  const raw = parsed.headerLines.map(({ line }) => line.replaceAll(/\s+/g, ' '))
  expect(raw).toContain(`List-ID: ops/tools <${project.id}.ops.tools.svc.example.test>`)
  expect(raw.find((line) => line.startsWith('List-Unsubscribe:'))).toMatch(
    /<https:\/\/svc\.example\.test\/-\/notifications\/unsubscribe\?kind=issue&item=1&user=\d+&signature=[\w-]+>/,
  )
})

test('users who only watch can unsubscribe from one issue, and a link disables the mails about a project', async () => {
  const mira = await person('mira', 'watch')
  const { iid } = await issueOf(olga)
  expect(await mailed()).toEqual(['mira'])
  const answer = await perform(core, mira, issueTracking.unsubscribe, { project: project.id, issueIid: iid })
  expect(answer.isUnchanged).toBe(true)
  await change(iid, { stateEvent: 'close' })
  expect(await mailed()).toEqual([])
  await perform(core, mira, issueTracking.subscribe, { project: project.id, issueIid: iid })
  await change(iid, { stateEvent: 'reopen' })
  expect(await mailed()).toEqual(['mira'])

  const link = { kind: 'project', itemId: project.id, userId: mira.id } as const
  const signature = new URL(unsubscribeUrl(core, link)).searchParams.get('signature')!
  const wrong = { ...link, kind: 'issue', signature }
  await expect(perform(core, undefined, unsubscribeByLink, wrong)).rejects.toMatchObject({
    failure: { code: 'refused' },
  })
  await perform(core, undefined, unsubscribeByLink, { ...link, signature })
  await perform(core, undefined, unsubscribeByLink, { ...link, signature })
  await issueOf(olga)
  expect(await mailed()).toEqual([])
  const setting = await perform(core, mira, projectNotificationSettings.get, { parent: project.id })
  expect(setting.level).toBe('disabled')
})

test('the links of a blocked user stop, and calls of links have a limit', async () => {
  const root = await world.user('root', { isAdministrator: true })
  const mira = await person('mira', 'watch')
  const { id } = await issueOf(olga)
  const link = { kind: 'issue', itemId: id, userId: mira.id } as const
  const input = { ...link, signature: new URL(unsubscribeUrl(core, link)).searchParams.get('signature')! }
  await perform(core, root, blockUser, { user: mira.id })
  await expect(perform(core, undefined, unsubscribeByLink, input)).rejects.toMatchObject({
    failure: { code: 'refused' },
  })
  const codes = new Set<string>()
  for (let call = 0; call < 101; call += 1) {
    const called = perform(core, undefined, unsubscribeByLink, input, { request: { address: '192.0.2.1' } })
    await called.catch(({ failure }) => codes.add(failure.code))
  }
  expect([...codes]).toEqual(['refused', 'too_often'])
})
