import {
  accessLevels,
  createIssue,
  type Group,
  groupMilestones,
  type Project,
  projectMilestones,
  type User,
  updateIssue,
} from '@penstock/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { GraphqlServer } from '../../http/graphql-server.harness.ts'

let server: GraphqlServer
let alice: User
let acme: Group
let web: Group
let app: Project

beforeEach(async () => {
  server = await GraphqlServer.start()
  const { world } = server
  alice = await world.user('alice')
  acme = await world.group('acme')
  web = await world.group('web', { parent: acme })
  app = await world.project('app', web)
  await world.member(acme, alice, accessLevels.developer)
})
afterEach(() => server.close())

const inGroup = (group: Group, title: string, more: object = {}) =>
  server.world.perform(alice, groupMilestones.create, { parent: group.id, title, ...more })
const inProject = (title: string, more: object = {}) =>
  server.world.perform(alice, projectMilestones.create, { parent: app.id, title, ...more })
const ask = async (query: string, as: User | undefined = alice) => (await server.ask(query, as && { as })).body
const titlesOf = async (place: string, args: string) => {
  const { data, errors } = await ask(`{ ${place} { milestones${args && `(${args})`} { nodes { title } } } }`)
  expect(errors).toBeUndefined()
  const [found] = Object.values(data) as { milestones: { nodes: { title: string }[] } }[]
  return found!.milestones.nodes.map(({ title }) => title).join(' ')
}

test('lists milestones of a group and its ancestors', async () => {
  const { world } = server
  const spring = await inGroup(acme, 'Spring', { startDate: '2026-01-15', dueDate: '2026-02-20' })
  await inGroup(acme, 'Autumn', { startDate: '2026-08-15', dueDate: '2026-09-20' })
  for (const title of ['A', 'B', 'C']) {
    await world.perform(alice, createIssue, { project: app.id, title, milestoneId: spring.id })
  }
  await world.perform(alice, updateIssue, { project: app.id, issueIid: 2, stateEvent: 'close' })
  const fields =
    'id iid title state startDate dueDate expired upcoming webPath groupMilestone subgroupMilestone projectMilestone ' +
    'group { fullPath } project { fullPath } stats { totalIssuesCount closedIssuesCount }'
  const body = await ask(`{ group(fullPath: "acme/web") {
    milestones(state: active, includeAncestors: true, timeframe: { start: "2026-02-01", end: "2026-02-28" }) { nodes { ${fields} } }
  } }`)
  expect(body).toEqual({
    data: {
      group: {
        milestones: {
          nodes: [
            {
              id: 'gid://svc/Milestone/1',
              iid: '1',
              title: 'Spring',
              state: 'active',
              startDate: '2026-01-15',
              dueDate: '2026-02-20',
              expired: false,
              upcoming: false,
              webPath: '/groups/acme/-/milestones/1',
              groupMilestone: true,
              subgroupMilestone: false,
              projectMilestone: false,
              group: { fullPath: 'acme' },
              project: null,
              stats: { totalIssuesCount: 3, closedIssuesCount: 1 },
            },
          ],
        },
      },
    },
  })
})

test('filters and sorts', async () => {
  await inProject('Late', { dueDate: '2026-01-10' })
  await server.world.clock.advance(1_000)
  await inProject('Soon', { startDate: '2026-02-01', dueDate: '2026-02-10' })
  await server.world.clock.advance(1_000)
  const open = await inProject('Open end')
  await inProject('Far', { startDate: '2026-06-01', dueDate: '2026-07-01' })
  await server.world.perform(alice, projectMilestones.update, {
    parent: app.id,
    milestoneId: open.id,
    stateEvent: 'close',
  })
  await inGroup(acme, 'Above', { dueDate: '2026-12-31' })
  const project = 'project(fullPath: "acme/web/app")'
  const expected: [string, string][] = [
    ['', 'Late Soon Far Open end'],
    ['sort: DUE_DATE_DESC', 'Far Soon Late Open end'],
    ['sort: EXPIRED_LAST_DUE_DATE_ASC', 'Soon Far Open end Late'],
    ['sort: EXPIRED_LAST_DUE_DATE_DESC', 'Far Soon Open end Late'],
    ['sort: CREATED_DESC', 'Far Open end Soon Late'],
    ['sort: updated_asc', 'Late Soon Open end Far'],
    ['state: closed', 'Open end'],
    ['title: "Soon"', 'Soon'],
    ['title: "soon"', ''],
    ['searchTitle: "OO"', 'Soon'],
    ['containingDate: "2026-02-05T10:00:00Z"', 'Soon'],
    ['timeframe: { start: "2026-02-10", end: "2026-06-01" }', 'Soon Far'],
    [`ids: ["gid://svc/Milestone/${open.id}"]`, 'Open end'],
    ['ids: []', ''],
    ['includeAncestors: true', 'Late Soon Far Above Open end'],
  ]
  for (const [args, titles] of expected) expect([args, await titlesOf(project, args)]).toEqual([args, titles])
  expect(await titlesOf('group(fullPath: "acme")', 'includeDescendants: true, state: active')).toBe(
    'Late Soon Far Above',
  )
  for (const sort of ['DUE_DATE_DESC', 'EXPIRED_LAST_DUE_DATE_ASC', 'CREATED_ASC']) {
    const seen: string[] = []
    for (let after = ''; seen.length < 4; ) {
      const { data } = await ask(`{ ${project} { milestones(sort: ${sort}, first: 1, after: "${after}") {
        nodes { title } pageInfo { endCursor } } } }`)
      seen.push(data.project.milestones.nodes[0].title)
      after = data.project.milestones.pageInfo.endCursor
    }
    expect(seen.join(' ')).toBe(await titlesOf(project, `sort: ${sort}`))
  }
})

test('reports invalid arguments at the field', async () => {
  const wrong = (args: string) => ask(`{ group(fullPath: "acme") { milestones(${args}) { nodes { id } } } }`)
  expect(await wrong('ids: ["gid://svc/Project/1"]')).toMatchObject({
    data: { group: { milestones: null } },
    errors: [{ message: 'gid://svc/Project/1 is not a valid ID for Milestone.', path: ['group', 'milestones'] }],
  })
  expect(await wrong('timeframe: { start: "2026-03-02", end: "2026-03-01" }')).toMatchObject({
    data: { group: { milestones: null } },
    errors: [{ message: 'Start date, End date is invalid' }],
  })
})

test('returns null in place of a list to callers who may not read milestones', async () => {
  const { world } = server
  const open = await world.group('open', { visibility: 'public' })
  const root = await world.user('root', { isAdministrator: true })
  const { id } = await world.perform(root, groupMilestones.create, { parent: 'open', title: 'Seen' })
  const query = `{ group(fullPath: "open") { milestones { nodes { title } } } milestone(id: "gid://svc/Milestone/${id}") { title } }`
  expect(await ask(query, alice)).toEqual({
    data: { group: { milestones: { nodes: [{ title: 'Seen' }] } }, milestone: { title: 'Seen' } },
  })
  const anonymous = (await server.ask(query)).body
  expect(anonymous).toEqual({ data: { group: { milestones: null }, milestone: null } })
  expect(open.id).toBeGreaterThan(0)
  const hidden = await inGroup(acme, 'Hidden')
  const stranger = await world.user('sue')
  const { body } = await server.ask(`{ milestone(id: "gid://svc/Milestone/${hidden.id}") { title } }`, { as: stranger })
  expect(body).toEqual({ data: { milestone: null } })
})

test('needs a number of statements that depends on the document, not on the number of milestones', async () => {
  const { world } = server
  const query = `{
    group(fullPath: "acme") { milestones(includeDescendants: true) { nodes { title stats { totalIssuesCount } group { name } project { name } } } }
    project(fullPath: "acme/web/app") { issues { count weight nodes {
      title author { id } assignees { nodes { id } } labels { count nodes { title } }
      milestone { title stats { closedIssuesCount } } userPermissions { updateIssue }
    } } issueStatusCounts { all } }
  }`
  const fill = async (round: number) => {
    for (const number of [1, 2, 3]) {
      const name = `${round}-${number}`
      await inGroup(web, `group ${name}`)
      const { id } = await inProject(`project ${name}`)
      await world.perform(alice, createIssue, {
        project: app.id,
        title: name,
        milestoneId: id,
        labels: [`a${name}`, `b${name}`],
        assigneeIds: [alice.id],
      })
    }
  }
  const cost = async () => {
    await ask(query)
    return server.world.statements(async () => expect((await ask(query)).errors).toBeUndefined())
  }
  await fill(1)
  const few = await cost()
  await fill(2)
  await fill(3)
  expect(await cost()).toBe(few)
})
