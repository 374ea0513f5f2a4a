import { recordInput, World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { DomainError } from '../../base/kit/domain-error.ts'
import { accessLevels } from '../../base/model/access-level.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import type { Core } from '../../base/operations/context.ts'
import type { InputSchema, Operation } from '../../base/operations/operation.ts'
import { perform } from '../../base/operations/perform.ts'
import { putPipelineRecord } from '../../ci/pipelines/pipeline-operations.ts'
import { createCommit } from '../../code/repositories/commit-operations.ts'
import { projectMembers } from '../../identity/namespaces/member-operations.ts'
import { mergeRequestNotes } from '../discussions/note-operations.ts'
import { cancelAutoMerge } from './auto-merge.ts'
import { autoMergeListener, mergeDueRequests } from './automatic-merges.ts'
import { mergeMergeRequest } from './merge-request-merge.ts'
import { createMergeRequest, getProjectMergeRequest, updateMergeRequest } from './merge-request-operations.ts'

let world: World
let core: Core
let mira: User
let noor: User
let project: Project
let head: string
const failure = (error: DomainError) => error.failure

beforeEach(async () => {
  world = await World.open()
  core = { ...world.core, listeners: [autoMergeListener] }
  mira = await world.user('mira')
  noor = await world.user('noor')
  project = await world.project('tools', await world.group('ops', { visibility: 'public' }), 'public')
  await world.member(project, mira, accessLevels.maintainer)
  await world.member(project, noor, accessLevels.maintainer)
  await commit('main', 'a.txt')
  head = await commit('fix', 'b.txt', 'main')
  const draft = { project: project.id, title: 'Fix', sourceBranch: 'fix', targetBranch: 'main' }
  await run(createMergeRequest, draft)
})
afterEach(() => world.close())

const run = <Result>(operation: Operation<InputSchema, Result>, input: object, actor = mira) =>
  perform(core, actor, operation, input)
async function commit(branch: string, filePath: string, startBranch?: string) {
  const actions = [{ action: 'create', filePath, content: 'text' }]
  const input = { project: project.id, branch, commitMessage: `Add ${filePath}`, startBranch, actions }
  return (await run(createCommit, input)).sha
}
const pipeline = (status: string, { id = 31, sha = head } = {}) => {
  const objectAttributes = { id, status, ref: 'fix', sha, finishedAt: world.clock.nowMs() }
  const record = { project: project.id, pipelineId: id, objectAttributes, builds: [] }
  return run(putPipelineRecord, recordInput(record))
}
const one = () => ({ project: project.id, mergeRequestIid: 1 })
const mergeLater = (more: object = {}, actor = noor) =>
  run(mergeMergeRequest, { ...one(), autoMerge: true, ...more }, actor)
const shown = () => run(getProjectMergeRequest, one())
const notes = async () => (await run(mergeRequestNotes.list, one())).items.map(({ body }) => body)

test('a merge request is merged when its pipeline succeeds, as the user who asked, with the chosen options', async () => {
  await pipeline('running')
  const waiting = await mergeLater({ mergeCommitMessage: 'Merged later', shouldRemoveSourceBranch: true })
  expect(waiting).toMatchObject({ state: 'opened', autoMergeUser: { username: 'noor' } })
  expect(await notes()).toEqual([`enabled an automatic merge when the pipeline for ${head} succeeds`])
  await world.clock.advance(1_000)
  await pipeline('success')
  expect(await shown()).toMatchObject({
    state: 'merged',
    mergedBy: { username: 'noor' },
    autoMergeUser: undefined,
    sha: head,
    sourceBranchExists: false,
  })
})

test('without a running pipeline the merge is done at once, or refused', async () => {
  expect((await mergeLater()).state).toBe('merged')
  expect(await mergeLater().catch(failure)).toEqual({ code: 'protected', message: '405 Method Not Allowed' })
})

test.each(['failed', 'canceled', 'skipped'])('a pipeline that ends as %s ends the automatic merge', async (status) => {
  await pipeline('running')
  await mergeLater()
  await world.clock.advance(1_000)
  await pipeline(status)
  expect(await shown()).toMatchObject({ state: 'opened', autoMergeUser: undefined })
  expect((await notes()).join()).toMatch(/aborted the automatic merge because the pipeline (failed|was \w+)/)
})

test('a push to the source branch ends it, and a pipeline of another commit does not merge', async () => {
  await pipeline('running')
  await mergeLater()
  await pipeline('success', { id: 32, sha: 'f'.repeat(40) })
  expect(await shown()).toMatchObject({ state: 'opened', autoMergeUser: { username: 'noor' } })
  await commit('fix', 'c.txt')
  expect(await shown()).toMatchObject({ state: 'opened', autoMergeUser: undefined })
  expect(await notes()).toContain('aborted the automatic merge because the source branch was updated')
})

test('a merge that is no longer possible or allowed ends with a note', async () => {
  await pipeline('running')
  await mergeLater()
  await run(updateMergeRequest, { ...one(), title: 'Draft: Fix' })
  await world.clock.advance(1_000)
  await pipeline('success')
  expect(await notes()).toContain('aborted the automatic merge because the merge request cannot be merged')
  await run(updateMergeRequest, { ...one(), title: 'Fix' })
  await pipeline('running', { id: 33 })
  await mergeLater()
  await run(projectMembers.remove, { parent: project.id, userId: noor.id })
  await world.clock.advance(1_000)
  await pipeline('success', { id: 33 })
  expect(await shown()).toMatchObject({ state: 'opened', autoMergeUser: undefined })
  expect(await notes()).toContain('aborted the automatic merge because the user may no longer merge')
})

test('who may merge cancels it, and a closed merge request has none', async () => {
  const cancel = () => run(cancelAutoMerge, one())
  expect(await cancel().catch(failure)).toMatchObject({ code: 'not_acceptable' })
  await pipeline('running')
  await mergeLater()
  const visitor = await world.user('visitor')
  expect(await run(cancelAutoMerge, one(), visitor).catch(failure)).toEqual({ code: 'unauthenticated' })
  expect((await cancel()).autoMergeUser).toBeUndefined()
  await mergeLater()
  await run(updateMergeRequest, { ...one(), stateEvent: 'close' })
  expect((await shown()).autoMergeUser).toBeUndefined()
})

test('a merge that was interrupted is done later', async () => {
  await pipeline('running')
  await mergeLater()
  await core.db.write((db) => db.updateTable('merge_request_auto_merges').set({ is_due: 1 }).execute())
  await mergeDueRequests(core)
  expect((await shown()).state).toBe('merged')
})
