import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { silentLog, TrustedProxies } from '@penstock/runtime'
import { afterEach, expect, test } from 'vitest'
import { type Listening, listen } from '../listening/listen.ts'
import { type Route, unguarded } from '../routes/route.ts'
import { serveRoutes } from '../routes/serve-routes.ts'
import { UnreadAnswers } from './unread-answers.ts'

const MIB = 1024 * 1024
const ANSWERS = 50
/** More than the system takes for a connection that is not read. */
const ANSWER_BYTES = 12 * MIB

let server: Listening | undefined
let sockets: Socket[] = []

afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  sockets = []
  await server?.close(AbortSignal.abort())
})

const route: Route<undefined, undefined> = {
  method: 'GET',
  path: '/long',
  access: undefined,
  handle: () => ({ status: 200, content: Buffer.alloc(ANSWER_BYTES, 'a'), contentType: 'text/plain' }),
}

/** Returns the bytes of buffers that are in use. */
function buffersInUse(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().arrayBuffers
}

/** Returns the memory that answers take when none of them is read, each for a client of its own. */
async function memoryOfUnread(unread: UnreadAnswers): Promise<number> {
  const trustedProxies = new TrustedProxies(['127.0.0.1'])
  const options = { renderError: () => ({ status: 503 }), headers: {}, log: silentLog, trustedProxies, unread }
  server = await listen(serveRoutes(unguarded([route]), options), { host: '127.0.0.1', port: 0 })
  const { port } = new URL(server.url)
  const before = buffersInUse()
  for (let client = 1; client <= ANSWERS; client += 1) {
    const socket = connect(Number(port), '127.0.0.1').on('error', () => {})
    sockets.push(socket)
    socket.write(`GET /long HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.${client}\r\n\r\n`)
    // The first bytes of the answer, and nothing after them.
    await once(socket, 'readable')
  }
  return buffersInUse() - before
}

test('50 answers that are not read take at most 256 MiB', async () => {
  expect(await memoryOfUnread(new UnreadAnswers())).toBeLessThan(256 * MIB)
})
