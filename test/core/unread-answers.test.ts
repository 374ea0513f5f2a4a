import { once } from 'node:events'
import { get } from 'node:http'
import { connect, type Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { createIssue } from '@penstock/core'
import { type Listening, listen } from '@penstock/http'
import { areas, restListener } from '@penstock/rest'
import { silentLog } from '@penstock/runtime'
import { World } from '@penstock/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'

/** The texts of an answer of almost 8 MiB, which does not fit into the buffers of a connection. */
const ISSUES = 7
const CHARACTERS = 1_048_576
const READERS = 30

let world: World
let listening: Listening
let path: string

beforeAll(async () => {
  world = await World.open()
  const root = await world.user('root', { isAdministrator: true })
  const ops = await world.group('ops', { visibility: 'public' })
  const project = await world.project('tools', ops, 'public')
  for (let issue = 0; issue < ISSUES; issue += 1) {
    const description = 'x'.repeat(CHARACTERS)
    await world.perform(root, createIssue, { project: project.id, title: 'x', description })
  }
  path = `/api/v4/projects/${project.id}/issues`
  const app = restListener({ core: world.core, areas, log: silentLog, rateLimits: 'off' })
  listening = await listen(app, { host: '127.0.0.1', port: 0 })
})
afterAll(async () => {
  await listening.close(AbortSignal.abort())
  await world.close()
})

const port = () => Number(new URL(listening.url).port)

/** Sends a request without a credential, and reads nothing after the first bytes of the answer. Returns these. */
async function readNothing(): Promise<{ readonly socket: Socket; readonly begin: Buffer }> {
  const socket = connect(port(), '127.0.0.1')
  socket.write(`GET ${path} HTTP/1.1\r\nHost: core\r\nConnection: close\r\n\r\n`)
  const [begin] = (await once(socket, 'data')) as [Buffer]
  socket.pause()
  return { socket, begin }
}

test('answers that an anonymous client does not read take no memory from other clients', async () => {
  const readers = await Promise.all(Array.from({ length: READERS }, readNothing))
  const reply = get({ host: '127.0.0.1', port: port(), path, localAddress: '127.0.0.2' })
  const [response] = await once(reply, 'response')
  expect(response.statusCode).toBe(200)
  const complete = (await buffer(response)).length
  expect(complete).toBeGreaterThan(ISSUES * CHARACTERS)
  const lengths = await Promise.all(
    readers.map(async ({ socket, begin }) => {
      const rest = await buffer(socket).catch(() => Buffer.alloc(0))
      return begin.length + rest.length
    }),
  )
  // Five fit into 32 MiB; what the system holds for a connection is not counted.
  expect(lengths.filter((length) => length > complete).length).toBeLessThan(READERS / 2)
}, 60_000)
