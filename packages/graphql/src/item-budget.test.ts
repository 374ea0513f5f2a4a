import { accessLevels, type Group, type User } from '@penstock/core'
import { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { GraphqlServer } from './graphql-server.case.ts'

let world: World
let server: GraphqlServer
let alice: User

beforeEach(async () => {
  world = await World.open()
  server = await GraphqlServer.start({ maxItems: 20 }, world)
  alice = await world.user('alice')
  const people = [alice, await world.user('bob')]
  const groups: Group[] = []
  for (const path of ['a', 'b']) groups.push(await world.group(path))
  for (const group of groups) for (const user of people) await world.member(group, user, accessLevels.guest)
})
afterEach(() => server.close())

const told = 'The lists of one request may hold at most 20 items together'

test('lists within each other hold so many items, at whatever level', async () => {
  // 2 groups, 4 members, 8 memberships, and 16 members, of which 6 are left.
  const query = `{ groups { nodes { groupMembers { nodes { user { groupMemberships { nodes { group {
    groupMembers { nodes { id } } } } } } } } } } }`
  const { status, body } = await server.ask(query, { as: alice })
  expect(status).toBe(200)
  expect(body.errors[0].message).toBe(told)
  expect(JSON.stringify(body.data).match(/"id"/g)).toHaveLength(6)
})

test('so many are given, and each way in which they are told counts', async () => {
  const once = '{ groups { nodes { groupMembers { nodes { user { groupMemberships { nodes { id } } } } } } } }'
  expect((await server.ask(once, { as: alice })).body.errors).toBeUndefined()
  const twice = `{ groups { nodes { groupMembers { nodes { user { groupMemberships {
    nodes { id } edges { cursor } } } } } } } }`
  expect((await server.ask(twice, { as: alice })).body.errors[0].message).toBe(told)
})

test('the operations of one request share them', async () => {
  const query = '{ groups { nodes { groupMembers { nodes { user { groupMemberships { nodes { id } } } } } } } }'
  const { body } = await server.send({
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${await server.tokenOf(alice)}` },
    body: JSON.stringify([{ query }, { query }, { query }]),
  })
  expect(body[0].errors).toBeUndefined()
  // Each is told once.
  for (const each of body.slice(1)) expect(each.errors).toMatchObject([{ message: told }])
})
