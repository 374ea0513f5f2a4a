import {
  accessLevels,
  createIssue,
  groupMilestones,
  type Project,
  projectLabels,
  type User,
  updateIssue,
} from '@penstock/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { GraphqlServer } from '../../http/graphql-server.harness.ts'

let server: GraphqlServer
let alice: User
let app: Project
const refs = 'projectPath: "acme/app", iid: "1"'

beforeEach(async () => {
  server = await GraphqlServer.start()
  const { world } = server
  alice = await world.user('alice')
  const acme = await world.group('acme')
  app = await world.project('app', acme)
  await world.project('site', acme)
  await world.member(acme, alice, accessLevels.developer)
  await world.perform(alice, createIssue, { project: app.id, title: 'Down', issueType: 'incident', weight: 2 })
  await world.mergeRequest(alice, { project: app.id, title: 'Fix', sourceBranch: 'fix', targetBranch: 'main' })
})
afterEach(() => server.close())

const ask = async (query: string) => (await server.ask(query, { as: alice })).body
const mutate = async (mutation: string) => (await ask(`mutation { ${mutation} }`)).data
const inProject = async (fields: string) => (await ask(`{ project(fullPath: "acme/app") { ${fields} } }`)).data?.project

test('sets the severity of incidents only', async () => {
  const set = `issueSetSeverity(input: { ${refs}, severity: HIGH }) { errors issue { type severity } }`
  expect(await mutate(set)).toEqual({
    issueSetSeverity: { errors: [], issue: { type: 'INCIDENT', severity: 'HIGH' } },
  })
  await mutate(`updateIssue(input: { ${refs}, type: TASK }) { errors }`)
  expect(await mutate(set)).toEqual({
    issueSetSeverity: { errors: ['Severity is only available for incidents'], issue: null },
  })
  expect(await inProject('issues(types: [TASK]) { nodes { type severity } }')).toEqual({
    issues: { nodes: [{ type: 'TASK', severity: 'UNKNOWN' }] },
  })
})

test.each([
  ['issue', 'issues'],
  ['mergeRequest', 'mergeRequests'],
])('subscribes to and tracks the time of %s', async (noun, list) => {
  const one = noun === 'issue' ? 'issue(iid: "1")' : 'mergeRequest(iid: "1")'
  expect(await inProject(`${one} { subscribed timeEstimate humanTimeEstimate }`)).toEqual({
    [noun]: { subscribed: true, timeEstimate: 0, humanTimeEstimate: null },
  })
  const subscription = (state: boolean) =>
    mutate(`${noun}SetSubscription(input: { ${refs}, subscribedState: ${state} }) { errors ${noun} { subscribed } }`)
  const off = { errors: [], [noun]: { subscribed: false } }
  expect(await subscription(false)).toEqual({ [`${noun}SetSubscription`]: off })
  expect(await subscription(false)).toEqual({ [`${noun}SetSubscription`]: off })
  const count = (status: string) => inProject(`${list}(subscribed: ${status}) { count }`)
  expect(await count('EXPLICITLY_UNSUBSCRIBED')).toEqual({ [list]: { count: 1 } })
  expect(await count('EXPLICITLY_SUBSCRIBED')).toEqual({ [list]: { count: 0 } })
  const update = noun === 'issue' ? 'updateIssue' : 'mergeRequestUpdate'
  const fields = `{ errors ${noun} { timeEstimate humanTimeEstimate totalTimeSpent humanTotalTimeSpent } }`
  expect(await mutate(`${update}(input: { ${refs}, timeEstimate: "1d 2h" }) ${fields}`)).toEqual({
    [update]: {
      errors: [],
      [noun]: { timeEstimate: 36_000, humanTimeEstimate: '1d 2h', totalTimeSpent: 0, humanTotalTimeSpent: null },
    },
  })
  expect(await mutate(`${update}(input: { ${refs}, timeEstimate: "soon" }) { errors }`)).toEqual({
    [update]: { errors: ['Time estimate must have a valid format and be greater than or equal to zero.'] },
  })
})

test('moves an issue to another project', async () => {
  const move = `issueMove(input: { ${refs}, targetProjectPath: "acme/site" }) { errors issue { webPath } }`
  expect(await mutate(move)).toEqual({ issueMove: { errors: [], issue: { webPath: '/acme/site/-/issues/1' } } })
  expect(await inProject('issue(iid: "1") { state moved movedTo { webPath } }')).toEqual({
    issue: { state: 'closed', moved: true, movedTo: { webPath: '/acme/site/-/issues/1' } },
  })
  expect(await mutate(move)).toEqual({
    issueMove: { errors: ['Cannot move issue due to insufficient permissions!'], issue: null },
  })
})

test('refuses arguments that it does not apply', async () => {
  const create = 'createIssue(input: { projectPath: "acme/app", title: "A", discussionToResolve: "x" }) { errors }'
  expect(await mutate(create)).toEqual({ createIssue: { errors: ['discussionToResolve is not supported'] } })
  const later = `mergeRequestUpdate(input: { ${refs}, mergeAfter: "2026-03-01T00:00:00Z" }) { errors }`
  expect(await mutate(later)).toEqual({ mergeRequestUpdate: { errors: ['mergeAfter is not supported'] } })
  for (const list of ['issues(crmContactId: "1") { count }', 'mergeRequests(not: { onlyReviewer: true }) { count }']) {
    const { errors } = await ask(`{ project(fullPath: "acme/app") { ${list} } }`)
    expect(errors).toMatchObject([{ message: expect.stringMatching(/ is not supported/) }])
  }
})

test('creates labels of projects and groups, with named colors', async () => {
  const create = (place: string, more = '') =>
    mutate(`labelCreate(input: { ${place}, title: "red" ${more} }) { errors label { title color description } }`)
  expect(await create('projectPath: "acme/app"', 'color: "Crimson", description: "Hot"')).toEqual({
    labelCreate: { errors: [], label: { title: 'red', color: '#dc143c', description: 'Hot' } },
  })
  expect(await create('groupPath: "acme"')).toEqual({
    labelCreate: { errors: [], label: { title: 'red', color: '#6699cc', description: null } },
  })
  expect(await create('projectPath: "acme/app"')).toEqual({
    labelCreate: { errors: ['Label already exists'], label: null },
  })
  const wrong = { parent: app.id, name: 'x', color: 'toString' }
  await expect(server.world.perform(alice, projectLabels.create, wrong)).rejects.toThrow('invalid')
})

test('reports the history of a milestone', async () => {
  const { world } = server
  const dates = { startDate: '2026-02-01', dueDate: '2026-02-20' }
  const { id } = await world.perform(alice, groupMilestones.create, { parent: 'acme', title: 'Spring', ...dates })
  await world.perform(alice, groupMilestones.create, { parent: 'acme', title: 'Undated' })
  await world.perform(alice, updateIssue, { project: app.id, issueIid: 1, milestoneId: id })
  await world.clock.advance(86_400_000)
  await world.perform(alice, createIssue, { project: app.id, title: 'More', milestoneId: id })
  await world.perform(alice, updateIssue, { project: app.id, issueIid: 1, stateEvent: 'close' })
  const fields = 'burnupTimeSeries { date scopeCount scopeWeight completedCount completedWeight }'
  const { data } = await ask(`{ group(fullPath: "acme") { milestones { nodes {
    report { ${fields} } elsewhere: report(fullPath: "acme/site") { burnupTimeSeries { date } } } } } }`)
  const day = (date: string, scopeCount: number, completedCount: number) => ({
    ...{ date, scopeCount, scopeWeight: 2, completedCount, completedWeight: 2 * completedCount },
  })
  expect(data.group.milestones.nodes).toEqual([
    {
      report: { burnupTimeSeries: [day('2026-02-03', 1, 0), day('2026-02-04', 2, 1)] },
      elsewhere: { burnupTimeSeries: [] },
    },
    { report: { burnupTimeSeries: null }, elsewhere: { burnupTimeSeries: null } },
  ])
})
