import {
  accessLevels,
  createIssue,
  type Group,
  groupLabels,
  type Project,
  projectLabels,
  projectMilestones,
  type User,
  updateIssue,
} from '@penstock/core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { GraphqlServer } from '../../http/graphql-server.harness.ts'

let server: GraphqlServer
let alice: User
let guest: User
let stranger: User
let acme: Group
let app: Project

beforeEach(async () => {
  server = await GraphqlServer.start()
  const { world } = server
  const root = await world.user('root', { isAdministrator: true })
  alice = await world.user('alice')
  guest = await world.user('gus')
  stranger = await world.user('sue')
  acme = await world.group('acme', { visibility: 'public' })
  app = await world.project('app', acme, 'public')
  await world.member(app, alice, accessLevels.developer)
  await world.member(app, guest, accessLevels.guest)
  await world.perform(root, groupLabels.create, { parent: 'acme', name: 'bug', color: '#ff0000', priority: 1 })
  await world.perform(root, projectLabels.create, { parent: 'acme/app', name: 'docs', color: '#00ff00' })
})
afterEach(() => server.close())

const create = (title: string, more: object = {}, actor: User = alice) =>
  server.world.perform(actor, createIssue, { project: 'acme/app', title, ...more })
const update = (issueIid: number, changes: object) =>
  server.world.perform(alice, updateIssue, { project: 'acme/app', issueIid, ...changes })
const ask = async (query: string, as?: User) => (await server.ask(query, as && { as })).body
const titlesOf = async (args: string, as: User | undefined = alice) => {
  const { data, errors } = await ask(`{ project(fullPath: "acme/app") { issues(${args}) { nodes { title } } } }`, as)
  expect(errors).toBeUndefined()
  return data.project.issues.nodes.map(({ title }: { title: string }) => title).join(' ')
}

test('shows all fields of an issue', async () => {
  const { world } = server
  const spring = await world.perform(alice, projectMilestones.create, { parent: 'acme/app', title: 'Spring' })
  await create('Cache misses', {
    description: '- [ ] look\n- [x] listen\n',
    labels: ['docs', 'bug'],
    assigneeIds: [guest.id],
    milestoneId: spring.id,
    dueDate: '2026-04-01',
    confidential: true,
    discussionLocked: true,
  })
  const fields = `id iid title state type confidential discussionLocked dueDate createdAt closedAt webUrl webPath projectId
    short: reference full: reference(full: true) taskCompletionStatus { count completedCount } severity upvotes
    author { id } assignees { count nodes { id } } participants { nodes { id } } milestone { title }
    labels { count nodes { id title } } userPermissions { adminIssue updateIssue createNote }`
  const { data } = await ask(`{ issue(id: "gid://svc/Issue/1") { ${fields} } }`, alice)
  expect(data.issue).toEqual({
    id: 'gid://svc/Issue/1',
    iid: '1',
    title: 'Cache misses',
    state: 'opened',
    type: 'ISSUE',
    confidential: true,
    discussionLocked: true,
    dueDate: '2026-04-01',
    createdAt: '2026-02-03T04:05:06Z',
    closedAt: null,
    webUrl: 'https://svc.example.test/acme/app/-/issues/1',
    webPath: '/acme/app/-/issues/1',
    projectId: app.id,
    short: '#1',
    full: 'acme/app#1',
    taskCompletionStatus: { count: 2, completedCount: 1 },
    severity: 'UNKNOWN',
    upvotes: 0,
    author: { id: `gid://svc/User/${alice.id}` },
    assignees: { count: 1, nodes: [{ id: `gid://svc/User/${guest.id}` }] },
    participants: { nodes: [{ id: `gid://svc/User/${alice.id}` }, { id: `gid://svc/User/${guest.id}` }] },
    milestone: { title: 'Spring' },
    labels: {
      count: 2,
      nodes: [
        { id: 'gid://svc/GroupLabel/1', title: 'bug' },
        { id: 'gid://svc/ProjectLabel/2', title: 'docs' },
      ],
    },
    userPermissions: { adminIssue: true, updateIssue: true, createNote: true },
  })
  const hidden = '{ issue(id: "gid://svc/Issue/1") { id } project(fullPath: "acme/app") { issues { count } } }'
  for (const reader of [stranger, undefined]) {
    expect(await ask(hidden, reader)).toEqual({ data: { issue: null, project: { issues: { count: 0 } } } })
  }
})

test('lets an author update an issue, but not administer it', async () => {
  await create('Mine', {}, guest)
  const { data } = await ask('{ issue(id: "gid://svc/Issue/1") { userPermissions { adminIssue updateIssue } } }', guest)
  expect(data.issue.userPermissions).toEqual({ adminIssue: false, updateIssue: true })
})

describe('filters', () => {
  beforeEach(async () => {
    const { world } = server
    const parent = { parent: 'acme/app' }
    const now = { startDate: '2026-01-01', dueDate: '2026-03-01' }
    const begun = await world.perform(alice, projectMilestones.create, { ...parent, title: 'Begun', ...now })
    const later = { startDate: '2026-05-01', dueDate: '2026-06-01' }
    const ahead = await world.perform(alice, projectMilestones.create, { ...parent, title: 'Ahead', ...later })
    await create('A', { labels: ['bug'], milestoneId: begun.id, dueDate: '2026-03-01', weight: 3 })
    await world.clock.advance(1_000)
    await create('B', { labels: ['bug', 'docs'], milestoneId: ahead.id, assigneeIds: [alice.id, guest.id] })
    await world.clock.advance(1_000)
    await create('C', { labels: ['docs'], dueDate: '2026-02-10', weight: 4 })
    await world.clock.advance(1_000)
    await create('D', { description: 'a needle in hay' }, guest)
    await update(1, { stateEvent: 'close' })
    await update(4, { confidential: true })
  })

  test.each([
    ['state: opened', 'D C B'],
    ['state: closed', 'A'],
    ['state: locked', ''],
    ['state: all', 'D C B A'],
    ['iid: "2"', 'B'],
    ['iids: ["1", "3", "x"]', 'C A'],
    ['authorUsername: "GUS"', 'D'],
    ['assigneeUsernames: ["alice", "gus"]', 'B'],
    ['assigneeUsername: "gus"', 'B'],
    ['assigneeUsername: "gus", assigneeUsernames: ["alice"]', 'B'],
    ['assigneeUsername: "gus", assigneeUsernames: ["unknown"]', ''],
    ['assigneeWildcardId: NONE', 'D C A'],
    ['assigneeWildcardId: ANY', 'B'],
    ['assigneeId: "None"', 'D C A'],
    ['confidential: true', 'D'],
    ['confidential: false', 'C B A'],
    ['labelName: ["bug", "docs"]', 'B'],
    ['labelName: ["None"]', 'D'],
    ['milestoneTitle: ["Begun", "Ahead"]', 'B A'],
    ['milestoneWildcardId: NONE', 'D C'],
    ['milestoneWildcardId: ANY', 'B A'],
    ['milestoneWildcardId: STARTED', 'A'],
    ['milestoneWildcardId: UPCOMING', 'B A'],
    ['types: [ISSUE, TASK]', 'D C B A'],
    ['types: [TASK]', ''],
    ['createdAfter: "2026-02-03T04:05:08Z"', 'D C'],
    ['createdBefore: "2026-02-03T04:05:08Z"', 'B A'],
    ['closedAfter: "2026-01-01"', 'A'],
    ['closedBefore: "2026-01-01"', ''],
    ['dueAfter: "2026-02-11"', 'A'],
    ['dueBefore: "2026-02-11T12:00:00Z"', 'C'],
    ['search: "Needle"', 'D'],
    ['search: "Needle", in: [TITLE]', ''],
    ['labelName: ["bug", "docs", "any"]', 'B'],
    ['labelName: ["bug", "docs", "none"]', ''],
    ['labelName: ["bug", "nothing"]', ''],
    ['not: { labelName: ["bug"] }', 'D C'],
    ['not: { labelName: ["bug", "docs"] }', 'D'],
    ['not: { labelName: ["None", "bug"] }', 'C'],
    ['or: { labelNames: ["none", "docs"] }', 'D C B'],
    ['assigneeUsernames: ["GUS", "gus"]', 'B'],
    ['assigneeUsernames: ["gus", "unknown"]', ''],
    ['not: { iids: ["1"], authorUsername: ["gus"] }', 'C B'],
    ['not: { assigneeUsernames: ["gus"] }', 'D C A'],
    ['not: { milestoneTitle: ["Begun"] }', 'D C B'],
    ['not: { milestoneWildcardId: STARTED }', 'B'],
    ['not: { types: [ISSUE] }', ''],
    ['or: { labelNames: ["bug", "docs"] }', 'C B A'],
    ['or: { authorUsernames: ["gus", "unknown"], assigneeUsernames: [] }', 'D'],
    ['or: { assigneeUsernames: ["gus", "unknown"] }', 'B'],
    ['sort: CREATED_ASC', 'A B C D'],
    ['sort: created_asc', 'A B C D'],
    ['sort: DUE_DATE_ASC', 'C A B D'],
    ['sort: DUE_DATE_DESC', 'A C D B'],
    ['sort: CLOSED_AT_DESC', 'A D C B'],
    ['sort: CLOSED_AT_ASC', 'A B C D'],
    ['sort: TITLE_DESC', 'D C B A'],
    ['sort: LABEL_PRIORITY_ASC', 'B A D C'],
    ['sort: MILESTONE_DUE_ASC', 'A B D C'],
    ['sort: PRIORITY_ASC', 'A B D C'],
    ['sort: POPULARITY_DESC', 'D C B A'],
    ['sort: POPULARITY_ASC', 'D C B A'],
    ['sort: SEVERITY_ASC', 'D C B A'],
    ['sort: ESCALATION_STATUS_ASC', 'D C B A'],
    ['sort: RELATIVE_POSITION_ASC', 'D C B A'],
  ])('filters by %s: %s', async (args, expected) => {
    expect(await titlesOf(args)).toBe(expected)
  })

  test('rejects a cursor of another sort order', async () => {
    const sorts = ['TITLE_ASC', 'TITLE_DESC', 'DUE_DATE_ASC', 'CLOSED_AT_ASC', 'PRIORITY_ASC', 'LABEL_PRIORITY_ASC']
    const page = async (sort: string, after: string) => {
      const nodes = `issues(first: 1, sort: ${sort}, after: "${after}") { nodes { title } pageInfo { endCursor } }`
      const { body } = await server.ask(`{ project(fullPath: "acme/app") { ${nodes} } }`, { as: alice })
      return body.errors?.[0].message ?? body.data.project.issues.pageInfo.endCursor
    }
    for (const given of sorts) {
      const cursor = await page(given, '')
      for (const sort of sorts.filter((each) => each !== given)) {
        expect([given, sort, await page(sort, cursor)]).toEqual([given, sort, 'Please provide a valid cursor'])
      }
    }
  })

  test.each(['CREATED_DESC', 'DUE_DATE_ASC', 'CLOSED_AT_DESC', 'LABEL_PRIORITY_ASC', 'PRIORITY_DESC', 'TITLE_ASC'])(
    'pages through each issue once in both directions, sorted by %s',
    async (sort) => {
      const whole = await titlesOf(`sort: ${sort}`)
      const walk = async (step: (cursor: string) => string, end: 'endCursor' | 'startCursor') => {
        const pages: string[] = []
        for (let cursor = ''; pages.length < 4; ) {
          const { data, errors } = await ask(
            `{ project(fullPath: "acme/app") { issues(sort: ${sort}, ${step(cursor)}) { nodes { title } pageInfo { ${end} } } } }`,
            alice,
          )
          expect(errors).toBeUndefined()
          pages.push(data.project.issues.nodes.map(({ title }: { title: string }) => title).join())
          cursor = data.project.issues.pageInfo[end]
        }
        return pages
      }
      expect((await walk((after) => `first: 1, after: "${after}"`, 'endCursor')).join(' ')).toBe(whole)
      const back = await walk((before) => `last: 1, before: "${before}"`, 'startCursor')
      expect(back.toReversed().join(' ')).toBe(whole)
    },
  )

  test('omits confidential issues from lists and counts for callers who may not see them', async () => {
    expect(await titlesOf('state: all', stranger)).toBe('C B A')
    const counts =
      '{ project(fullPath: "acme/app") { issueStatusCounts { all opened closed } issue(iid: "4") { id } } }'
    const { data } = await ask(counts)
    expect(data.project).toEqual({ issueStatusCounts: { all: 3, opened: 2, closed: 1 }, issue: null })
  })

  test('shows the first issue, the total weight and the counts by state', async () => {
    const { data } = await ask(
      `{ project(fullPath: "acme/app") {
        issue(sort: CREATED_ASC) { title }
        issues(labelName: "docs") { count weight }
        all: issues(first: 1) { count weight }
        none: issues(labelName: "nothing") { count weight }
        issueStatusCounts(labelName: ["bug"]) { all opened closed }
      } }`,
      alice,
    )
    expect(data.project).toEqual({
      issue: { title: 'A' },
      issues: { count: 2, weight: 4 },
      all: { count: 4, weight: 7 },
      none: { count: 0, weight: 0 },
      issueStatusCounts: { all: 2, opened: 1, closed: 1 },
    })
  })

  test('lists all issues to signed-in callers with a filter, and issues of a group with or without subgroups', async () => {
    expect(await ask('{ issues(sort: CREATED_ASC) { nodes { title } } }', alice)).toMatchObject({
      data: { issues: null },
      errors: [{ message: 'At least one filter argument is required', path: ['issues'] }],
    })
    expect(await ask('{ issues(state: closed) { nodes { title } } }', alice)).toEqual({
      data: { issues: { nodes: [{ title: 'A' }] } },
    })
    expect(await ask('{ issues(state: closed) { nodes { title } } }')).toEqual({ data: { issues: null } })
    const { world } = server
    const web = await world.group('web', { parent: acme })
    await world.project('site', web)
    await world.member(web, alice, accessLevels.developer)
    await world.perform(alice, createIssue, { project: 'acme/web/site', title: 'Below' })
    const { data } = await ask('{ group(fullPath: "acme") { issues(state: closed) { nodes { title } } } }', alice)
    expect(data.group.issues).toEqual({ nodes: [{ title: 'A' }] })
    const lists = 'own: issues { count } all: issues(includeSubgroups: true) { nodes { title } }'
    const group = (await ask(`{ group(fullPath: "acme") { ${lists} } }`, alice)).data.group
    expect(group).toEqual({
      own: { count: 4 },
      all: { nodes: ['Below', 'D', 'C', 'B', 'A'].map((title) => ({ title })) },
    })
  })
})

test('accepts filters with the maximum number of values for many projects', async () => {
  const { world } = server
  for (let number = 0; number < 40; number += 1) await world.project(`p${number}`, acme, 'public')
  await create('A', { labels: ['docs'] })
  await create('B')
  const numbers = Array.from({ length: 1_000 }, (_, index) => index + 1)
  const names = ['docs', ...numbers.slice(1, 100).map((number) => `label-${number}`)]
  const place = (list: string) => `group(fullPath: "acme") { projects { nodes { ${list} } } }`
  const variables = { iids: numbers.map(String), names, ids: numbers.map((id) => `gid://svc/Milestone/${id}`) }
  const { body } = await server.ask(
    `query ($iids: [String!], $names: [String!], $ids: [ID!]) {
      a: ${place('name issues(iids: $iids, not: { labelName: $names, assigneeUsernames: $names }) { count nodes { title } }')}
      b: ${place('milestones(ids: $ids) { nodes { title } }')}
    }`,
    { as: alice, variables },
  )
  expect(body.errors).toBeUndefined()
  const { nodes } = body.data.a.projects
  expect(nodes).toHaveLength(41)
  expect(nodes.find(({ name }: { name: string }) => name === 'app').issues).toEqual({
    count: 1,
    nodes: [{ title: 'B' }],
  })
  expect(body.data.b.projects.nodes).toHaveLength(41)
})
