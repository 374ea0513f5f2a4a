import { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { DomainError } from '../../base/kit/domain-error.ts'
import { accessLevels } from '../../base/model/access-level.ts'
import type { Group } from '../../base/model/group.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import { createIssue, getProjectIssue } from '../issues/issue-operations.ts'
import { getProjectMergeRequest } from '../merge-requests/merge-request-operations.ts'
import { groupLabels, projectLabels } from './label-operations.ts'
import { promoteProjectLabel } from './label-promotion.ts'
import { projectLabelSubscriptions } from './label-subscriptions.ts'

let world: World
let mira: User
let ops: Group
let lab: Group
let tools: Project
let site: Project

beforeEach(async () => {
  world = await World.open()
  mira = await world.user('mira')
  ops = await world.group('ops')
  lab = await world.group('lab', { parent: ops })
  tools = await world.project('tools', lab)
  site = await world.project('site', lab)
  await world.member(ops, mira, accessLevels.owner)
})
afterEach(() => world.close())

const failure = (error: DomainError) => error.failure
const label = ({ id }: Project | Group, name: string, more: object = {}) =>
  world.perform(mira, projectLabels.create, { parent: id, name, color: '#d9534f', ...more })
const promote = (project: Project, labelId: number | string, actor = mira) =>
  world.perform(actor, promoteProjectLabel, { parent: project.id, labelId }).catch(failure)
const labelsIn = async (operations: typeof projectLabels, { id }: Project | Group) => {
  const { items } = await world.perform(mira, operations.list, { parent: id, includeAncestorGroups: false })
  return items.map(({ name }) => name)
}

test('the group gets the label, and the projects in it lose theirs of that name', async () => {
  const deep = await world.project('deep', await world.group('deep', { parent: lab }))
  const { id } = await label(tools, 'bug', { description: 'Broken', priority: 3 })
  for (const project of [site, deep]) await label(project, 'bug', { color: '#000' })
  await label(tools, 'wish')
  const promoted = await promote(tools, id)
  expect(promoted).toMatchObject({ groupId: lab.id, name: 'bug', color: '#d9534f', description: 'Broken', priority: 3 })
  expect([await labelsIn(groupLabels, lab), await labelsIn(groupLabels, ops)]).toEqual([['bug'], []])
  expect([await labelsIn(projectLabels, tools), await labelsIn(projectLabels, site)]).toEqual([['wish'], []])
  expect(await labelsIn(projectLabels, deep)).toEqual(['bug'])
  expect(await promote(tools, 'bug')).toEqual({ code: 'not_found', what: 'Label' })
})

test('issues, merge requests and subscriptions keep the label', async () => {
  const [noor, leila] = [await world.user('noor'), await world.user('leila')]
  for (const user of [noor, leila]) await world.member(lab, user, accessLevels.reporter)
  const labels = ['bug', 'wish']
  for (const project of [tools, site]) {
    await world.perform(mira, createIssue, { project: project.id, title: 'Leak', labels })
    const branches = { sourceBranch: 'fix', targetBranch: 'main' }
    await world.mergeRequest(mira, { project: project.id, title: 'Fix', ...branches, labels })
    await world.perform(noor, projectLabelSubscriptions.create, { parent: project.id, labelId: 'bug' })
  }
  await promote(tools, 'bug')
  for (const { id: project } of [tools, site]) {
    expect(await world.perform(mira, getProjectIssue, { project, issueIid: 1 })).toMatchObject({ labels })
    expect(await world.perform(mira, getProjectMergeRequest, { project, mergeRequestIid: 1 })).toMatchObject({ labels })
  }
  const subscribed = async (user: User) =>
    (await world.perform(user, groupLabels.get, { parent: lab.id, labelId: 'bug' })).isSubscribed
  expect([await subscribed(noor), await subscribed(leila)]).toEqual([true, false])
})

test("the group's own label with that name stays as it is", async () => {
  const { id } = await label(tools, 'bug')
  await world.perform(mira, createIssue, { project: tools.id, title: 'Leak', labels: ['bug'] })
  const own = await world.perform(mira, groupLabels.create, { parent: lab.id, name: 'bug', color: '#00f' })
  expect(await promote(tools, id)).toMatchObject({ id: own.id, color: '#00f' })
  const issue = await world.perform(mira, getProjectIssue, { project: tools.id, issueIid: 1 })
  expect([issue.labels, await labelsIn(projectLabels, tools)]).toEqual([['bug'], []])
})

test('a name that a group above has is refused, as is a project without a group', async () => {
  await label(tools, 'bug')
  await world.perform(mira, groupLabels.create, { parent: ops.id, name: 'bug', color: '#00f' })
  const taken = { code: 'refused', message: 'Validation failed: Title has already been taken' }
  expect(await promote(tools, 'bug')).toEqual(taken)
  expect(await labelsIn(projectLabels, tools)).toEqual(['bug'])
  const notes = await world.project('notes', mira)
  await label(notes, 'bug')
  const noGroup = { code: 'refused', message: 'Failed to promote project label to group label' }
  expect(await promote(notes, 'bug')).toEqual(noGroup)
})

test('who may change labels in the project only may not promote them', async () => {
  const noor = await world.user('noor')
  await label(tools, 'bug')
  await world.member(tools, noor, accessLevels.owner)
  expect(await promote(tools, 'bug', noor)).toEqual({ code: 'forbidden' })
  await world.member(lab, noor, accessLevels.planner)
  expect(await promote(tools, 'bug', noor)).toMatchObject({ groupId: lab.id })
})

test('events name the new label and those that it replaces', async () => {
  await label(tools, 'bug')
  await label(site, 'bug')
  await promote(tools, 'bug')
  const events = await world.core.db.read
    .selectFrom('events')
    .select(['type', 'object_id', 'project_id', 'group_id'])
    .where('type', 'like', 'label.%')
    .orderBy('id')
    .execute()
  expect(events.slice(2)).toEqual([
    { type: 'label.created', object_id: 3, project_id: null, group_id: lab.id },
    { type: 'label.removed', object_id: 1, project_id: tools.id, group_id: null },
    { type: 'label.removed', object_id: 2, project_id: site.id, group_id: null },
    { type: 'label.promoted', object_id: 3, project_id: tools.id, group_id: null },
  ])
})
