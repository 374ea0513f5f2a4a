import { beforeEach, expect, test } from 'vitest'
import { createIssue, removeIssue, updateIssue } from '../issues/issue-operations.ts'
import type { DomainError } from '../kit/domain-error.ts'
import { createMergeRequest, removeMergeRequest } from '../merge-requests/merge-request-operations.ts'
import { putPipelineRecord, removePipeline } from '../pipelines/pipeline-operations.ts'
import { inProjectWorld, mira, project, world } from '../projects/project-world.harness.ts'
import { createBranch, removeBranch } from '../repositories/branch-operations.ts'
import { createCommit } from '../repositories/commit-operations.ts'
import { createTag, removeTag } from '../repositories/tag-operations.ts'
import type { InputSchema, Operation } from './operation.ts'

inProjectWorld('owner')
beforeEach(async () => {
  const actions = [{ action: 'create', filePath: 'README.md', content: 'x' }]
  await run(createCommit, { branch: 'main', commitMessage: 'Add', actions })
  await run(createBranch, { branch: 'feature', ref: 'main' })
})

function run<Input extends InputSchema, Result>(
  operation: Operation<Input, Result>,
  input: object,
  ifUnmodifiedSinceMs?: number,
) {
  const request = ifUnmodifiedSinceMs === undefined ? {} : { ifUnmodifiedSinceMs }
  return world.perform(mira, operation, { project: project.id, ...input }, request)
}

/** Tries a removal once for each time, as a caller who knows the state at that time. Returns the outcomes. */
async function outcomes<Input extends InputSchema>(
  operation: Operation<Input, unknown>,
  input: object,
  times: number[],
) {
  const all: string[] = []
  for (const time of times) {
    const failure = (error: DomainError) => error.failure.code
    all.push((await run(operation, input, time).catch(failure)) === undefined ? 'removed' : 'changed_since')
  }
  return all
}

test('an issue that changed later than the caller knows is not removed', async () => {
  const { iid } = await run(createIssue, { title: 'Leak' })
  await world.clock.advance(1_000)
  await run(updateIssue, { issueIid: iid, title: 'Leaks' })
  const now = world.clock.nowMs()
  expect(await outcomes(removeIssue, { issueIid: iid }, [now - 1, now])).toEqual(['changed_since', 'removed'])
})

test('nor are a merge request and a pipeline', async () => {
  const now = world.clock.nowMs()
  const { iid } = await run(createMergeRequest, { title: 'A', sourceBranch: 'feature', targetBranch: 'main' })
  const objectAttributes = { id: 7, ref: 'main', status: 'success' }
  await run(putPipelineRecord, { pipelineId: 7, objectAttributes, payload: '{}' })
  await world.clock.advance(1_000)
  const times = [now - 1, now]
  const removed = ['changed_since', 'removed']
  expect(await outcomes(removeMergeRequest, { mergeRequestIid: iid }, times)).toEqual(removed)
  expect(await outcomes(removePipeline, { pipelineId: 7 }, times)).toEqual(removed)
})

test('nor are a branch and a tag, by the time of their commit', async () => {
  await run(createTag, { tagName: 'v1', ref: 'main', message: 'one' })
  // Commits have whole seconds.
  const committed = Math.floor(world.clock.nowMs() / 1_000) * 1_000
  const times = [committed - 1, committed]
  expect(await outcomes(removeTag, { tagName: 'v1' }, times)).toEqual(['changed_since', 'removed'])
  expect(await outcomes(removeBranch, { branch: 'feature' }, times)).toEqual(['changed_since', 'removed'])
})
