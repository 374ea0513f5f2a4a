import { World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { DomainError } from '../../base/kit/domain-error.ts'
import { accessLevels } from '../../base/model/access-level.ts'
import type { Group } from '../../base/model/group.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import { groupLabels, projectLabels } from '../labels/label-operations.ts'
import { groupMilestones, projectMilestones } from '../milestones/milestone-operations.ts'
import type { Issue } from './issue.ts'
import { pageOfIssues } from './issue-list-store.ts'
import {
  createIssue,
  getProjectIssue,
  listGroupIssues,
  listIssues,
  listProjectIssues,
  removeIssue,
  updateIssue,
} from './issue-operations.ts'

let world: World
let planner: User
let guest: User
let ops: Group
let tools: Project
beforeEach(async () => {
  world = await World.open()
  planner = await world.user('mira')
  guest = await world.user('noor')
  ops = await world.group('ops')
  tools = await world.project('tools', ops)
  await world.member(ops, planner, accessLevels.planner)
  await world.member(tools, guest, accessLevels.guest)
})
afterEach(() => world.close())

const failure = (error: DomainError) => error.failure
const create = (title: string, more: object = {}, actor = planner, project = tools) =>
  world.perform(actor, createIssue, { project: project.id, title, ...more })
const update = (issue: Issue, changes: object, actor = planner) =>
  world.perform(actor, updateIssue, { project: issue.projectId, issueIid: issue.iid, ...changes })
const titles = ({ items }: { readonly items: readonly Issue[] }) => items.map(({ title }) => title)
const listed = async (filter: object, actor: User | undefined = planner) =>
  titles(await world.perform(actor, listProjectIssues, { project: tools.id, ...filter }))

describe('an issue', () => {
  test('gets the next iid of its project, and missing labels are created', async () => {
    await create('Slow')
    await world.perform(planner, groupLabels.create, { parent: ops.id, name: 'outage', color: '#f00' })
    const { id: milestoneId } = await world.perform(planner, groupMilestones.create, {
      parent: ops.id,
      title: 'Spring',
    })
    const issue = await create('Broken', {
      description: 'It does not start.',
      labels: ['outage', 'bug,ui'],
      assigneeIds: [guest.id],
      milestoneId,
      dueDate: '2026-03-01',
      weight: 3,
    })
    expect(issue).toMatchObject({
      iid: 2,
      projectId: tools.id,
      projectPath: 'ops/tools',
      title: 'Broken',
      state: 'opened',
      author: { username: 'mira' },
      assignees: [{ username: 'noor' }],
      labels: ['bug', 'outage', 'ui'],
      milestone: { title: 'Spring' },
      dueDate: '2026-03-01',
      isConfidential: false,
      weight: 3,
      createdAtMs: Date.UTC(2026, 1, 3, 4, 5, 6, 789),
    })
    const labels = await world.perform(planner, projectLabels.list, { parent: tools.id })
    expect(labels.items.map(({ name, projectId }) => [name, projectId])).toEqual([
      ['bug', tools.id],
      ['outage', undefined],
      ['ui', tools.id],
    ])
  })

  test('cannot have a milestone of another project', async () => {
    const other = await world.project('other', ops)
    const { id } = await world.perform(planner, projectMilestones.create, { parent: other.id, title: 'Spring' })
    const refused = await create('Broken', { milestoneId: id }).catch(failure)
    expect(refused).toEqual({ code: 'invalid', fields: { milestoneId: ['is invalid'] } })
    expect(await listed({})).toEqual([])
  })

  test('is not assigned to users who cannot see the project', async () => {
    const stranger = await world.user('kai')
    const { assignees } = await create('Broken', { assigneeIds: [stranger.id, guest.id, 999] })
    expect(assignees.map(({ username }) => username)).toEqual(['noor'])
  })

  test('stores an event when it is closed and when it is reopened', async () => {
    const issue = await create('Broken')
    await world.clock.advance(1_000)
    const closed = await update(issue, { stateEvent: 'close' })
    expect(closed).toMatchObject({ state: 'closed', closedBy: { username: 'mira' } })
    expect([closed.closedAtMs, closed.updatedAtMs].map((atMs) => atMs! - issue.createdAtMs)).toEqual([1_000, 1_000])
    await update(issue, { stateEvent: 'close' })
    await world.clock.advance(1_000)
    expect(await update(issue, { stateEvent: 'reopen' })).toMatchObject({ state: 'opened', closedBy: undefined })
    const events = await world.core.db.read.selectFrom('issue_state_events').select(['action', 'at_ms']).execute()
    expect(events.map(({ action, at_ms }) => [action, at_ms - issue.createdAtMs])).toEqual([
      ['closed', 1_000],
      ['reopened', 2_000],
    ])
  })

  test('keeps its update time when nothing changes', async () => {
    const issue = await create('Broken', { labels: ['bug'], description: 'Why?' })
    await world.clock.advance(1_000)
    expect(await update(issue, { title: 'Broken', labels: ['bug'] })).toEqual(issue)
    const changed = await update(issue, { addLabels: ['ui'], removeLabels: ['bug'], description: '' })
    expect(changed).toMatchObject({ labels: ['ui'], description: '', updatedAtMs: issue.createdAtMs + 1_000 })
    expect(await update(issue, { labels: [] })).toMatchObject({ labels: [] })
  })

  test('rejects an update without any change', async () => {
    const refused = await update(await create('Broken'), {}).catch(failure)
    expect(refused).toMatchObject({ code: 'parameters', problems: [{ problem: 'at_least_one' }] })
  })
})

describe('permissions', () => {
  test('the author can close and edit an issue but not set its metadata; other guests can do neither', async () => {
    const issue = await create('Broken', { labels: ['bug'], weight: 5 }, guest)
    expect(issue).toMatchObject({ labels: [], weight: undefined })
    const changed = await update(issue, { stateEvent: 'close', title: 'Still broken', labels: ['bug'] }, guest)
    expect(changed).toMatchObject({ state: 'closed', title: 'Still broken', labels: [] })
    const other = await world.user('kai')
    await world.member(tools, other, accessLevels.guest)
    expect(await update(issue, { stateEvent: 'reopen' }, other).catch(failure)).toEqual({ code: 'forbidden' })
  })

  test('only owners can delete an issue', async () => {
    const issue = await create('Broken')
    const one = { project: tools.id, issueIid: issue.iid }
    expect(await world.perform(planner, removeIssue, one).catch(failure)).toEqual({ code: 'forbidden' })
    const owner = await world.user('root')
    await world.member(ops, owner, accessLevels.owner)
    await world.perform(owner, removeIssue, one)
    expect(await listed({})).toEqual([])
    expect(await create('Next')).toMatchObject({ iid: 2 })
  })

  test('only its author, its assignees and planners can see a confidential issue', async () => {
    const [other, assignee] = [await world.user('kai'), await world.user('lena')]
    await world.member(tools, other, accessLevels.guest)
    await world.member(tools, assignee, accessLevels.guest)
    const secret = await create('Leak', { confidential: true }, guest)
    await update(secret, { assigneeId: assignee.id })
    await create('Open')
    const seen = [guest, assignee, planner, other].map((actor) => listed({}, actor))
    expect(await Promise.all(seen)).toEqual([['Open', 'Leak'], ['Open', 'Leak'], ['Open', 'Leak'], ['Open']])
    const one = { project: tools.id, issueIid: secret.iid }
    expect(await world.perform(other, getProjectIssue, one).catch(failure)).toEqual({ code: 'not_found' })
    expect(await update(secret, { stateEvent: 'close' }, other).catch(failure)).toEqual({ code: 'not_found' })
    const everywhere = await world.perform(other, listIssues, { scope: 'all' })
    expect(titles(everywhere)).toEqual(['Open'])
    expect(everywhere.total).toBe(1)
  })

  test('anonymous users see only the non-confidential issues of public projects', async () => {
    const open = await world.project('site', ops, 'public')
    await create('Open', {}, planner, open)
    await create('Leak', { confidential: true }, planner, open)
    const page = await world.perform(undefined, listProjectIssues, { project: open.id })
    expect(titles(page)).toEqual(['Open'])
    const refused = await world.perform(undefined, listProjectIssues, { project: tools.id }).catch(failure)
    expect(refused).toEqual({ code: 'not_found', what: 'Project' })
    expect(await world.perform(undefined, listIssues, {}).catch(failure)).toEqual({ code: 'unauthenticated' })
  })
})

describe('lists', () => {
  test.each([
    [{ labels: ['bug'] }, ['Broken pipe']],
    [{ labels: ['bug', 'ui'] }, []],
    [{ labels: ['None'] }, ['100% CPU']],
    [{ labels: ['any'] }, ['Slow page', 'Broken pipe']],
    [{ milestone: 'Spring' }, ['Slow page']],
    [{ milestone: 'None' }, ['100% CPU', 'Broken pipe']],
    [{ milestone: 'Any' }, ['Slow page']],
    [{ iids: [1, 3, 9] }, ['100% CPU', 'Broken pipe']],
    [{ state: 'opened' }, ['100% CPU', 'Slow page']],
    [{ state: 'closed' }, ['Broken pipe']],
    [{ search: 'PAGE slow' }, ['Slow page']],
    [{ search: '%' }, ['100% CPU']],
    [{ search: 'leaks' }, ['Broken pipe']],
    [{ search: 'leaks', in: ['title'] }, []],
    [{ assigneeId: 'Any' }, ['Slow page']],
    [{ assigneeId: 'none' }, ['100% CPU', 'Broken pipe']],
    [{ assigneeUsername: ['Noor'] }, ['Slow page']],
    [{ authorUsername: 'noor' }, ['100% CPU']],
    [{ confidential: true }, ['Slow page']],
    [{ weight: 2 }, ['Slow page']],
    [{ createdAfter: '2026-02-03T04:05:07.789Z' }, ['100% CPU', 'Slow page']],
    [{ createdBefore: '2026-02-03T04:05:07.789Z' }, ['Slow page', 'Broken pipe']],
    [{ updatedAfter: '2026-02-03T04:05:08.789Z' }, ['100% CPU', 'Broken pipe']],
    [{ orderBy: 'title', sort: 'asc' }, ['100% CPU', 'Broken pipe', 'Slow page']],
    [{ orderBy: 'due_date', sort: 'asc' }, ['Slow page', 'Broken pipe', '100% CPU']],
    [{ orderBy: 'created_at', sort: 'asc' }, ['Broken pipe', 'Slow page', '100% CPU']],
  ])('filter and order by %o', async (filter, expected) => {
    const milestone = await world.perform(planner, projectMilestones.create, { parent: tools.id, title: 'Spring' })
    const pipe = await create('Broken pipe', { labels: ['bug'], description: 'It leaks.', dueDate: '2026-05-01' })
    await world.clock.advance(1_000)
    const sorted = { labels: ['ui'], milestoneId: milestone.id, assigneeIds: [guest.id], weight: 2 }
    await create('Slow page', { ...sorted, confidential: true, dueDate: '2026-04-01' })
    await world.clock.advance(1_000)
    await create('100% CPU', {}, guest)
    await update(pipe, { stateEvent: 'close' })
    expect(await listed(filter)).toEqual(expected)
  })

  test('are ordered by the lowest label priority, issues without one last, and the newest first among equals', async () => {
    for (const [name, priority] of [
      ['now', 1],
      ['soon', 5],
      ['wish', undefined],
    ] as const) {
      await world.perform(planner, projectLabels.create, { parent: tools.id, name, color: '#f00', priority })
    }
    await create('A', { labels: ['wish'] })
    await create('B', { labels: ['soon'] })
    await create('C', { labels: ['soon', 'now'] })
    await create('D')
    await create('E', { labels: ['soon', 'wish'] })
    expect(await listed({ orderBy: 'label_priority' })).toEqual(['C', 'E', 'B', 'D', 'A'])
  })

  test('a group lists issues of all projects below it; a milestone filter can be limited to its direct projects', async () => {
    const infra = await world.group('infra', { parent: ops })
    const deep = await world.project('deep', infra)
    const { id: milestoneId } = await world.perform(planner, groupMilestones.create, {
      parent: ops.id,
      title: 'Spring',
    })
    await create('Near', { milestoneId })
    await create('Deep', { milestoneId }, planner, deep)
    expect(titles(await world.perform(planner, listGroupIssues, { group: 'ops' }))).toEqual(['Deep', 'Near'])
    expect(titles(await world.perform(planner, listGroupIssues, { group: infra.id }))).toEqual(['Deep'])
    const context = { db: world.core.db.read, nowMs: world.clock.nowMs() }
    const within = { group: ops, withSubgroups: false }
    const page = await pageOfIssues(context, planner, { milestoneId, within }, { page: 1, perPage: 20 })
    expect(titles(page)).toEqual(['Near'])
  })

  test('can be limited to created or assigned issues of all projects', async () => {
    await create('Mine', { assigneeIds: [guest.id] })
    await create('Theirs', {}, guest)
    const of = async (input: object) => titles(await world.perform(planner, listIssues, input))
    expect([await of({}), await of({ scope: 'all' }), await of({ scope: 'assigned_to_me' })]).toEqual([
      ['Mine'],
      ['Theirs', 'Mine'],
      [],
    ])
  })

  test('keyset pages contain each issue once', async () => {
    for (const title of ['A', 'B', 'C', 'D', 'E']) await create(title)
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const input = { project: tools.id, pagination: 'keyset', perPage: 2, ...(cursor && { cursor }) }
      const page = await world.perform(planner, listProjectIssues, input)
      seen.push(...titles(page))
      cursor = 'nextCursor' in page ? page.nextCursor : undefined
    } while (cursor !== undefined)
    expect(seen).toEqual(['E', 'D', 'C', 'B', 'A'])
  })

  test('a page of many issues needs as many queries as a page of one issue', async () => {
    const milestone = await world.perform(planner, projectMilestones.create, { parent: tools.id, title: 'Spring' })
    const everything = { labels: ['bug', 'ui'], assigneeIds: [guest.id, planner.id], milestoneId: milestone.id }
    for (const title of ['A', 'B', 'C', 'D', 'E', 'F']) await create(title, everything)
    const queriesFor = async (perPage: number) => {
      let queries = 0
      const db = world.core.db.read.withPlugin({
        transformQuery: ({ node }) => {
          queries += 1
          return node
        },
        transformResult: async ({ result }) => result,
      })
      const page = await pageOfIssues({ db, nowMs: world.clock.nowMs() }, planner, {}, { page: 1, perPage })
      expect(page.items.map(({ labels, assignees }) => [labels, assignees.length])).toEqual(
        Array.from({ length: perPage }, () => [['bug', 'ui'], 2]),
      )
      return queries
    }
    // Neither is the last page, for which the query that counts is skipped.
    expect(await queriesFor(5)).toBe(await queriesFor(1))
  })
})
