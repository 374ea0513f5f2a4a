import { accessLevels, type Group } from '@penstock/core'
import type { World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Call, RestServer } from '../server/rest-server.harness.ts'
import { milestonesArea } from './milestones.ts'

let world: World
let server: RestServer
let ops: Group
/** Tokens of members of the group `ops`, by role. */
let tokens: Record<'developer' | 'planner', string>

beforeEach(async () => {
  server = await RestServer.start({ areas: [milestonesArea] })
  world = server.world
  ops = await world.group('ops')
  const [mira, noor] = [await world.user('mira'), await world.user('noor')]
  await world.member(ops, mira, accessLevels.developer)
  await world.member(ops, noor, accessLevels.planner)
  tokens = { developer: await server.tokenOf(mira), planner: await server.tokenOf(noor) }
})

afterEach(() => server.close())

const call = (method: string, path: string, { json, token = tokens.developer }: Call = {}) =>
  server.call(method, path, { json, token })

const all = 'groups/ops/milestones'
const add = async (title: string, fields: object = {}): Promise<number> =>
  (await call('POST', all, { json: { title, ...fields } })).body.id
const answer = async (method: string, path: string, options?: Call) => {
  const { status, body } = await call(method, path, options)
  return [status, body]
}

test('a milestone has the fields of GitLab in their order', async () => {
  const json = { title: 'Spring', start_date: '2026-03-01', due_date: '2026-05-31' }
  const { status, body } = await call('POST', all, { json })
  expect(status).toBe(201)
  const expected =
    '{"id":1,"iid":1,"group_id":1,"title":"Spring","description":null,"state":"active",' +
    '"created_at":"2026-02-03T04:05:06.789Z","updated_at":"2026-02-03T04:05:06.789Z",' +
    '"due_date":"2026-05-31","start_date":"2026-03-01","expired":false,' +
    '"web_url":"https://svc.example.test/groups/ops/-/milestones/1"}'
  expect(JSON.stringify(body)).toBe(expected)
  expect(await answer('GET', `${all}/1`)).toEqual([200, JSON.parse(expected)])
})

test('a milestone of a project has a project_id and the URL of the project', async () => {
  const project = await world.project('tools', ops)
  const { status, body } = await call('POST', 'projects/ops%2Ftools/milestones', { json: { title: 'v1' } })
  expect([status, body.project_id, body.group_id]).toEqual([201, project.id, undefined])
  expect(body.web_url).toBe('https://svc.example.test/ops/tools/-/milestones/1')
  const below = await call('GET', `${all}?include_descendants=true`)
  expect(below.body).toEqual([body])
})

test('a milestone is expired from the day after its due date', async () => {
  await add('today', { due_date: '2026-02-03' })
  await add('yesterday', { due_date: '2026-02-02' })
  const { body } = await call('GET', all)
  expect(body.map(({ title, expired }: { title: string; expired: boolean }) => [title, expired])).toEqual([
    ['yesterday', true],
    ['today', false],
  ])
})

describe('list', () => {
  test('has pages and filters', async () => {
    const ids = [await add('Spring one'), await add('Spring two'), await add('Autumn')]
    const { headers, body } = await call('GET', `${all}?search_title=two+spring&per_page=1`)
    expect(body).toMatchObject([{ id: ids[1] }])
    expect(headers.get('x-total')).toBe('1')
    expect((await call('GET', `${all}?iids=1,3`)).body).toMatchObject([{ iid: 3 }, { iid: 1 }])
    expect((await call('GET', `${all}?iids[]=1&iids[]=3`)).body).toMatchObject([{ iid: 3 }, { iid: 1 }])
  })

  test.each([
    ['state=open', 'state does not have a valid value'],
    ['updated_before=soon', 'updated_before is invalid'],
    ['containing_date=soon', 'containing_date is invalid'],
    ['start_date=2026-01-01', 'start_date, end_date provide all or none of parameters'],
    ['end_date=2026-01-01', 'start_date, end_date provide all or none of parameters'],
    [
      'include_ancestors=true&include_parent_milestones=true',
      'include_ancestors, include_parent_milestones are mutually exclusive',
    ],
  ])('%s', async (query, error) => {
    expect(await answer('GET', `${all}?${query}`)).toEqual([400, { error }])
  })
})

describe('errors', () => {
  test.each([
    [{}, { error: 'title is missing' }],
    [{ title: 'x', due_date: 'soon' }, { error: 'due_date is invalid' }],
    [{ title: ' ' }, { message: 'Failed to create milestone {:title=>["can\'t be blank"]}' }],
    [
      { title: 'taken' },
      {
        message: 'Failed to create milestone {:title=>["already being used for another group or project milestone."]}',
      },
    ],
    [
      { title: 'x', start_date: '2026-03-01', due_date: '2026-03-01' },
      { message: 'Failed to create milestone {:due_date=>["must be greater than start date"]}' },
    ],
    [
      { title: 'x', start_date: '10000-01-01' },
      { message: 'Failed to create milestone {:start_date=>["date must not be after 9999-12-31"]}' },
    ],
  ])('of creating %j', async (json, body) => {
    await add('taken')
    expect(await answer('POST', all, { json })).toEqual([400, body])
  })

  test('of updating', async () => {
    const one = `${all}/${await add('x')}`
    await add('taken')
    expect(await answer('PUT', one, { json: { state_event: 'reopen' } })).toEqual([
      400,
      { error: 'state_event does not have a valid value' },
    ])
    expect(await answer('PUT', one, { json: { title: 'taken' } })).toEqual([
      400,
      {
        message: 'Failed to update milestone {:title=>["already being used for another group or project milestone."]}',
      },
    ])
  })

  test('of missing permissions and unknown ids', async () => {
    const id = await add('x')
    expect(await answer('GET', all, { token: '' })).toEqual([401, { message: '401 Unauthorized' }])
    expect(await answer('GET', 'groups/nope/milestones')).toEqual([404, { message: '404 Group Not Found' }])
    expect(await answer('GET', `${all}/99`)).toEqual([404, { message: '404 Not found' }])
    expect(await answer('GET', `${all}/x`)).toEqual([400, { error: 'milestone_id is invalid' }])
    expect(await answer('DELETE', `${all}/x`)).toEqual([404, { message: '404 Not found' }])
    const planner = { token: tokens.planner }
    expect(await answer('DELETE', `${all}/${id}`, planner)).toEqual([403, { message: '403 Forbidden' }])
  })
})

test('closes, clears and deletes a milestone; an empty update changes nothing', async () => {
  const id = await add('x', { description: 'y', due_date: '2026-05-31' })
  const one = `${all}/${id}`
  const { status, body } = await call('PUT', one, { json: { state_event: 'close', description: null, due_date: '' } })
  expect([status, body]).toMatchObject([200, { state: 'closed', description: null, due_date: null }])
  expect(await answer('PUT', one)).toEqual([200, body])
  expect(await answer('DELETE', one)).toEqual([204, undefined])
  expect(await answer('GET', one)).toEqual([404, { message: '404 Not found' }])
})
