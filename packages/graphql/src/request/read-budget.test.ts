import { accessLevels, type Project, type User } from '@penstock/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { putRecord } from '../areas/ci/put-record.harness.ts'
import { GraphqlServer } from '../http/graphql-server.harness.ts'

const MAX_CHARACTERS = 500_000
const limitMessage = `One request may read at most ${MAX_CHARACTERS} characters of text`

let server: GraphqlServer
let alice: User
let app: Project

beforeEach(async () => {
  server = await GraphqlServer.start({ maxReadCharacters: MAX_CHARACTERS })
  const { world } = server
  alice = await world.user('alice')
  app = await world.project('app', await world.group('acme'))
  await world.member(app, alice, accessLevels.maintainer)
})
afterEach(() => server.close())

/** More than a tenth of the limit, stored with each pipeline. */
const tags = Array.from({ length: 60 }, (_, index) => String(index).padEnd(1_000, 'x'))
const long = (id: number) => ({
  builds: [{ id, name: `j${id}`, stage: 'test', status: 'success', runner: { id: 1, description: 'r', tags } }],
})
const put = async (count: number) => {
  for (let id = 1; id <= count; id++) await putRecord(server.world, alice, app, id, { ref: 'main' }, long(id))
}
const inApp = async (fields: string) => {
  const { status, body } = await server.ask(`{ project(fullPath: "acme/app") { ${fields} } }`, { as: alice })
  expect(status).toBe(200)
  return body
}

test('returns everything that is within the limit, from lists and from stages', async () => {
  await put(3)
  const { data, errors } = await inApp(`jobs { nodes { name runner { tagList } } }
    pipelines { nodes { stages { nodes { name jobs { nodes { name } } } } } }`)
  expect(errors).toBeUndefined()
  expect(data.project.jobs.nodes).toEqual(['j3', 'j2', 'j1'].map((name) => ({ name, runner: { tagList: tags } })))
  expect(data.project.pipelines.nodes[2].stages.nodes).toEqual([{ name: 'test', jobs: { nodes: [{ name: 'j1' }] } }])
})

test('reports one error when several pages of jobs exceed the limit together', async () => {
  await put(4)
  const { data, errors } = await inApp(
    [1, 2, 3, 4].map((size) => `p${size}: jobs(first: ${size}) { nodes { id } }`).join(' '),
  )
  expect(errors).toMatchObject([{ message: limitMessage }])
  expect(Object.values<{ nodes: unknown }>(data.project).some(({ nodes }) => nodes === null)).toBe(true)
})

test('counts the text of jobs that are read to list the names of stages', async () => {
  await put(10)
  const { data, errors } = await inApp('name pipelines { nodes { id stages { nodes { name } } } }')
  expect(errors).toMatchObject([{ message: limitMessage }])
  expect(errors).toHaveLength(1)
  expect(data.project.name).toBe('app')
  expect(data.project.pipelines.nodes).toHaveLength(10)
  for (const { id, stages } of data.project.pipelines.nodes) expect([typeof id, stages]).toEqual(['string', null])
})

test('shares the limit between the operations of a request, but not between requests', async () => {
  await put(5)
  const query = '{ project(fullPath: "acme/app") { jobs { nodes { id } } } }'
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${await server.tokenOf(alice)}` }
  const { body } = await server.send({
    method: 'POST',
    headers,
    body: JSON.stringify([{ query }, { query }, { query }]),
  })
  expect(body[0].errors).toBeUndefined()
  expect([body[1].errors, body[2].errors]).toMatchObject([[{ message: limitMessage }], [{ message: limitMessage }]])
  expect((await inApp('jobs { nodes { id } }')).errors).toBeUndefined()
})
