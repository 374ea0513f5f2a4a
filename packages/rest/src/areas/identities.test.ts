import { createUser, grantToken } from '@penstock/core'
import type { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { RestServer } from '../server/rest-server.harness.ts'
import { emailsArea } from './emails.ts'
import { groupsArea } from './groups.ts'
import { membersArea } from './members.ts'
import { projectsArea } from './projects.ts'
import { usersArea } from './users.ts'

let world: World
let server: RestServer
let token: string

beforeEach(async () => {
  server = await RestServer.start({ areas: [usersArea, emailsArea, groupsArea, projectsArea, membersArea] })
  world = server.world
  token = await server.tokenOf(await world.user('root', { isAdministrator: true }))
})

afterEach(() => server.close())

const call = (method: string, path: string, json?: object) => server.call(method, path, { token, json })

test('creates, changes and deletes a user, group, project and member', async () => {
  const person = { email: 'noor@example.test', username: 'noor', name: 'Noor Elm', password: 'correct horse' }
  const user = await call('POST', 'users', person)
  expect(user).toMatchObject({ status: 201, body: { id: 2, state: 'active', email: 'noor@example.test' } })
  expect(JSON.stringify(user.body)).not.toMatch(/argon2|horse/)
  expect(await call('POST', 'users/2/block')).toMatchObject({ status: 201, body: true })
  expect(await call('POST', 'users/2/unblock')).toMatchObject({ status: 201, body: true })

  const group = await call('POST', 'groups', { name: 'Operations', path: 'ops', visibility: 'public' })
  expect(group).toMatchObject({ status: 201, body: { full_path: 'ops', parent_id: null } })
  expect(await call('POST', 'groups', { name: 'x', path: 'OPS' })).toMatchObject({
    status: 400,
    body: { message: 'Failed to save group {:path=>["has already been taken"]}' },
  })

  const project = await call('POST', 'projects', { name: 'Tool', namespace_id: group.body.id })
  expect(project).toMatchObject({
    status: 201,
    body: {
      path_with_namespace: 'ops/tool',
      name_with_namespace: 'Operations / Tool',
      namespace: { kind: 'group', full_path: 'ops' },
      permissions: { project_access: null, group_access: { access_level: 50 } },
    },
  })

  const added = await call('POST', 'projects/ops%2Ftool/members', { user_id: 2, access_level: '30' })
  expect(added).toMatchObject({ status: 201, body: { id: 2, username: 'noor', access_level: 30, expires_at: null } })
  const all = await call('GET', `projects/${project.body.id}/members/all?user_ids=1,2`)
  expect(all.headers.get('x-total')).toBe('2')
  expect(all.body.map(({ id }: { id: number }) => id)).toEqual([1, 2])
  expect(await call('PUT', 'projects/ops%2Ftool/members/2', { access_level: 7 })).toMatchObject({
    status: 400,
    body: { error: 'access_level does not have a valid value' },
  })
  expect(await call('DELETE', 'projects/ops%2Ftool/members/2')).toMatchObject({ status: 204 })

  await call('PUT', 'groups/ops', { path: 'dev' })
  const moved = await call('GET', 'projects/ops%2Ftool')
  expect(moved.status).toBe(301)
  expect(moved.headers.get('location')).toBe(`https://svc.example.test/api/v4/projects/${project.body.id}`)
  expect(await call('DELETE', 'groups/dev')).toMatchObject({ status: 202, body: { message: '202 Accepted' } })
  expect(await call('GET', `projects/${project.body.id}`)).toMatchObject({ status: 404 })
})

test('lists with keyset pagination have no total', async () => {
  await world.user('mira')
  const page = await call('GET', 'users?pagination=keyset&per_page=1')
  expect(page.body.map(({ username }: { username: string }) => username)).toEqual(['mira'])
  expect(page.headers.get('x-total')).toBeNull()
  expect(page.headers.get('link')).toContain('cursor=')
})

test('a token with the scope email lists the own e-mail address, and nothing else', async () => {
  const root = await world.user('root2', { isAdministrator: true })
  const person = { email: 'noor@example.test', username: 'noor', name: 'Noor Elm', password: 'correct horse' }
  const { user } = await world.perform(root, createUser, person)
  const request = { grantType: 'password', username: 'noor', password: 'correct horse', scope: 'email', address: '::1' }
  const url = `${server.url}/api/v4/user`
  const authorization = `Bearer ${(await grantToken(world.core, request)).accessToken}`
  const emails = await fetch(`${url}/emails`, { headers: { authorization } })
  expect([emails.status, await emails.json()]).toEqual([
    200,
    [{ id: user.id, email: 'noor@example.test', confirmed_at: '2026-02-03T04:05:06.789Z' }],
  ])
  expect((await fetch(url, { headers: { authorization } })).status).toBe(403)
})
