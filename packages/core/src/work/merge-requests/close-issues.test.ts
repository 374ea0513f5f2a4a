import { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { accessLevels } from '../../base/model/access-level.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import { updateProject } from '../../code/projects/project-operations.ts'
import { createCommit } from '../../code/repositories/commit-operations.ts'
import { issueNotes } from '../discussions/note-operations.ts'
import { createIssue, getProjectIssue } from '../issues/issue-operations.ts'
import { mergeMergeRequest } from './merge-request-merge.ts'
import { createMergeRequest } from './merge-request-operations.ts'

let world: World
let mira: User
let root: User
let tools: Project
let shop: Project

beforeEach(async () => {
  world = await World.open()
  mira = await world.user('mira')
  root = await world.user('root', { isAdministrator: true })
  const group = await world.group('ops', { visibility: 'public' })
  tools = await world.project('tools', group, 'public')
  shop = await world.project('shop', group, 'public')
  await world.member(tools, mira, accessLevels.maintainer)
  await commit('main', 'Begin')
})
afterEach(() => world.close())

const commit = (branch: string, commitMessage: string, startBranch?: string) => {
  const actions = [{ action: 'create', filePath: `${branch}.txt`, content: 'text' }]
  return world.perform(mira, createCommit, { project: tools.id, branch, commitMessage, startBranch, actions })
}
const issueIn = async (project: Project, actor = root) =>
  (await world.perform(actor, createIssue, { project: project.id, title: 'Leak' })).iid
const stateIn = async (project: Project, issueIid: number) =>
  (await world.perform(root, getProjectIssue, { project: project.id, issueIid })).state

async function merge(description: string, { message = 'Fix', targetBranch = 'main' } = {}) {
  await commit('fix', message, 'main')
  const draft = { project: tools.id, title: 'Fix', sourceBranch: 'fix', targetBranch, description }
  const { iid } = await world.perform(mira, createMergeRequest, draft)
  await world.perform(mira, mergeMergeRequest, { project: tools.id, mergeRequestIid: iid })
}

test('a merge closes the issues that the description and the commits name', async () => {
  const [named, inCommit, mentioned] = [await issueIn(tools), await issueIn(tools), await issueIn(tools)]
  await merge(`Closes #${named}, see #${mentioned}`, { message: `Fixes #${inCommit}` })
  expect([await stateIn(tools, named), await stateIn(tools, inCommit)]).toEqual(['closed', 'closed'])
  expect(await stateIn(tools, mentioned)).toBe('opened')
  const { items } = await world.perform(mira, issueNotes.list, { project: tools.id, issueIid: named })
  expect(items.map(({ body, author }) => [body, author?.username])).toEqual([['closed via merge request !1', 'mira']])
})

test('in other projects only issues close that the actor may close', async () => {
  const [foreign, own] = [await issueIn(shop), await issueIn(shop, mira)]
  await merge(`Closes ops/shop#${foreign} and ops/shop#${own}`)
  expect([await stateIn(shop, foreign), await stateIn(shop, own)]).toEqual(['opened', 'closed'])
  const { items } = await world.perform(mira, issueNotes.list, { project: shop.id, issueIid: own })
  expect(items.map(({ body }) => body)).toEqual(['closed via merge request ops/tools!1'])
})

test('nothing closes if the project switched it off, or with a merge into another branch', async () => {
  const iid = await issueIn(tools)
  await commit('stable', 'Begin again', 'main')
  await merge(`Closes #${iid}`, { targetBranch: 'stable' })
  expect(await stateIn(tools, iid)).toBe('opened')
  await world.perform(root, updateProject, { project: tools.id, autocloseReferencedIssues: false })
  const draft = { project: tools.id, title: 'Fix', sourceBranch: 'stable', targetBranch: 'main' }
  await world.perform(mira, createMergeRequest, { ...draft, description: `Closes #${iid}` })
  await world.perform(mira, mergeMergeRequest, { project: tools.id, mergeRequestIid: 2 })
  expect(await stateIn(tools, iid)).toBe('opened')
})
