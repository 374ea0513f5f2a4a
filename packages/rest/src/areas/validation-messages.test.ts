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
