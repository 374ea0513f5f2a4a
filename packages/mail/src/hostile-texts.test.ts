import {
  accessLevels,
  createFile,
  createIssue,
  createRelease,
  type Project,
  perform,
  putPipelineRecord,
  type User,
  updateNotificationSetting,
} from '@penstock/core'
import { recordInput } from '@penstock/testkit'
import type { ParsedMail } from 'mailparser'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { payloads } from './hostile-texts.harness.ts'
import { MailedWorld } from './mailed-world.harness.ts'
import type { Received } from './smtp-receiver.harness.ts'

let mailed: MailedWorld
let project: Project
let mira: User

beforeAll(async () => {
  mailed = await MailedWorld.open()
  const { world } = mailed
  project = await world.project('tools', await world.group('ops'))
  mira = await world.user('mira')
  await world.member(project, mira, accessLevels.owner)
  const watcher = await world.user('watcher')
  await world.member(project, watcher, accessLevels.developer)
  await perform(world.core, watcher, updateNotificationSetting, { level: 'watch' })
  const file = { project: project.id, filePath: 'README.md', branch: 'main', commitMessage: 'Start', content: 'x' }
  await perform(world.core, mira, createFile, file)
})
afterAll(() => mailed?.close())

let pipelines = 0
/** Mails an issue, a pipeline and a release with the text in the names of the project and of the actor, title, branch and name. */
async function mailsWith(text: string): Promise<Received[]> {
  const stored = text.replaceAll('\0', '')
  await mailed.world.core.db.write(async (db) => {
    await db.updateTable('users').set({ name: stored }).where('id', '=', mira.id).execute()
    await db.updateTable('projects').set({ name: stored }).where('id', '=', project.id).execute()
  })
  const draft = { project: project.id, title: stored, description: stored }
  await perform(mailed.core, mira, createIssue, draft)
  pipelines += 1
  const head = { id: pipelines, status: 'failed', ref: stored, user: { username: 'watcher' } }
  const record = { project: project.id, pipelineId: pipelines, objectAttributes: head, user: { username: 'watcher' } }
  await perform(mailed.core, mira, putPipelineRecord, recordInput({ ...record, builds: [] }))
  const release = { project: project.id, tagName: `v${pipelines}`, ref: 'main', name: stored, description: stored }
  await perform(mailed.core, mira, createRelease, release)
  return (await mailed.received()).toSorted((a, b) => kindOf(a).localeCompare(kindOf(b)))
}

/** Returns the kind of the page that a mail links to. */
const kindOf = ({ parsed }: Received) =>
  parsed.html ? (/-\/(issues|pipelines|releases)\//.exec(parsed.html)?.[1] ?? '') : ''
const headerNames = ({ headerLines }: ParsedMail) => headerLines.map(({ key }) => key).sort()
/** The tags of a text, without attributes. */
const tags = (html: string) => [...html.matchAll(/<\/?([a-z!]+)/gi)].map(([, name]) => name!.toLowerCase())

test('40 hostile names, titles, branches and releases add no header, recipient or markup to the mails of events', async () => {
  const plain = await mailsWith('Leak')
  expect(plain).toHaveLength(3)
  const expected = plain.map(({ parsed }) => [headerNames(parsed), tags(parsed.html || '')])
  for (const payload of payloads) {
    const mails = await mailsWith(payload)
    expect(mails.map(({ to }) => to)).toEqual(Array(3).fill('watcher@example.test'))
    expect(mails.map(({ parsed }) => [headerNames(parsed), tags(parsed.html || '')])).toEqual(expected)
    for (const { parsed, source } of mails) {
      expect(parsed.from!.value).toEqual([{ name: 'Penstock', address: 'penstock@svc.example.test' }])
      expect([parsed.bcc, parsed.cc, parsed.replyTo]).toEqual([undefined, undefined, undefined])
      expect(source.split('\r\n\r\n', 1)[0]).not.toMatch(/^(?:bcc|reply-to):/im)
    }
  }
}, 120_000)
