import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { accessLevels, createPersonalToken } from '@penstock/core'
import { silentLog } from '@penstock/runtime'
import { World } from '@penstock/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { areas } from '../areas.ts'
import { restListener } from '../server/serve-rest.ts'

let world: World
let server: Server
let token: string

beforeAll(async () => {
  world = await World.open()
  const root = await world.user('root', { isAdministrator: true })
  token = (await world.perform(root, createPersonalToken, { userId: root.id, name: 'test', scopes: ['api'] })).value
  const ops = await world.group('ops')
  await world.group('infra', { parent: ops })
  await world.project('tools', ops)
  const mira = await world.user('mira')
  await world.member(ops, mira, accessLevels.maintainer)
  server = createServer(restListener({ core: world.core, areas, log: silentLog, rateLimits: 'off' }))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})

afterAll(async () => {
  await new Promise((resolve) => server.close(resolve).closeAllConnections())
  await world.close()
})

// The core reports errors by its own attribute names; the responses must have the REST names.
test.each([
  [
    'POST groups/ops/labels',
    { name: 'a,b', color: 'red' },
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
  const reply = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v4/${path}`, {
    method,
    headers: { 'private-token': token, 'content-type': 'application/json' },
    body: JSON.stringify(json),
  })
  expect([reply.status, await reply.json()]).toEqual([400, { message }])
})
