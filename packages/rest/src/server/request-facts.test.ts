import { notFound, type OperationContext, unscopedCommand } from '@penstock/core'
import { type Listening, listen } from '@penstock/http'
import { silentLog } from '@penstock/runtime'
import { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { restOpenApi } from '../routing/openapi.ts'
import { type Area, route } from '../routing/route.ts'
import { restListener } from './serve-rest.ts'

let world: World
let server: Listening
/** The facts that the operations got, in the order of the calls. */
let heard: OperationContext['request'][]

/** 2026-02-03T04:05:06.789Z. HTTP dates cannot express the milliseconds. */
const changedAtMs = Date.UTC(2026, 1, 3, 4, 5, 6, 789)
const input = z.object({ thingId: z.int() })
const removeThing = unscopedCommand(
  { name: 'removeThing', caller: 'anyone', input, isConditional: true },
  async ({ request, requireUnmodified }, { thingId }) => {
    heard.push(request)
    if (thingId > 9) throw notFound()
    requireUnmodified(changedAtMs)
  },
)
const removeAnyway = unscopedCommand({ name: 'removeAnyway', caller: 'anyone', input }, async () => {})
const forgetful = unscopedCommand({ name: 'forgetful', caller: 'anyone', input, isConditional: true }, async () => {})

const remove = (path: string, operation: typeof removeThing) =>
  route({ method: 'DELETE', path: `/${path}/:thing_id`, operation, summary: 'Remove' })
const things: Area = {
  tag: 'things',
  routes: [remove('things', removeThing), remove('others', removeAnyway), remove('forgotten', forgetful)],
}

beforeEach(async () => {
  world = await World.open()
  heard = []
  const listener = restListener({ core: world.core, areas: [things], log: silentLog, rateLimits: 'off' })
  server = await listen(listener, { host: '127.0.0.1', port: 0 })
})

afterEach(async () => {
  await server.close()
  await world.close()
})

async function remove412(path: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${server.url}/api/v4/${path}`, { method: 'DELETE', headers })
  const text = await response.text()
  return [response.status, text === '' ? undefined : JSON.parse(text)]
}

test('operations get the address, the user agent, the UUID of the event and the time', async () => {
  const uuid = '3c1e5d0a-58f1-4a0b-9b3c-0d6f0f2b7a11'
  await remove412('things/1', {
    'user-agent': 'glab/1.2',
    'X-Svc-Event-UUID': uuid,
    'If-Unmodified-Since': 'Tue, 03 Feb 2026 04:05:07 GMT',
  })
  await remove412('things/1', { 'user-agent': 'x' })
  expect(heard).toEqual([
    {
      address: '127.0.0.1',
      userAgent: 'glab/1.2',
      eventUuid: uuid,
      ifUnmodifiedSinceMs: Date.UTC(2026, 1, 3, 4, 5, 7),
    },
    { address: '127.0.0.1', userAgent: 'x' },
  ])
})

const failed = [412, { message: '412 Precondition Failed' }]
test.each([
  ['things/1', 'Tue, 03 Feb 2026 04:05:07 GMT', [204, undefined]],
  ['things/1', '2026-02-03T04:05:06.789Z', [204, undefined]],
  ['things/1', 'Tue, 03 Feb 2026 04:05:06 GMT', failed],
  ['things/1', 'Sun, 01 Jan 2006 00:00:00 GMT', failed],
  ['things/1', 'last week', [204, undefined]],
  ['things/10', 'Sun, 01 Jan 2006 00:00:00 GMT', [404, { message: '404 Not found' }]],
  ['others/1', 'Sun, 01 Jan 2006 00:00:00 GMT', [204, undefined]],
])('DELETE %s, unmodified since %s', async (path, time, answer) => {
  expect(await remove412(path, { 'If-Unmodified-Since': time })).toEqual(answer)
})

test('a conditional operation that makes no check fails, with the header and without', async () => {
  expect((await remove412('forgotten/1'))[0]).toBe(500)
})

test('OpenAPI names the JSON of 429 where the operation has a limit of its own', () => {
  const limited = {
    ...removeAnyway,
    limits: [{ name: 'removals', per: ['user'], periodSeconds: 60, count: 1 }],
  } as const
  const area: Area = { tag: 'things', routes: [remove('things', removeThing), remove('others', limited)] }
  const { paths } = restOpenApi([area], 'svc') as {
    paths: Record<string, { delete: { responses: Record<number, { content: object }> } }>
  }
  const types = Object.values(paths).map((path) => Object.keys(path.delete.responses[429]!.content))
  expect(types).toEqual([['text/plain'], ['text/plain', 'application/json']])
})

test('OpenAPI names the header and the status only where they apply', () => {
  const { paths } = restOpenApi([things], 'svc') as {
    paths: Record<string, { delete: { parameters: { in: string; name: string }[]; responses: object } }>
  }
  const of = (path: string) => {
    const { parameters, responses } = paths[`/api/v4/${path}/{thing_id}`]!.delete
    return [parameters.filter((each) => each.in === 'header').map(({ name }) => name), '412' in responses]
  }
  expect(of('things')).toEqual([['If-Unmodified-Since'], true])
  expect(of('others')).toEqual([[], false])
})
