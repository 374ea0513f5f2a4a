import { accessLevels } from '@penstock/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RestServer } from '../server/rest-server.harness.ts'

let server: RestServer
let token: string

beforeAll(async () => {
  server = await RestServer.start()
  const { world } = server
  token = await server.tokenOf(await world.user('root', { isAdministrator: true }))
  const ops = await world.group('ops')
  await world.group('infra', { parent: ops })
  await world.project('tools', ops)
  const mira = await world.user('mira')
  await world.member(ops, mira, accessLevels.maintainer)
})

afterAll(() => server.close())

// The core reports errors by its own attribute names; the responses must have the REST names.
test.each([
  [
    'POST groups/ops/labels',
    { name: 'a,b', color: 'reddish' },
    { title: ['is invalid'], color: ['must be a valid color code'] },
  ],
  [
    'POST groups',
    { name: 'x', path: 'x', parent_id: 1, visibility: 'public' },
    'Failed to save group {:visibility_level=>["public is not allowed since the parent group has a private visibility."]}',
  ],
  [
    'PUT groups/ops%2Finfra',
    { visibility: 'public' },
    { visibility_level: ['public is not allowed since the parent group has a private visibility.'] },
  ],
  [
    'POST groups/ops%2Finfra/members',
    { user_id: 2, access_level: 10 },
    { access_level: ['should be greater than or equal to Maintainer inherited membership from group ops'] },
  ],
  [
    'POST groups/ops%2Finfra/members',
    { user_id: 1, access_level: 10, expires_at: '2026-02-02' },
    { expires_at: ['cannot be a date in the past'] },
  ],
  [
    'POST projects/ops%2Ftools/milestones',
    { title: 'x', start_date: '2026-03-01', due_date: '2026-03-01' },
    'Failed to create milestone {:due_date=>["must be greater than start date"]}',
  ],
])('%s %j', async (request, json, message) => {
  const [method, path] = request.split(' ') as [string, string]
  const { status, body } = await server.call(method, path, { token, json })
  expect([status, body]).toEqual([400, { message }])
})

const long = 'x'.repeat(300)
const tooLong = ['is too long (maximum is 255 characters)']

test.each([
  ['POST projects/ops%2Ftools/issues', { title: long }, { title: tooLong }],
  ['PUT projects/ops%2Ftools/issues/1', { title: long }, { title: tooLong }],
  [
    'POST projects/ops%2Ftools/merge_requests',
    { title: long, source_branch: 'a', target_branch: 'main' },
    { title: tooLong },
  ],
  ['PUT projects/ops%2Ftools/merge_requests/1', { title: long }, { title: tooLong }],
  ['POST projects/ops%2Ftools/labels', { name: long, color: '#ff0000' }, { title: tooLong }],
  ['PUT projects/ops%2Ftools/labels/1', { new_name: long }, { new_name: tooLong }],
  ['POST groups/ops/labels', { name: long, color: '#ff0000' }, { title: tooLong }],
  ['POST groups', { name: long, path: 'g' }, `Failed to save group {:name=>${JSON.stringify(tooLong)}}`],
  ['POST groups', { name: 'g', path: long }, `Failed to save group {:path=>${JSON.stringify(tooLong)}}`],
  ['PUT groups/ops', { name: long }, { name: tooLong }],
  ['POST projects', { name: long }, { name: tooLong }],
  ['PUT projects/ops%2Ftools', { name: long }, { name: tooLong }],
  [
    'PUT projects/ops%2Ftools',
    { description: 'x'.repeat(2_001) },
    { description: ['is too long (maximum is 2000 characters)'] },
  ],
  ['POST users', { name: long, username: 'u', email: 'u@example.test', reset_password: true }, { name: tooLong }],
  ['POST users', { name: 'U', username: long, email: 'u@example.test', reset_password: true }, { username: tooLong }],
  ['PUT users/1', { name: long }, { name: tooLong }],
  [
    'POST projects/ops%2Ftools/milestones',
    { title: long },
    `Failed to create milestone {:title=>${JSON.stringify(tooLong)}}`,
  ],
])('%s says which attribute is too long, and the limit', async (request, json, message) => {
  const [method, path] = request.split(' ') as [string, string]
  const { status, body } = await server.call(method, path, { token, json })
  expect([status, body]).toEqual([400, { message }])
})

test('a parameter of a list that is too long is a problem of the request', async () => {
  const { status, body } = await server.call('GET', `projects?search=${long}`, { token })
  expect([status, body]).toEqual([400, { error: 'search is too long (maximum is 255 characters)' }])
})
