import { WORLD_BEGINS_MS, World } from '@penstock/testkit'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { accessLevels } from '../../base/model/access-level.ts'
import type { Group } from '../../base/model/group.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import { projectLabels } from '../labels/label-operations.ts'
import { getProjectMergeRequest, updateMergeRequest } from '../merge-requests/merge-request-operations.ts'
import { listGroupMilestoneMergeRequests } from '../merge-requests/milestone-merge-requests.ts'
import type { Milestone } from '../milestones/milestone.ts'
import { groupMilestones, projectMilestones } from '../milestones/milestone-operations.ts'
import { createIssue, getProjectIssue, updateIssue } from './issue-operations.ts'
import {
  listGroupMilestoneBurndownEvents,
  listGroupMilestoneIssues,
  listProjectMilestoneIssues,
} from './milestone-issues.ts'

const DAY_MS = 86_400_000

let world: World
let mira: User
let guest: User
let ops: Group
let tools: Project
let below: Project
let spring: Milestone

beforeEach(async () => {
  world = await World.open()
  mira = await world.user('mira')
  guest = await world.user('guest')
  ops = await world.group('ops')
  await world.member(ops, mira, accessLevels.developer)
  await world.member(ops, guest, accessLevels.guest)
  tools = await world.project('tools', ops)
  below = await world.project('below', await world.group('infra', { parent: ops }))
  const dates = { startDate: '2026-02-01', dueDate: '2026-02-28' }
  spring = await world.perform(mira, groupMilestones.create, { parent: 'ops', title: 'Spring', ...dates })
})

afterEach(() => world.close())

const issue = (
  title: string,
  { project = tools, ...fields }: { project?: Project; confidential?: true; labels?: string[] } = {},
) => world.perform(mira, createIssue, { project: project.id, title, milestoneId: spring.id, ...fields })
const mergeRequest = (sourceBranch: string, project = tools, fields: object = {}) =>
  world.mergeRequest(mira, {
    ...{ project: project.id, title: sourceBranch, milestoneId: spring.id },
    ...{ sourceBranch, targetBranch: 'main', ...fields },
  })
const one = () => ({ parent: 'ops', milestoneId: spring.id })
const titles = ({ items }: { items: readonly { title: string }[] }) => items.map(({ title }) => title)

test('lists the visible issues of the group’s direct projects', async () => {
  await issue('open')
  await issue('confidential', { confidential: true })
  await issue('of a subgroup', { project: below })
  await world.perform(mira, createIssue, { project: tools.id, title: 'of no milestone' })
  const list = async (actor: User) => titles(await world.perform(actor, listGroupMilestoneIssues, one())).sort()
  expect(await list(mira)).toEqual(['confidential', 'open'])
  expect(await list(guest)).toEqual(['open'])
})

test('lists the visible merge requests of the group’s direct projects', async () => {
  await mergeRequest('retry')
  await mergeRequest('other', below)
  const list = async (actor: User) => titles(await world.perform(actor, listGroupMilestoneMergeRequests, one()))
  expect(await list(mira)).toEqual(['retry'])
  expect(await list(guest)).toEqual([])
})

test('orders issues and merge requests of any state by label priority, then the newest first', async () => {
  const label = (name: string, priority?: number) =>
    world.perform(mira, projectLabels.create, { parent: tools.id, name, color: '#123456', priority })
  await label('soon', 2)
  await label('now', 1)
  await label('whatever')
  const labels = [['whatever'], ['soon'], [], ['soon', 'now']]
  for (const [index, names] of labels.entries()) {
    const { iid } = await issue(`i${index}`, { labels: names })
    if (index === 1) await world.perform(mira, updateIssue, { project: tools.id, issueIid: iid, stateEvent: 'close' })
    const request = await mergeRequest(`m${index}`, tools, { labels: names })
    const which = { project: tools.id, mergeRequestIid: request.iid }
    if (index === 3) await world.perform(mira, updateMergeRequest, { ...which, stateEvent: 'close' })
  }
  expect(titles(await world.perform(mira, listGroupMilestoneIssues, one()))).toEqual(['i3', 'i1', 'i2', 'i0'])
  expect(titles(await world.perform(mira, listGroupMilestoneMergeRequests, one()))).toEqual(['m3', 'm1', 'm2', 'm0'])
  const second = await world.perform(mira, listGroupMilestoneIssues, { ...one(), page: 2, perPage: 3 })
  expect([titles(second), second.total, second.hasNext]).toEqual([['i0'], 4, false])
})

test('lists the issues of a project milestone', async () => {
  const own = await world.perform(mira, projectMilestones.create, { parent: tools.id, title: 'v1' })
  await world.perform(mira, createIssue, { project: tools.id, title: 'x', milestoneId: own.id })
  const page = await world.perform(mira, listProjectMilestoneIssues, { parent: tools.id, milestoneId: own.id })
  expect(titles(page)).toEqual(['x'])
})

test('burndown lists when visible issues were created, closed and reopened', async () => {
  const { iid } = await issue('x')
  await issue('hidden', { confidential: true })
  const set = async (stateEvent: 'close' | 'reopen') => {
    await world.clock.advance(DAY_MS)
    await world.perform(mira, updateIssue, { project: tools.id, issueIid: iid, stateEvent })
  }
  await set('close')
  await set('reopen')
  const events = await world.perform(guest, listGroupMilestoneBurndownEvents, one())
  expect(events.map(({ atMs, action }) => [new Date(atMs).toISOString(), action])).toEqual([
    ['2026-02-03T04:05:06.789Z', 'created'],
    ['2026-02-04T04:05:06.789Z', 'closed'],
    ['2026-02-05T04:05:06.789Z', 'reopened'],
  ])
})

test('burndown is empty unless the milestone has both dates', async () => {
  await issue('x')
  for (const dates of [{ startDate: '' }, { startDate: '2026-02-01', dueDate: '' }]) {
    await world.perform(mira, groupMilestones.update, { ...one(), ...dates })
    expect(await world.perform(mira, listGroupMilestoneBurndownEvents, one())).toEqual([])
  }
})

test('burndown returns 100,000 changes, and rejects the request if there are more', async () => {
  const { id } = await issue('x')
  await issue('hidden', { confidential: true })
  const change = (times: number) =>
    world.core.db.write((tx) =>
      sql`insert into issue_state_events (issue_id, action, at_ms)
        with recursive n(i) as (select 1 union all select i + 1 from n where i < ${sql.lit(times)})
        select ${sql.lit(id)}, case when i % 2 = 1 then 'closed' else 'reopened' end, ${sql.lit(WORLD_BEGINS_MS)} from n`.execute(
        tx,
      ),
    )
  await change(100_000)
  const events = await world.perform(guest, listGroupMilestoneBurndownEvents, one())
  expect([events.length, events.at(-1)?.action]).toEqual([100_001, 'reopened'])
  await change(1)
  const refused = world.perform(guest, listGroupMilestoneBurndownEvents, one())
  await expect(refused.catch(({ failure }) => failure)).resolves.toEqual({
    code: 'refused',
    message: 'The issues of the milestones have changed more than 100000 times',
  })
})

test('a milestone with open issues can be closed', async () => {
  await issue('x')
  const closed = await world.perform(mira, groupMilestones.update, { ...one(), stateEvent: 'close' })
  expect(closed).toMatchObject({ state: 'closed' })
})

test('removing a milestone clears it from its issues and merge requests', async () => {
  const [{ iid: issueIid }, { iid: mergeRequestIid }] = [await issue('x'), await mergeRequest('retry')]
  await world.perform(mira, groupMilestones.remove, one())
  const project = tools.id
  expect(await world.perform(mira, getProjectIssue, { project, issueIid })).toMatchObject({ milestone: undefined })
  const left = await world.perform(mira, getProjectMergeRequest, { project, mergeRequestIid })
  expect(left).toMatchObject({ milestone: undefined })
})
