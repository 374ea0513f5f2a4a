import { execFileSync } from 'node:child_process'
import { repositoryPath, World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { repositoryNameOf } from '../../base/git/repository-key.ts'
import type { DomainError } from '../../base/kit/domain-error.ts'
import { accessLevels } from '../../base/model/access-level.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import { updateProject } from '../../code/projects/project-operations.ts'
import { createCommit } from '../../code/repositories/commit-operations.ts'
import { mergeRequestDiscussions } from '../discussions/discussion-operations.ts'
import { mergeRequestNotes } from '../discussions/note-operations.ts'
import { mergeMergeRequest } from './merge-request-merge.ts'
import { createMergeRequest, getProjectMergeRequest, updateMergeRequest } from './merge-request-operations.ts'

let world: World
let mira: User
let noor: User
let project: Project
let fix: string
const failure = (error: DomainError) => error.failure
const notMergeable = { code: 'impossible', message: 'Branch cannot be merged' }
const notAllowed = { code: 'protected', message: '405 Method Not Allowed' }

beforeEach(async () => {
  world = await World.open()
  mira = await world.user('mira')
  noor = await world.user('noor')
  project = await world.project('tools', await world.group('ops', { visibility: 'public' }), 'public')
  await world.member(project, mira, accessLevels.maintainer)
  await commit('main', 'a.txt', '1\n2\n3\n4\n5\n')
  fix = await commit('fix', 'b.txt', 'b\n', 'main')
  const draft = { project: project.id, title: 'Fix', sourceBranch: 'fix', targetBranch: 'main' }
  await world.perform(mira, createMergeRequest, draft)
})
afterEach(() => world.close())

async function commit(branch: string, filePath: string, content: string, startBranch?: string, action = 'create') {
  const input = { project: project.id, branch, commitMessage: `Add ${filePath}`, startBranch }
  return (await world.perform(mira, createCommit, { ...input, actions: [{ action, filePath, content }] })).sha
}
const one = () => ({ project: project.id, mergeRequestIid: 1 })
const merge = (more: object = {}, actor = mira) => world.perform(actor, mergeMergeRequest, { ...one(), ...more })
const git = (...args: string[]) => {
  const gitdir = repositoryPath(world.core, repositoryNameOf({ kind: 'project', id: project.id }))
  return execFileSync('git', ['--git-dir', gitdir, ...args], { encoding: 'utf8' }).trim()
}
const setMethod = (settings: object) => world.perform(mira, updateProject, { project: project.id, ...settings })

test('a merge commit joins both branches, and the source branch is removed on request', async () => {
  const main = await commit('main', 'c.txt', 'c\n')
  const merged = await merge({ shouldRemoveSourceBranch: true })
  expect(merged).toMatchObject({ state: 'merged', mergedBy: { id: mira.id }, sha: fix, squashCommitSha: undefined })
  const sha = merged.mergeCommitSha!
  expect(git('rev-parse', 'main', 'main^1', 'main^2').split('\n')).toEqual([sha, main, fix])
  expect(git('log', '-1', '--format=%B', 'main')).toBe(
    "Merge branch 'fix' into 'main'\n\nFix\n\nSee merge request ops/tools!1",
  )
  expect(git('ls-tree', '--name-only', 'main').split('\n')).toEqual(['a.txt', 'b.txt', 'c.txt'])
  expect(git('branch', '--list', 'fix')).toBe('')
  git('fsck', '--strict')
  const { items } = await world.perform(mira, mergeRequestNotes.list, one())
  expect(items.map(({ body }) => body)).toEqual(['merged'])
  expect(await merge().catch(failure)).toEqual(notAllowed)
})

test('a merged merge request keeps the head and the changes that were merged', async () => {
  const { changesCount, diffRefs } = await world.perform(mira, getProjectMergeRequest, one())
  expect(changesCount).toBe('1')
  const { baseSha, startSha } = diffRefs!
  expect(await merge()).toMatchObject({ changesCount, diffRefs: { headSha: fix, baseSha, startSha } })
  const later = await commit('fix', 'later.txt', 'later\n')
  expect((await world.perform(mira, getProjectMergeRequest, one())).sha).toBe(fix)
  const draft = { project: project.id, title: 'Again', sourceBranch: 'fix', targetBranch: 'main' }
  await world.perform(mira, createMergeRequest, draft)
  expect((await merge({ mergeRequestIid: 2, shouldRemoveSourceBranch: true })).sha).toBe(later)
})

test('squashed commits become one', async () => {
  await commit('fix', 'd.txt', 'd\n')
  const { squashCommitSha, mergeCommitSha } = await merge({ squash: true, squashCommitMessage: 'Both' })
  expect(git('rev-parse', 'main^2')).toBe(squashCommitSha)
  expect(git('log', '-1', '--format=%s', squashCommitSha!)).toBe('Both')
  expect(git('rev-list', '--count', `${mergeCommitSha}^1..${mergeCommitSha}`)).toBe('2')
})

test('the fast-forward method moves the branch, if the source branch is ahead', async () => {
  await setMethod({ mergeMethod: 'ff' })
  expect((await merge()).mergeCommitSha).toBeUndefined()
  expect(git('rev-parse', 'main')).toBe(fix)
  await commit('other', 'o.txt', 'o\n', 'main')
  await commit('main', 'm.txt', 'm\n')
  const draft = { project: project.id, title: 'Other', sourceBranch: 'other', targetBranch: 'main' }
  await world.perform(mira, createMergeRequest, draft)
  expect(await merge({ mergeRequestIid: 2 }).catch(failure)).toEqual(notMergeable)
})

test('conflicts, a wrong head, drafts and missing permissions are refused, and nothing changes', async () => {
  await commit('main', 'b.txt', 'other\n')
  const tip = git('rev-parse', 'main')
  expect(await merge().catch(failure)).toEqual(notMergeable)
  const reason = `SHA does not match HEAD of source branch: ${fix}`
  expect(await merge({ sha: tip }).catch(failure)).toEqual({ code: 'conflict', reason })
  expect(await merge({}, noor).catch(failure)).toEqual({ code: 'unauthenticated' })
  await world.perform(mira, updateMergeRequest, { ...one(), title: 'Draft: Fix' })
  expect(await merge().catch(failure)).toEqual(notAllowed)
  expect(git('rev-parse', 'main')).toBe(tip)
})

test('the project can require resolved discussions and a passed pipeline', async () => {
  await setMethod({ onlyAllowMergeIfAllDiscussionsAreResolved: true })
  const { id } = await world.perform(noor, mergeRequestDiscussions.create, { ...one(), body: 'Why?' })
  expect(await merge().catch(failure)).toEqual(notAllowed)
  await world.perform(mira, mergeRequestDiscussions.resolve, { ...one(), discussionId: id, resolved: true })
  await setMethod({ onlyAllowMergeIfPipelineSucceeds: true })
  expect(await merge().catch(failure)).toEqual(notAllowed)
  await setMethod({ onlyAllowMergeIfPipelineSucceeds: false })
  expect((await merge()).state).toBe('merged')
})
