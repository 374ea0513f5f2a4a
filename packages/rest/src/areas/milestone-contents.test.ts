import { accessLevels, createIssue, groupMilestones, type Project, type User, updateIssue } from '@penstock/core'
import type { World } from '@penstock/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RestServer } from '../server/rest-server.harness.ts'
import { milestonesArea } from './milestones.ts'

/** All tests share one world, because none changes what the others read. */
let world: World
let server: RestServer
let mira: User
let tools: Project
let tokens: Record<'developer' | 'planner' | 'guest' | 'stranger' | 'reader', string>
const spring = 1
const all = 'groups/ops/milestones'

beforeAll(async () => {
  server = await RestServer.start({ areas: [milestonesArea] })
  world = server.world
  const ops = await world.group('ops')
  await world.group('web', { visibility: 'public' })
  const member = async (name: string, level: 'developer' | 'planner' | 'guest') => {
    const user = await world.user(name)
    await world.member(ops, user, accessLevels[level])
    return user
  }
  mira = await member('mira', 'developer')
  tokens = {
    developer: await server.tokenOf(mira),
    reader: await server.tokenOf(mira, ['read_api']),
    planner: await server.tokenOf(await member('noor', 'planner')),
    guest: await server.tokenOf(await member('ivo', 'guest')),
    stranger: await server.tokenOf(await world.user('lena')),
  }
  tools = await world.project('tools', ops)
  const dates = { startDate: '2026-02-01', dueDate: '2026-02-28' }
  await world.perform(mira, groupMilestones.create, { parent: 'ops', title: 'Spring', ...dates })
  await world.perform(mira, groupMilestones.create, { parent: 'ops', title: 'Undated' })
  const inSpring = { project: tools.id, milestoneId: spring }
  const { iid } = await world.perform(mira, createIssue, { ...inSpring, title: 'Sow', weight: 3, labels: ['soil'] })
  await world.perform(mira, createIssue, { ...inSpring, title: 'Secret', confidential: true })
  await world.mergeRequest(mira, {
    ...{ ...inSpring, title: 'Retry' },
    ...{ sourceBranch: 'retry', targetBranch: 'main' },
  })
  await world.clock.advance(86_400_000)
  await world.perform(mira, updateIssue, { project: tools.id, issueIid: iid, stateEvent: 'close' })
})

afterAll(() => server.close())

function call(request: string, token: keyof typeof tokens | 'anonymous' = 'developer') {
  const [method, path] = request.split(' ') as [string, string]
  return server.call(method, path, { token: token === 'anonymous' ? undefined : tokens[token] })
}
const answer = async (...request: Parameters<typeof call>) => {
  const { status, body } = await call(...request)
  return [status, body]
}

const one = (group: string, id: number | string) => [
  `GET groups/${group}/milestones/${id}`,
  `GET groups/${group}/milestones/${id}/issues`,
  `GET groups/${group}/milestones/${id}/merge_requests`,
  `GET groups/${group}/milestones/${id}/burndown_events`,
  `PUT groups/${group}/milestones/${id}?title=x`,
]
const every = (group: string) => [
  `GET groups/${group}/milestones`,
  `POST groups/${group}/milestones?title=x`,
  ...one(group, spring),
  `DELETE groups/${group}/milestones/${spring}`,
]

describe('permissions', () => {
  test.each([...every('ops'), ...every('web'), ...every('nope'), 'GET groups/ops/milestones?state=open'])(
    '%s: 401 for an anonymous caller',
    async (request) => {
      expect(await answer(request, 'anonymous')).toEqual([401, { message: '401 Unauthorized' }])
    },
  )

  test.each(every('ops'))('%s: 404 for a user who cannot see the group', async (request) => {
    expect(await answer(request, 'stranger')).toEqual([404, { message: '404 Group Not Found' }])
  })

  test.each([
    ['guest', `POST ${all}?title=x`],
    ['guest', `PUT ${all}/1?title=x`],
    ['guest', `DELETE ${all}/1`],
    ['planner', `DELETE ${all}/1`],
  ] as const)('%s, %s: 403', async (role, request) => {
    expect(await answer(request, role)).toEqual([403, { message: '403 Forbidden' }])
  })

  test.each([...one('ops', 99), `DELETE ${all}/99`, `DELETE ${all}/x`, ...one('web', spring).slice(0, 4)])(
    '%s: 404 for an unknown milestone',
    async (request) => {
      expect(await answer(request)).toEqual([404, { message: '404 Not found' }])
    },
  )

  test.each([...one('ops', 'x'), ...one('nope', 'x')])(
    '%s: 400 for an invalid id, before the group is looked up',
    async (request) => {
      expect(await answer(request)).toEqual([400, { error: 'milestone_id is invalid' }])
    },
  )

  test('a token with read_api can list, but not create', async () => {
    expect((await call(`GET ${all}`, 'reader')).status).toBe(200)
    expect((await call(`POST ${all}?title=x`, 'reader')).status).toBe(403)
  })
})

describe('paths', () => {
  test.each(['1', 'ops', 'OPS'])('finds the group %s', async (group) => {
    expect(await call(`GET groups/${group}/milestones/1`)).toMatchObject({ status: 200, body: { title: 'Spring' } })
  })

  test.each(['GET groups/1/milestones/1.json', 'GET groups/1/milestones/1/'])('accepts %s', async (request) => {
    expect(await call(request)).toMatchObject({ status: 200, body: { title: 'Spring' } })
  })

  test('answers HEAD with the headers of GET', async () => {
    const { status, headers, body } = await call(`HEAD ${all}`)
    expect([status, headers.get('x-total'), body]).toEqual([200, '2', undefined])
  })
})

test.each([
  ['iids[]=1&iids[]=2', ['Spring', 'Undated']],
  ['iids=2', ['Undated']],
  ['iids=1&iids=2', ['Spring', 'Undated']],
  ['iids=7', []],
  ['iids=7&include_parent_milestones=yes', ['Spring', 'Undated']],
  ['state=all', ['Spring', 'Undated']],
  ['title=Spring', ['Spring']],
  ['title=spring', []],
  ['search_title=ING%20spr', ['Spring']],
  ['search_title=ING+spr', ['Spring']],
  ['updated_before=2026-02-03T04:05:06.789Z', ['Spring', 'Undated']],
  ['updated_before=2026-02-03', []],
  ['updated_after=2026-02-03T05:05:06.789%2B01:00', ['Spring', 'Undated']],
  ['containing_date=2026-02-01', ['Spring']],
  ['containing_date=2026-02-28T23:59:59Z', ['Spring']],
  ['containing_date=2026-03-01', []],
  ['start_date=2026-02-28&end_date=2026-12-31', ['Spring']],
  ['start_date=2026-01-01&end_date=2026-01-31', []],
  ['page=2&per_page=1', ['Undated']],
  ['page=9', []],
  ['unknown=1', ['Spring', 'Undated']],
])('lists milestones with %s', async (query, titles) => {
  const { status, body } = await call(`GET ${all}?${query}`)
  expect([status, body.map(({ title }: { title: string }) => title)]).toEqual([200, titles])
})

test.each([
  ['iids[]=x', 'iids is invalid'],
  ['iids=1,x,y', 'iids is invalid'],
  ['state=', 'state does not have a valid value'],
  ['updated_after=soon', 'updated_after is invalid'],
  ['updated_after=2026-02-30', 'updated_after is invalid'],
  ['include_ancestors=maybe', 'include_ancestors is invalid'],
  ['start_date=soon&end_date=2026-01-01', 'start_date is invalid'],
  ['start_date=2026-01-01&end_date=2026-13-01', 'end_date is invalid'],
  ['per_page=0', 'per_page has a value not allowed'],
  ['page=x&state=open', 'state does not have a valid value, page is invalid'],
])('rejects a list with %s', async (query, error) => {
  expect(await answer(`GET ${all}?${query}`)).toEqual([400, { error }])
})

test('issues: pages of the issues that the caller may see, each with its milestone', async () => {
  const { status, headers, body } = await call(`GET ${all}/1/issues`, 'guest')
  expect([status, headers.get('x-total'), body.length]).toEqual([200, '1', 1])
  expect(body[0]).toMatchObject({
    ...{ title: 'Sow', state: 'closed', project_id: tools.id, labels: ['soil'], weight: 3, type: 'ISSUE' },
    milestone: { id: 1, iid: 1, group_id: 1, title: 'Spring', due_date: '2026-02-28', expired: false },
    web_url: 'https://svc.example.test/ops/tools/-/issues/1',
  })
  expect((await call(`GET ${all}/1/issues?per_page=1`)).headers.get('x-next-page')).toBe('2')
})

test('merge requests: pages of the merge requests that the caller may see', async () => {
  const { headers, body } = await call(`GET ${all}/1/merge_requests`)
  expect(headers.get('x-total')).toBe('1')
  expect(body).toMatchObject([{ title: 'Retry', source_branch: 'retry', milestone: { id: 1 } }])
  expect(await answer(`GET ${all}/1/merge_requests`, 'guest')).toEqual([200, []])
})

test('burndown events: the complete list without pages', async () => {
  const { headers, body } = await call(`GET ${all}/1/burndown_events?per_page=1`, 'guest')
  expect(headers.get('x-total')).toBeNull()
  expect(JSON.stringify(body)).toBe(
    '[{"created_at":"2026-02-03T04:05:06.789Z","weight":3,"action":"created"},' +
      '{"created_at":"2026-02-04T04:05:06.789Z","weight":3,"action":"closed"}]',
  )
  expect((await call(`GET ${all}/1/burndown_events`)).body[2]).toEqual({
    ...{ created_at: '2026-02-03T04:05:06.789Z', weight: null, action: 'created' },
  })
  expect(await answer(`GET ${all}/2/burndown_events`)).toEqual([200, []])
})
