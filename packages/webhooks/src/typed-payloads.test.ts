import { createHash } from 'node:crypto'
import {
  createCommit,
  createCommitComment,
  createMergeRequest,
  mergeRequestDiscussions,
  projectMilestones,
  putPipelineRecord,
  serviceVersion,
} from '@penstock/core'
import { recordInput } from '@penstock/testkit'
import { expect, test } from 'vitest'
import { HookWorld } from './webhooks.harness.ts'

const lineCode = (path: string, old: number, fresh: number) =>
  `${createHash('sha1').update(path).digest('hex')}_${old}_${fresh}`

const commit = async (hooks: HookWorld, branch: string, action: string, content: string, startBranch?: string) => {
  const actions = [{ action, filePath: 'a.txt', content }]
  return (await hooks.perform(createCommit, { branch, startBranch, commitMessage: 'Sow\n\nEarly', actions })).sha
}

test.each([
  ['an added line', { oldLine: null, newLine: 3 }, [3, 3]],
  ['a removed line', { oldLine: 2, newLine: null }, [2, 2]],
  ['an unchanged line', { oldLine: 1, newLine: 1 }, [1, 1]],
])('a comment on %s has its position, its line code and the diff of its file', async (_, line, [old, fresh]) => {
  const hooks = await HookWorld.open()
  const baseSha = await commit(hooks, 'main', 'create', '1\n2\n3\n')
  const headSha = await commit(hooks, 'fix', 'update', '1\ntwo\nmore\n3\n', 'main')
  await hooks.perform(createMergeRequest, { title: 'Fix', sourceBranch: 'fix', targetBranch: 'main' })
  await hooks.hook({ noteEvents: true })
  const place = { baseSha, startSha: baseSha, headSha, oldPath: 'a.txt', newPath: 'a.txt', ...line }
  const position = { ...place, positionType: 'text' }
  await hooks.perform(mergeRequestDiscussions.create, { mergeRequestIid: 1, body: 'Why?', position })
  const [body] = await hooks.bodies(1)
  const shown = {
    base_sha: baseSha,
    start_sha: baseSha,
    head_sha: headSha,
    old_path: 'a.txt',
    new_path: 'a.txt',
    position_type: 'text',
    old_line: line.oldLine,
    new_line: line.newLine,
    line_range: null,
  }
  expect(body!.object_attributes).toMatchObject({
    type: 'DiffNote',
    position: shown,
    original_position: shown,
    line_code: lineCode('a.txt', old!, fresh!),
    st_diff: {
      diff: '--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,4 @@\n 1\n-2\n+two\n+more\n 3\n',
      ...{ old_path: 'a.txt', new_path: 'a.txt', a_mode: '100644', b_mode: '100644' },
      ...{ new_file: false, renamed_file: false, deleted_file: false },
    },
  })
})

test('a comment on a line of the first commit has the diff of its file', async () => {
  const hooks = await HookWorld.open()
  const sha = await commit(hooks, 'main', 'create', '1\n2\n')
  await hooks.hook({ noteEvents: true })
  await hooks.perform(createCommitComment, { sha, note: 'Why?', path: 'a.txt', line: 2, lineType: 'new' })
  const [body] = await hooks.bodies(1)
  expect(body!.object_attributes).toMatchObject({
    position: { base_sha: '0'.repeat(40), head_sha: sha, new_line: 2 },
    line_code: lineCode('a.txt', 1, 2),
    st_diff: { diff: expect.stringContaining('+1\n+2\n'), new_path: 'a.txt', new_file: true },
  })
})

test('a milestone that is deleted fires its switch, with its last values', async () => {
  const hooks = await HookWorld.open()
  const draft = { title: 'One', description: 'First', dueDate: '2026-03-04T12:00:00Z' }
  const { id } = await hooks.perform(projectMilestones.create, { parent: hooks.project.id, ...draft })
  await hooks.hook({ milestoneEvents: true })
  await hooks.perform(projectMilestones.remove, { parent: hooks.project.id, milestoneId: id })
  expect(await hooks.bodies(1)).toMatchObject([
    {
      object_kind: 'milestone',
      action: 'delete',
      object_attributes: {
        ...{
          id,
          iid: 1,
          title: 'One',
          description: 'First',
          state: 'active',
          due_date: '2026-03-04',
          start_date: null,
        },
        ...{
          created_at: '2026-02-03 04:05:06 UTC',
          updated_at: '2026-02-03 04:05:06 UTC',
          project_id: hooks.project.id,
        },
      },
    },
  ])
})

test('pipelines and jobs have the commit of the repository, with the values of the record first', async () => {
  const hooks = await HookWorld.open()
  const sha = await commit(hooks, 'main', 'create', 'a')
  await hooks.hook({ pipelineEvents: true, jobEvents: true })
  const record = (pipelineId: number, more: object) =>
    hooks.perform(
      putPipelineRecord,
      recordInput({
        pipelineId,
        objectAttributes: { id: pipelineId, status: 'success', ref: 'main', sha },
        builds: [{ id: pipelineId * 10, name: 'test', stage: 'test', status: 'success' }],
        ...more,
      }),
    )
  await record(1, {})
  const first = await hooks.bodies(2)
  const author = { name: hooks.mira.name, email: expect.stringContaining('@') }
  const kind = (bodies: readonly Record<string, unknown>[], wanted: string) =>
    bodies.find(({ object_kind }) => object_kind === wanted)!
  expect(kind(first, 'pipeline').commit).toMatchObject({
    ...{ id: sha, title: 'Sow', message: expect.stringMatching(/^Sow\n\nEarly/), author },
    url: expect.stringContaining(sha),
  })
  expect(kind(first, 'build')).toMatchObject({
    project_name: 'ops / tools',
    commit: { author_name: author.name, author_email: author.email, message: expect.stringMatching(/^Sow/) },
  })
  await record(2, { commit: { id: sha, message: 'Stated', author: { name: 'Noor' } } })
  const later = (await hooks.bodies(4)).slice(2)
  expect(kind(later, 'pipeline').commit).toMatchObject({
    ...{ message: 'Stated', title: 'Sow', author: { name: 'Noor', email: author.email } },
  })
  expect(kind(later, 'build').commit).toMatchObject({ message: 'Stated', author_name: 'Noor' })
})

test.each([
  ['gitlab', 'GitLab'],
  ['svc', 'Svc'],
])(
  'the product of %s in the User-Agent is %s, and the avatar of a user without one is an empty text',
  async (serviceName, product) => {
    const hooks = await HookWorld.open(undefined, { settings: { serviceName } })
    await hooks.hook({ pushEvents: true })
    await commit(hooks, 'main', 'create', 'a')
    expect(await hooks.bodies(1)).toMatchObject([{ user_avatar: '' }])
    expect(hooks.receiver.requests[0]!.headers['user-agent']).toBe(`${product}/${serviceVersion.version}`)
  },
)
