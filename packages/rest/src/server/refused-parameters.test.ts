import { afterEach, beforeEach, expect, test } from 'vitest'
import { issuesArea } from '../areas/issues.ts'
import { RestServer } from './rest-server.harness.ts'

let server: RestServer
let token: string

beforeEach(async () => {
  server = await RestServer.start({ areas: [issuesArea] })
  const { world } = server
  const mira = await world.user('mira')
  await world.project('tools', await world.group('ops'), 'public')
  token = await server.tokenOf(mira)
})

afterEach(() => server.close())

const answer = async (method: string, path: string, json?: object) => {
  const { status, body } = await server.call(method, path, { token, ...(json && { json }) })
  return [status, body]
}

test('a parameter that the core does not have is refused in the query and in the body', async () => {
  const refused = (name: string) => [400, { error: `${name} is not supported` }]
  expect(await answer('GET', 'issues?iteration_id=4')).toEqual(refused('iteration_id'))
  expect(await answer('GET', 'issues?not[iteration_id]=7')).toEqual(refused('not[iteration_id]'))
  const issue = { title: 'Leak', epic_id: 7 }
  expect(await answer('POST', 'projects/ops%2Ftools/issues', issue)).toEqual(refused('epic_id'))
})

test('an empty one asks for nothing, and unknown parameters are ignored', async () => {
  expect(await answer('GET', 'issues?iteration_id=&unknown=1')).toEqual([200, []])
  const [status] = await answer('POST', 'projects/ops%2Ftools/issues', { title: 'Leak', epic_id: null })
  expect(status).toBe(201)
})

test('a caller without a credential gets 401 first', async () => {
  const { status } = await server.call('POST', 'projects/ops%2Ftools/issues', { json: { title: 'x', epic_id: 7 } })
  expect(status).toBe(401)
})
