import { expect, test } from 'vitest'
import { updateProject } from '../../code/projects/project-operations.ts'
import { createBranch } from '../../code/repositories/branch-operations.ts'
import { createCommit, getCommit } from '../../code/repositories/commit-operations.ts'
import { inProjectWorld, mira, project, world } from '../../identity/projects/project-world.harness.ts'
import { mergeMergeRequest } from './merge-request-merge.ts'
import { createMergeRequest } from './merge-request-operations.ts'
import { listMergeRequestsOfCommit } from './merge-requests-of-commit.ts'

inProjectWorld('owner')

const commit = async (branch: string, filePath: string) => {
  const actions = [{ action: 'create', filePath, content: 'x' }]
  const input = { project: project.id, branch, commitMessage: `Add ${filePath}`, actions }
  return (await world.perform(mira, createCommit, input)).sha
}
const open = async (sourceBranch: string, targetBranch = 'main') => {
  const input = { project: project.id, title: sourceBranch, sourceBranch, targetBranch }
  return world.perform(mira, createMergeRequest, input)
}
const titlesOf = async (sha: string) => {
  const { items } = await world.perform(mira, listMergeRequestsOfCommit, { project: project.id, sha })
  return items.map(({ title }) => title)
}

test('a commit belongs to the merge requests that bring it, and to the one that created it when it was merged', async () => {
  const first = await commit('main', 'a.txt')
  await world.perform(mira, createBranch, { project: project.id, branch: 'side', ref: 'main' })
  const second = await commit('side', 'b.txt')
  await world.perform(mira, createBranch, { project: project.id, branch: 'onward', ref: 'side' })
  const third = await commit('onward', 'c.txt')
  const { iid } = await open('side')
  await open('onward')
  await open('onward', 'side')
  expect(await titlesOf(first)).toEqual([])
  expect((await titlesOf(second)).toSorted()).toEqual(['onward', 'side'])
  expect(await titlesOf(third)).toEqual(['onward', 'onward'])

  await world.perform(mira, mergeMergeRequest, { project: project.id, mergeRequestIid: iid })
  const { sha } = await world.perform(mira, getCommit, { project: project.id, sha: 'main' })
  expect((await titlesOf(second)).toSorted()).toEqual(['onward', 'side'])
  expect(await titlesOf(sha)).toEqual(['side'])
})

test('a caller sees the merge requests that the access level of the feature allows', async () => {
  await commit('main', 'a.txt')
  await world.perform(mira, createBranch, { project: project.id, branch: 'side', ref: 'main' })
  const sha = await commit('side', 'b.txt')
  await open('side')
  await world.perform(mira, updateProject, { project: project.id, mergeRequestsAccessLevel: 'disabled' })
  expect(await titlesOf(sha)).toEqual([])
})
