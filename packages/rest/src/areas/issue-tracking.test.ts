import { accessLevels, createIssue, projectLabels } from '@penstock/core'
import type { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { RestServer } from '../server/rest-server.harness.ts'
import { issuesArea } from './issues.ts'
import { mergeRequestsArea } from './merge-requests.ts'

let world: World
let server: RestServer
let tokens: Record<'mira' | 'noor', string>
beforeEach(async () => {
  server = await RestServer.start({ areas: [issuesArea, mergeRequestsArea] })
  world = server.world
  const [mira, noor] = [await world.user('mira'), await world.user('noor')]
  tokens = { mira: await server.tokenOf(mira), noor: await server.tokenOf(noor) }
  const ops = await world.group('ops')
  const tools = await world.project('tools', ops)
  const site = await world.project('site', ops)
  await world.member(tools, mira, accessLevels.developer)
  await world.member(tools, noor, accessLevels.guest)
  await world.member(site, mira, accessLevels.developer)
  await world.perform(mira, projectLabels.create, { parent: site.id, name: 'bug', color: '#f00' })
  await world.perform(mira, createIssue, {
    ...{ project: tools.id, title: 'Leak', labels: ['bug', 'ui'], assigneeIds: [noor.id], dueDate: '2026-03-01' },
  })
  await world.mergeRequest(mira, { project: tools.id, title: 'Fix', sourceBranch: 'fix', targetBranch: 'main' })
})
afterEach(() => server.close())

const call = async (request: string, json?: object, who: keyof typeof tokens = 'mira') => {
  const [method, path] = request.split(' ') as [string, string]
  const { status, body } = await server.call(method, path, { token: tokens[who], ...(json && { json }) })
  return [status, body]
}

test.each(['issues/1', 'merge_requests/1'])('tracks the time of %s', async (one) => {
  const at = `projects/1/${one}`
  const none = { time_estimate: 0, total_time_spent: 0, human_time_estimate: null, human_total_time_spent: null }
  expect(await call(`GET ${at}/time_stats`)).toEqual([200, none])
  const estimated = { ...none, time_estimate: 12_600, human_time_estimate: '3h 30m' }
  expect(await call(`POST ${at}/time_estimate`, { duration: '3h 30m' })).toEqual([200, estimated])
  expect(await call(`POST ${at}/time_estimate`, { duration: 'foo' })).toEqual([
    400,
    { message: { time_estimate: ['must have a valid format and be greater than or equal to zero.'] } },
  ])
  expect(await call(`POST ${at}/time_estimate`, {})).toEqual([400, { error: 'duration is missing' }])
  const spent = { ...estimated, total_time_spent: 7_200, human_total_time_spent: '2h' }
  expect(await call(`POST ${at}/add_spent_time`, { duration: '2h', summary: 'Dug' })).toEqual([201, spent])
  expect(await call(`POST ${at}/add_spent_time`, { duration: '-1d' })).toEqual([
    400,
    { message: { base: ['Time to subtract exceeds the total time spent'] } },
  ])
  expect(await call(`POST ${at}/reset_spent_time`)).toEqual([200, estimated])
  expect(await call(`POST ${at}/reset_time_estimate`)).toEqual([200, none])
  expect((await call(`POST ${at}/add_spent_time`, { duration: '1h' }, 'noor'))[0]).toBe(403)
})

test.each(['issues/1', 'merge_requests/1'])('subscribes to %s', async (one) => {
  const at = `projects/1/${one}`
  // The author takes part.
  expect(await call(`POST ${at}/subscribe`)).toEqual([304, undefined])
  expect(await call(`POST ${at}/unsubscribe`)).toMatchObject([201, { subscribed: false }])
  expect(await call(`POST ${at}/unsubscribe`)).toEqual([304, undefined])
  expect(await call(`GET ${at}`)).toMatchObject([200, { subscribed: false }])
  expect(await call(`POST ${at}/subscribe`)).toMatchObject([201, { subscribed: true }])
  expect(await call(`GET ${at}/participants`)).toMatchObject([200, { 0: { username: 'mira' } }])
})

test('moves an issue with its labels, assignees and time', async () => {
  await call('POST projects/1/issues/1/add_spent_time', { duration: '2h' })
  const at = 'POST projects/1/issues/1/move'
  expect(await call(at, { to_project_id: 1 })).toEqual([
    400,
    { message: 'Cannot move issue to project it originates from!' },
  ])
  expect(await call(at, { to_project_id: 99 })).toEqual([404, { message: '404 Project Not Found' }])
  expect(await call(at, { to_project_id: 2 }, 'noor')).toEqual([404, { message: '404 Project Not Found' }])
  expect(await call(at, { to_project_id: 2 })).toMatchObject([
    201,
    {
      iid: 1,
      project_id: 2,
      title: 'Leak',
      labels: ['bug'],
      due_date: '2026-03-01',
      state: 'opened',
      subscribed: true,
    },
  ])
  expect(await call('GET projects/2/issues/1/time_stats')).toMatchObject([200, { human_total_time_spent: '2h' }])
  expect(await call('GET projects/1/issues/1')).toMatchObject([200, { state: 'closed', moved_to_id: 2 }])
  expect(await call(at, { to_project_id: 2 })).toEqual([
    400,
    { message: 'Cannot move issue due to insufficient permissions!' },
  ])
})

test('counts issues by state, with the filters of the list', async () => {
  await call('POST projects/1/issues', { title: 'Other' })
  await call('PUT projects/1/issues/2', { state_event: 'close' })
  const counts = async (path: string) => {
    const [status, body] = await call(`GET ${path}`)
    return [status, (body as { statistics?: { counts: object } }).statistics?.counts ?? body]
  }
  expect(await counts('issues_statistics')).toEqual([200, { all: 2, closed: 1, opened: 1 }])
  expect(await counts('projects/1/issues_statistics?labels=ui')).toEqual([200, { all: 1, closed: 0, opened: 1 }])
  expect(await counts('projects/2/issues_statistics')).toEqual([200, { all: 0, closed: 0, opened: 0 }])
  expect((await counts('issues_statistics?iteration_id=7'))[0]).toBe(400)
})

test('filters lists as clients write them, and refuses what it does not apply', async () => {
  const titles = async (query: string) => {
    const [status, body] = await call(`GET projects/1/issues?${query}`)
    return status === 200 ? (body as { title: string }[]).map(({ title }) => title) : [status, body]
  }
  expect(await titles('not[labels]=x,y')).toEqual(['Leak'])
  expect(await titles('not[labels]=ui,x')).toEqual([])
  expect(await titles('not[labels][]=ui')).toEqual([])
  expect(await titles('not[author_username]=mira')).toEqual([])
  expect(await titles('due_date=0')).toEqual([])
  expect(await titles('issue_type=incident')).toEqual([])
  expect(await titles('due_date=someday')).toEqual([400, { error: 'due_date does not have a valid value' }])
  expect((await titles('not[iteration_id]=7'))[0]).toBe(400)
  expect((await titles('epic_id=1'))[0]).toBe(400)
  const details = await call('GET projects/1/issues?with_labels_details=true')
  expect(details).toMatchObject([200, [{ labels: [{ name: 'bug', text_color: '#FFFFFF' }, { name: 'ui' }] }]])
  expect(await call('GET projects/1/merge_requests?view=simple')).toEqual([
    200,
    [
      {
        ...{ id: 1, iid: 1, project_id: 1, title: 'Fix', description: null, state: 'opened' },
        ...{ created_at: '2026-02-03T04:05:06.789Z', updated_at: '2026-02-03T04:05:06.789Z' },
        web_url: 'https://svc.example.test/ops/tools/-/merge_requests/1',
      },
    ],
  ])
})
