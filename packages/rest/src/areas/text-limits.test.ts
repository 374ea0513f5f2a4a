import { createCommit, type User } from '@penstock/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { RestServer } from '../server/rest-server.harness.ts'

let server: RestServer
let token: string
let mira: User
let project: number
beforeEach(async () => {
  server = await RestServer.start()
  mira = await server.world.user('mira', { isAdministrator: true })
  token = await server.tokenOf(mira)
  project = (await server.world.project('tools', await server.world.group('ops'))).id
  await server.world.perform(mira, createCommit, {
    project,
    branch: 'main',
    commitMessage: 'first',
    actions: [{ action: 'create', filePath: 'a.txt', content: 'a' }],
  })
  await post('repository/branches', { branch: 'other', ref: 'main' })
  await post('issues', { title: 'first' })
})
afterEach(() => server.close())

const post = (path: string, json: object) => server.call('POST', `projects/${project}/${path}`, { token, json })

test.each([
  ['labels', 65_536, (description: string) => ({ name: 'slow', color: '#ff0000', description })],
  ['milestones', 65_536, (description: string) => ({ title: 'v1', description })],
  ['issues', 1_048_576, (description: string) => ({ title: 'broken', description })],
  [
    'merge_requests',
    1_048_576,
    (description: string) => ({ title: 'fix', source_branch: 'other', target_branch: 'main', description }),
  ],
  ['issues/1/notes', 1_000_000, (body: string) => ({ body })],
  ['releases', 1_000_000, (description: string) => ({ tag_name: 'v1', ref: 'main', description })],
])('a long text of %s has at most %i characters', async (path, limit, bodyWith) => {
  expect((await post(path, bodyWith('x'.repeat(limit + 1)))).status).toBe(400)
  expect((await post(path, bodyWith('x'.repeat(limit)))).status).toBe(201)
})
