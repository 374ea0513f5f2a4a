import { Gitlab } from '@gitbeaker/rest'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { RunningCore } from './running-core.ts'

let core: RunningCore
let root: InstanceType<typeof Gitlab>
let project: number

beforeEach(async () => {
  core = await RunningCore.start()
  root = new Gitlab({ host: core.url, token: core.rootToken })
  project = (await root.Projects.create({ name: 'tools' })).id
  await root.Issues.create(project, 'Leak')
})

afterEach(() => core.close())

test('notes on issues are added, read, changed and removed', async () => {
  const { IssueNotes } = root
  const made = await IssueNotes.create(project, 1, 'Look', { internal: true } as never)
  expect(made).toMatchObject({ body: 'Look', internal: true, system: false, noteable_type: 'Issue', noteable_iid: 1 })
  expect(await IssueNotes.show(project, 1, made.id)).toEqual(made)
  expect((await IssueNotes.edit(project, 1, made.id, { body: 'Look here' })).body).toBe('Look here')
  await root.Issues.edit(project, 1, { stateEvent: 'close' })
  const bodies = (await IssueNotes.all(project, 1, { sort: 'asc' })).map(({ body, system }) => [body, system])
  expect(bodies).toEqual([
    ['Look here', false],
    ['closed', true],
  ])
  expect((await root.Issues.show(1, { projectId: project })).user_notes_count).toBe(1)
  await IssueNotes.remove(project, 1, made.id)
  expect(await IssueNotes.all(project, 1)).toMatchObject([{ body: 'closed' }])
})

test('discussions of merge requests are begun on a line, answered and resolved', async () => {
  const commit = (branch: string, path: string, startBranch?: string) =>
    root.Commits.create(project, branch, path, [{ action: 'create', filePath: path, content: 'a\n' }], {
      ...(startBranch && { startBranch }),
    })
  const base = await commit('main', 'README.md')
  const head = await commit('fix', 'a.txt', 'main')
  await root.MergeRequests.create(project, 'fix', 'main', 'Fix')
  const { MergeRequestDiscussions } = root
  const position = {
    baseSha: base.id,
    startSha: base.id,
    headSha: head.id,
    positionType: 'text',
    oldPath: 'a.txt',
    newPath: 'a.txt',
    newLine: '1',
  } as const
  const made = await MergeRequestDiscussions.create(project, 1, 'Why?', { position } as never)
  expect(made.notes![0]).toMatchObject({
    type: 'DiffNote',
    resolvable: true,
    resolved: false,
    position: { head_sha: head.id, new_path: 'a.txt', new_line: 1, old_line: null, line_range: null },
  })
  const note = made.notes![0]!.id
  const reply = await MergeRequestDiscussions.addNote(project, 1, made.id, 'Because')
  expect(reply).toMatchObject({ body: 'Because', type: 'DiffNote' })
  const resolved = await MergeRequestDiscussions.resolve(project, 1, made.id, true)
  expect(resolved.notes).toMatchObject([{ resolved: true }, { resolved: true }])
  await MergeRequestDiscussions.editNote(project, 1, made.id, note, { body: 'Why so?' })
  await MergeRequestDiscussions.removeNote(project, 1, made.id, reply.id)
  const all = await MergeRequestDiscussions.all(project, 1)
  expect(all).toMatchObject([{ id: made.id, notes: [{ body: 'Why so?' }] }])
  const onCommit = await MergeRequestDiscussions.create(project, 1, 'Here', { commitId: head.id } as never)
  expect(onCommit.notes).toMatchObject([{ type: 'DiscussionNote', commit_id: head.id }])
})

test('commits have comments and discussions', async () => {
  const actions = [{ action: 'create', filePath: 'a.txt', content: 'a\n' }] as const
  const { id: sha } = await root.Commits.create(project, 'main', 'Begin', [...actions])
  const made = await root.Commits.createComment(project, sha, 'Look', { path: 'a.txt', line: 1, lineType: 'new' })
  expect(made).toMatchObject({ note: 'Look', path: 'a.txt', line: 1, line_type: 'new', author: { username: 'root' } })
  const discussion = await root.CommitDiscussions.create(project, sha, 'Why?')
  await root.CommitDiscussions.addNote(project, sha, discussion.id, 'Because')
  const notes = (await root.Commits.allComments(project, sha)).map(({ note, line }) => [note, line])
  expect(notes).toEqual([
    ['Look', 1],
    ['Why?', null],
    ['Because', null],
  ])
})

test('issues and notes get emoji reactions', async () => {
  const { IssueAwardEmojis, IssueNoteAwardEmojis } = root
  const made = await IssueAwardEmojis.award(project, 1, 'thumbsup')
  expect(made).toMatchObject({ name: 'thumbsup', user: { username: 'root' }, awardable_type: 'Issue' })
  expect(await IssueAwardEmojis.show(project, 1, made.id)).toEqual(made)
  expect(await root.Issues.all({ projectId: project, myReactionEmoji: 'thumbsup' })).toMatchObject([{ upvotes: 1 }])
  await IssueAwardEmojis.remove(project, 1, made.id)
  expect(await IssueAwardEmojis.all(project, 1)).toEqual([])
  const note = await root.IssueNotes.create(project, 1, 'Look')
  await IssueNoteAwardEmojis.award(project, 1, note.id, 'eyes')
  expect(await IssueNoteAwardEmojis.all(project, 1, note.id)).toMatchObject([{ awardable_id: note.id, name: 'eyes' }])
})
