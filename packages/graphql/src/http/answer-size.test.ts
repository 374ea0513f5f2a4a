import { createIssue } from '@penstock/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { GraphqlServer } from './graphql-server.harness.ts'

let server: GraphqlServer
beforeEach(async () => {
  server = await GraphqlServer.start()
})
afterEach(() => server.close())

test('a response of more than 8 MB has an error instead of data', async () => {
  const { world } = server
  const mira = await world.user('mira', { isAdministrator: true })
  const project = (await world.project('tools', await world.group('ops'))).id
  // JSON writes two bytes for each character.
  const description = '"'.repeat(1024 * 1024)
  for (const title of ['a', 'b', 'c', 'd']) await world.perform(mira, createIssue, { project, title, description })
  const ask = (first: number) =>
    server.ask(`{ project(fullPath: "ops/tools") { issues(first: ${first}) { nodes { description } } } }`, { as: mira })
  const { status, body } = await ask(4)
  expect([status, body]).toEqual([
    200,
    { errors: [{ message: 'The response would be larger than 8 MB. Request fewer items or fields.' }] },
  ])
  const shorter = await ask(3)
  expect(shorter.body.data.project.issues.nodes).toEqual(Array(3).fill({ description }))
})
