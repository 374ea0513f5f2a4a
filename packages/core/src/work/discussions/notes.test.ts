import { World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { DomainError } from '../../base/kit/domain-error.ts'
import { accessLevels } from '../../base/model/access-level.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import { archiveProject } from '../../code/projects/project-operations.ts'
import { createProjectSnippet } from '../../code/snippets/snippet-operations.ts'
import { removeUser } from '../../identity/accounts/user-operations.ts'
import { moveIssue } from '../issues/issue-move.ts'
import { createIssue, getProjectIssue, updateIssue } from '../issues/issue-operations.ts'
import { updateMergeRequest } from '../merge-requests/merge-request-operations.ts'
import { issueDiscussions, mergeRequestDiscussions } from './discussion-operations.ts'
import { issueNotes, mergeRequestNotes, snippetNotes } from './note-operations.ts'

let world: World
let root: User
let mira: User
let noor: User
let project: Project
const failure = (error: DomainError) => error.failure
const forbidden = { code: 'forbidden' }
const notFound = { code: 'not_found', what: 'Note' }

beforeEach(async () => {
  world = await World.open()
  root = await world.user('root', { isAdministrator: true })
  mira = await world.user('mira')
  noor = await world.user('noor')
  project = await world.project('tools', await world.group('ops', { visibility: 'public' }), 'public')
  await world.member(project, mira, accessLevels.developer)
  await world.perform(mira, createIssue, { project: project.id, title: 'Leak' })
})
afterEach(() => world.close())

const onIssue = () => ({ project: project.id, issueIid: 1 })
const add = (body: string, more: object = {}, actor = mira) =>
  world.perform(actor, issueNotes.create, { ...onIssue(), body, ...more })
const list = async (actor: User | undefined = mira, more: object = {}) =>
  (await world.perform(actor, issueNotes.list, { ...onIssue(), sort: 'asc', ...more })).items.map(({ body }) => body)
const issue = () => world.perform(mira, getProjectIssue, onIssue())

test('a note is added, changed and removed by its author, and by Maintainers', async () => {
  const note = await add('Look', {}, noor)
  expect(note).toMatchObject({ body: 'Look', author: { id: noor.id }, kind: 'individual', noteableIid: 1 })
  expect(await issue()).toMatchObject({ userNotesCount: 1, updatedAtMs: note.createdAtMs })
  const one = { ...onIssue(), noteId: note.id }
  world.clock.advance(1_000)
  const edited = await world.perform(noor, issueNotes.update, { ...one, body: 'Look here' })
  expect([edited.body, edited.updatedAtMs - edited.createdAtMs]).toEqual(['Look here', 1_000])
  expect(await world.perform(mira, issueNotes.update, { ...one, body: 'x' }).catch(failure)).toEqual(forbidden)
  expect(await world.perform(mira, issueNotes.remove, one).catch(failure)).toEqual(forbidden)
  await world.perform(root, issueNotes.remove, one)
  expect(await world.perform(noor, issueNotes.get, one).catch(failure)).toEqual(notFound)
  expect((await issue()).userNotesCount).toBe(0)
})

test('texts are bounded, and the number of notes on one thing too', async () => {
  const blank = { code: 'invalid', fields: { note: ["can't be blank"] } }
  const tooLong = { code: 'invalid', fields: { note: ['is too long (maximum is 1000000 characters)'] } }
  expect(await add(' \n').catch(failure)).toEqual(blank)
  expect((await add('🌱'.repeat(1_000_000))).body.length).toBe(2_000_000)
  expect(await add('x'.repeat(1_000_001)).catch(failure)).toEqual(tooLong)
  await world.core.db.write(async (db) => {
    const row = await db.selectFrom('notes').selectAll().executeTakeFirstOrThrow()
    const { id: _, ...copied } = { ...row, body: 'x' }
    for (let added = 0; added < 4_999; added += 833) {
      await db
        .insertInto('notes')
        .values(Array.from({ length: Math.min(833, 4_999 - added) }, () => copied))
        .execute()
    }
  })
  expect(await add('One more').catch(failure)).toEqual({
    code: 'refused',
    message: 'Maximum number of comments exceeded',
  })
})

test('internal notes are for Planners and higher', async () => {
  const internal = await add('Their password', { internal: true })
  await add('Later', { confidential: true })
  await add('Open')
  expect(await list()).toEqual(['Their password', 'Later', 'Open'])
  expect(await list(noor)).toEqual(['Open'])
  expect(await world.perform(noor, issueNotes.get, { ...onIssue(), noteId: internal.id }).catch(failure)).toEqual(
    notFound,
  )
  expect(await add('Mine', { internal: true }, noor).catch(failure)).toEqual(forbidden)
  const seen = await world.perform(noor, issueDiscussions.list, onIssue())
  expect([seen.items.length, seen.total]).toEqual([1, 1])
  const reply = { ...onIssue(), discussionId: internal.discussionId, body: 'Reply' }
  expect(await world.perform(noor, issueDiscussions.reply, reply).catch(failure)).toEqual({
    code: 'not_found',
    what: 'Discussion',
  })
  expect((await world.perform(mira, issueDiscussions.reply, reply)).isInternal).toBe(true)
})

test('only members comment on locked issues, no one in archived projects, and only owners choose times', async () => {
  await world.perform(mira, updateIssue, { ...onIssue(), discussionLocked: true })
  expect(await add('Hello', {}, noor).catch(failure)).toEqual(forbidden)
  expect((await add('Hello')).body).toBe('Hello')
  const createdAt = { createdAt: '2025-01-01T00:00:00Z' }
  expect(await add('Then', createdAt).catch(failure)).toEqual(forbidden)
  expect((await add('Then', createdAt, root)).createdAtMs).toBe(Date.UTC(2025, 0, 1))
  expect(await list(mira, { orderBy: 'created_at' })).toEqual(['Then', 'Hello'])
  await world.perform(root, archiveProject, { project: project.id })
  expect(await add('Late').catch(failure)).toEqual(forbidden)
})

test('notes of a confidential issue follow its readers', async () => {
  await add('Open')
  await world.perform(mira, updateIssue, { ...onIssue(), confidential: true })
  expect(await world.perform(noor, issueNotes.list, onIssue()).catch(failure)).toEqual({ code: 'not_found' })
  expect(await add('Hm', {}, noor).catch(failure)).toEqual({ code: 'not_found' })
})

test('changes of state and labels are noted', async () => {
  await add('Before')
  const change = (changes: object) => world.perform(mira, updateIssue, { ...onIssue(), ...changes })
  await change({ labels: ['bug', 'help wanted'] })
  await change({ labels: ['bug', 'ui'], stateEvent: 'close' })
  await change({ stateEvent: 'reopen', title: 'Leaks' })
  const noted = [
    'added ~bug ~"help wanted" labels',
    'closed',
    'added ~ui and removed ~"help wanted" labels',
    'reopened',
  ]
  expect(await list()).toEqual(['Before', ...noted])
  expect(await list(mira, { activityFilter: 'only_activity' })).toEqual(noted)
  expect(await list(mira, { activityFilter: 'only_comments' })).toEqual(['Before'])
  expect((await issue()).userNotesCount).toBe(1)
  const { items } = await world.perform(mira, issueNotes.list, { ...onIssue(), activityFilter: 'only_activity' })
  const one = { ...onIssue(), noteId: items[0]!.id }
  expect(await world.perform(root, issueNotes.update, { ...one, body: 'x' }).catch(failure)).toEqual(forbidden)
})

test('a moved issue takes its notes along', async () => {
  const site = await world.project('site', mira)
  await world.member(project, mira, accessLevels.developer).catch(() => {})
  await add('Look')
  await add('Secret', { internal: true })
  const moved = await world.perform(root, moveIssue, { ...onIssue(), toProject: site.id })
  expect(moved.userNotesCount).toBe(2)
  const at = { project: site.id, issueIid: moved.iid, sort: 'asc' }
  const { items } = await world.perform(root, issueNotes.list, at)
  expect(items.map(({ body, author, isInternal }) => [body, author?.username, isInternal])).toEqual([
    ['Look', 'mira', false],
    ['Secret', 'mira', true],
  ])
})

test('notes stay when their author is removed, and go with what they are about', async () => {
  await add('Look', {}, noor)
  await world.perform(root, removeUser, { user: noor.id })
  const { items } = await world.perform(mira, issueNotes.list, onIssue())
  expect(items).toMatchObject([{ body: 'Look', author: undefined }])
  await world.core.db.write((db) => db.deleteFrom('issues').execute())
  expect(await world.core.db.read.selectFrom('notes').selectAll().execute()).toEqual([])
})

describe('discussions', () => {
  const one = () => ({ project: project.id, mergeRequestIid: 1 })
  beforeEach(async () => {
    await world
      .mergeRequest(noor, { project: project.id, sourceBranch: 'fix', targetBranch: 'main', title: 'Fix' })
      .catch(async () =>
        world.mergeRequest(mira, { project: project.id, sourceBranch: 'fix', targetBranch: 'main', title: 'Fix' }),
      )
  })

  test('of merge requests are resolved by Developers and by authors', async () => {
    const made = await world.perform(noor, mergeRequestDiscussions.create, { ...one(), body: 'Why?' })
    const input = { ...one(), discussionId: made.id }
    await world.perform(mira, mergeRequestDiscussions.reply, { ...input, body: 'Because' })
    const resolved = await world.perform(mira, mergeRequestDiscussions.resolve, { ...input, resolved: true })
    expect(resolved.notes.map(({ resolvedBy, kind }) => [resolvedBy?.username, kind])).toEqual([
      ['mira', 'discussion'],
      ['mira', 'discussion'],
    ])
    const ines = await world.user('ines')
    const other = world.perform(ines, mergeRequestDiscussions.resolve, { ...input, resolved: false })
    expect(await other.catch(failure)).toEqual(forbidden)
    await world.perform(ines, mergeRequestDiscussions.reply, { ...input, body: 'So I may?' })
    const replied = world.perform(ines, mergeRequestDiscussions.resolve, { ...input, resolved: true })
    expect(await replied.catch(failure)).toEqual(forbidden)
    const { notes } = await world.perform(noor, mergeRequestDiscussions.resolve, { ...input, resolved: false })
    expect(notes.map(({ resolvedAtMs }) => resolvedAtMs)).toEqual([undefined, undefined, undefined])
    const note = { ...input, noteId: notes[0]!.id }
    const updated = await world.perform(mira, mergeRequestDiscussions.updateNote, { ...note, resolved: true })
    expect(updated.resolvedAtMs).toBeDefined()
    const nothing = world.perform(mira, mergeRequestDiscussions.updateNote, note)
    expect(await nothing.catch(failure)).toMatchObject({ code: 'parameters', problems: [{ problem: 'exactly_one' }] })
  })

  test('begin with a single note by a reply, which is refused for notes of the service', async () => {
    const note = await world.perform(mira, mergeRequestNotes.create, { ...one(), body: 'Look' })
    const unresolvable = { ...one(), discussionId: note.discussionId, resolved: true }
    expect(await world.perform(mira, mergeRequestDiscussions.resolve, unresolvable).catch(failure)).toMatchObject({
      code: 'refused',
    })
    await world.perform(noor, mergeRequestDiscussions.reply, { ...one(), discussionId: note.discussionId, body: 'Yes' })
    const { notes } = await world.perform(mira, mergeRequestDiscussions.get, {
      ...one(),
      discussionId: note.discussionId,
    })
    expect(notes.map(({ body, kind }) => [body, kind])).toEqual([
      ['Look', 'discussion'],
      ['Yes', 'discussion'],
    ])
    await world.perform(mira, updateMergeRequest, { ...one(), stateEvent: 'close' })
    const { items } = await world.perform(mira, mergeRequestDiscussions.list, one())
    expect(items.map(({ notes: [first, ...rest] }) => [first!.body, rest.length])).toEqual([
      ['Look', 1],
      ['closed', 0],
    ])
    const reply = { ...one(), discussionId: items[1]!.id, body: 'x' }
    expect(await world.perform(mira, mergeRequestDiscussions.reply, reply).catch(failure)).toMatchObject({
      code: 'refused',
    })
  })
})

test('events tell what a note is about, and its text before and after', async () => {
  const events: unknown[] = []
  const core = {
    ...world.core,
    listeners: [
      {
        types: new Set(['note.created', 'note.updated', 'note.removed'] as const),
        onEvent: async (_: object, { type, objectId, projectId, details, changes }: Record<string, unknown>) => {
          const body = (changes as Record<string, unknown>).body
          events.push([type, objectId, projectId, details, body])
        },
      },
    ],
  }
  const { perform } = await import('../../base/operations/perform.ts')
  const note = await perform(core as never, mira, issueNotes.create, { ...onIssue(), body: 'Look', internal: true })
  const one = { ...onIssue(), noteId: note.id }
  await perform(core as never, mira, issueNotes.update, { ...one, body: 'Look here' })
  await perform(core as never, mira, issueNotes.remove, one)
  const details = { noteableType: 'issue', noteableId: 1, commitSha: null, isInternal: true }
  expect(events).toEqual([
    ['note.created', note.id, project.id, details, { previous: null, current: 'Look' }],
    ['note.updated', note.id, project.id, details, { previous: 'Look', current: 'Look here' }],
    ['note.removed', note.id, project.id, details, { previous: 'Look here', current: null }],
  ])
})

test('a snippet that a caller cannot read has no notes for them', async () => {
  const draft = { project: project.id, title: 'Logs', visibility: 'private', files: [{ filePath: 'a', content: 'a' }] }
  const { id: snippetId } = await world.perform(mira, createProjectSnippet, draft)
  const at = { project: project.id, snippetId }
  expect(await world.perform(mira, snippetNotes.create, { ...at, body: 'Look' })).toMatchObject({ body: 'Look' })
  expect(await world.perform(noor, snippetNotes.list, at).catch(failure)).toEqual({ code: 'not_found' })
  expect(await world.perform(noor, snippetNotes.create, { ...at, body: 'x' }).catch(failure)).toEqual({
    code: 'not_found',
  })
})
