import { World } from '@penstock/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DomainError } from '../../base/kit/domain-error.ts'
import { accessLevels } from '../../base/model/access-level.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import { projectMilestones } from '../milestones/milestone-operations.ts'
import { createIssue, listProjectIssues, updateIssue } from './issue-operations.ts'

let world: World
let mira: User
let tools: Project
// The world begins on Tuesday, 3 February 2026.
beforeAll(async () => {
  world = await World.open()
  mira = await world.user('mira')
  const noor = await world.user('noor')
  tools = await world.project('tools', await world.group('ops'))
  await world.member(tools, mira, accessLevels.owner)
  await world.member(tools, noor, accessLevels.developer)
  const project = tools.id
  const milestone = { parent: project, title: 'Spring', dueDate: '2026-04-30' }
  const spring = await world.perform(mira, projectMilestones.create, milestone)
  const create = (actor: User, draft: object) => world.perform(actor, createIssue, { project, ...draft })
  await create(mira, { title: 'A', dueDate: '2026-02-03', labels: ['bug', 'ui'], weight: 1, milestoneId: spring.id })
  await create(noor, { title: 'B', dueDate: '2026-02-04', labels: ['bug'], assigneeIds: [mira.id], issueType: 'task' })
  await create(mira, { title: 'C', dueDate: '2026-02-01', issueType: 'incident' })
  await create(mira, { title: 'D', dueDate: '2026-02-28', assigneeIds: [noor.id] })
  await create(mira, { title: 'E', dueDate: '2026-03-31' })
  await create(mira, { title: 'F', dueDate: '2026-01-20' })
  await create(mira, { title: 'G' })
})
afterAll(() => world.close())

const failure = (error: DomainError) => error.failure
const listing = (filter: object) =>
  world.perform(mira, listProjectIssues, { project: tools.id, orderBy: 'title', sort: 'asc', ...filter })
const titles = async (filter: object) => (await listing(filter)).items.map(({ title }) => title).join(' ')

test.each([
  ['0', 'G'],
  ['any', 'A B C D E F'],
  ['today', 'A'],
  ['tomorrow', 'B'],
  ['overdue', 'C F'],
  ['week', 'A B'],
  ['month', 'A B C D'],
  ['next_month_and_previous_two_weeks', 'A B C D E F'],
])('due_date %s', async (dueDate, expected) => {
  expect(await titles({ dueDate })).toBe(expected)
})

test.each([
  [{ labels: ['ui'] }, 'B C D E F G'],
  [{ labels: ['bug', 'ui'] }, 'C D E F G'],
  [{ milestone: 'Spring' }, 'B C D E F G'],
  [{ milestone: 'Any' }, 'B C D E F G'],
  [{ milestone: 'None' }, 'A'],
  [{ milestoneId: 1 }, 'B C D E F G'],
  [{ milestoneId: 'None' }, 'A'],
  [{ authorId: 2 }, 'A C D E F G'],
  [{ authorUsername: 'noor' }, 'A C D E F G'],
  [{ assigneeId: 1 }, 'A C D E F G'],
  [{ assigneeId: 'None' }, 'B D'],
  [{ assigneeUsername: ['noor'] }, 'A B C E F G'],
  [{ iids: [1, 2] }, 'C D E F G'],
  [{ weight: 1 }, 'B C D E F G'],
  [{ issueType: 'issue' }, 'B C'],
])('not %j', async (not, expected) => {
  expect(await titles({ not })).toBe(expected)
})

test('lists issues of a type, also after a change of type', async () => {
  expect(await titles({ issueType: 'incident' })).toBe('C')
  expect(await titles({ issueType: 'task' })).toBe('B')
  const input = { project: tools.id, issueIid: 7 }
  expect(await world.perform(mira, updateIssue, { ...input, issueType: 'incident', severity: 'high' })).toMatchObject({
    type: 'incident',
    severity: 'high',
  })
  expect(await titles({ issueType: 'incident' })).toBe('C G')
  expect(await world.perform(mira, updateIssue, { ...input, issueType: 'issue' })).toMatchObject({
    severity: 'unknown',
  })
  const severe = world.perform(mira, updateIssue, { ...input, severity: 'high' }).catch(failure)
  expect(await severe).toEqual({ code: 'invalid', fields: { severity: ['is only available for incidents'] } })
})

test('shows the details of labels on request', async () => {
  const { items } = await listing({ withLabelsDetails: true, iids: [1, 7] })
  expect(items.map(({ labelDetails }) => labelDetails!.map(({ name, color }) => [name, color]))).toEqual([
    [
      ['bug', '#6699cc'],
      ['ui', '#6699cc'],
    ],
    [],
  ])
})

test.each([
  ['due_date', 'F C A B D E G'],
  ['weight', 'A B C D E F G'],
  // Issues with equal values of related things come newest first.
  ['milestone_due', 'A G F E D C B'],
  ['priority', 'A G F E D C B'],
  ['label_priority', 'G F E D C B A'],
  ['popularity', 'G F E D C B A'],
  ['relative_position', 'G F E D C B A'],
])('orders by %s', async (orderBy, expected) => {
  expect(await titles({ orderBy })).toBe(expected)
})

test('owners choose the iid and the times of an issue', async () => {
  const noor = { ...(await world.user('ada')), isAdministrator: false }
  await world.member(tools, noor, accessLevels.maintainer)
  const draft = { project: tools.id, title: 'Old', iid: 40, createdAt: '2020-01-02T03:04:05Z' }
  expect(await world.perform(noor, createIssue, draft).catch(failure)).toEqual({ code: 'forbidden' })
  expect(await world.perform(mira, createIssue, draft)).toMatchObject({
    iid: 40,
    createdAtMs: Date.UTC(2020, 0, 2, 3, 4, 5),
  })
  const taken = world.perform(mira, createIssue, draft).catch(failure)
  expect(await taken).toEqual({ code: 'conflict', reason: 'Duplicated issue' })
  expect(await world.perform(mira, createIssue, { project: tools.id, title: 'Next' })).toMatchObject({ iid: 41 })
  const again = { project: tools.id, issueIid: 40, updatedAt: '2021-01-02T03:04:05Z' }
  expect(await world.perform(mira, updateIssue, again)).toMatchObject({ updatedAtMs: Date.UTC(2021, 0, 2, 3, 4, 5) })
  expect(await world.perform(noor, updateIssue, again).catch(failure)).toEqual({ code: 'forbidden' })
})
