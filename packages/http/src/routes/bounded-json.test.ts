import { MAX_ANSWER_BYTES } from '@penstock/json'
import { silentLog } from '@penstock/runtime'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RequestProblem } from '../bodies/request-problem.ts'
import { type Listening, listen } from '../listening/listen.ts'
import { type Reply, type Route, unguarded } from './route.ts'
import { serveRoutes } from './serve-routes.ts'

/** JSON writes each character with six bytes. */
const longText = '\u0001'.repeat(600_000)

const values: Readonly<Record<string, unknown>> = {
  exact: { text: 'a'.repeat(MAX_ANSWER_BYTES - 11) },
  object: { name: 'a', text: longText + longText + longText },
  'short list': Array.from({ length: 2 }, () => ({ name: 'a', text: longText })),
  'long list': Array.from({ length: 4 }, () => ({ name: 'a', text: longText })),
}
const route: Route<undefined, undefined> = {
  method: 'GET',
  path: '/:name',
  access: undefined,
  handle: ({ params }) => ({ status: 200, json: values[params.name!] }),
}
const renderError = (error: unknown): Reply =>
  error instanceof RequestProblem ? { status: 413, json: error.problem } : { status: 500 }

let server: Listening
beforeAll(async () => {
  const app = serveRoutes(unguarded([route]), { renderError, headers: {}, log: silentLog })
  server = await listen(app, { host: '127.0.0.1', port: 0 })
})
afterAll(() => server.close())

const get = (name: string) => fetch(`${server.url}/${encodeURIComponent(name)}`)

test('sends a list, and an object of exactly 8 MiB', async () => {
  const text = await (await get('exact')).text()
  expect([Buffer.byteLength(text), JSON.parse(text).text.length]).toEqual([MAX_ANSWER_BYTES, MAX_ANSWER_BYTES - 11])
  expect(await (await get('short list')).json()).toHaveLength(2)
})

test.each([
  ['long list', { fittingItems: 2, member: 'text' }],
  ['object', { fittingItems: 0, member: 'text' }],
])('refuses a %s above 8 MiB of JSON', async (name, problem) => {
  const answer = await get(name)
  expect([answer.status, await answer.json()]).toEqual([413, { kind: 'answer_too_large', ...problem }])
})
