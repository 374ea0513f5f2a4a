import { accessLevels, type Group, type User } from '@penstock/core'
import { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { GraphqlServer } from '../http/graphql-server.harness.ts'

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

const limitMessage = 'The lists of one request may hold at most 20 items together'

test('limits the items of nested lists at all levels together', async () => {
  // 2 groups, 4 members and 8 memberships leave room for 6 of the 16 members.
  const query = `{ groups { nodes { groupMembers { nodes { user { groupMemberships { nodes { group {
    groupMembers { nodes { id } } } } } } } } } } }`
  const { status, body } = await server.ask(query, { as: alice })
  expect(status).toBe(200)
  expect(body.errors[0].message).toBe(limitMessage)
  expect(JSON.stringify(body.data).match(/"id"/g)).toHaveLength(6)
})

test('counts `nodes` and `edges` of one list separately', async () => {
  const once = '{ groups { nodes { groupMembers { nodes { user { groupMemberships { nodes { id } } } } } } } }'
  expect((await server.ask(once, { as: alice })).body.errors).toBeUndefined()
  const twice = `{ groups { nodes { groupMembers { nodes { user { groupMemberships {
    nodes { id } edges { cursor } } } } } } } }`
  expect((await server.ask(twice, { as: alice })).body.errors[0].message).toBe(limitMessage)
})

test('shares the limit between the operations of a request', async () => {
  const query = '{ groups { nodes { groupMembers { nodes { user { groupMemberships { nodes { id } } } } } } } }'
  const { body } = await server.send({
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${await server.tokenOf(alice)}` },
    body: JSON.stringify([{ query }, { query }, { query }]),
  })
  expect(body[0].errors).toBeUndefined()
  // Each operation reports the error once.
  for (const each of body.slice(1)) expect(each.errors).toMatchObject([{ message: limitMessage }])
})
