import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { serving } from '../cli/serving.ts'
import { temporaryDirectory } from '../cli/temporary-directory.ts'

const sockets: Socket[] = []
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})

async function openSilent(url: string, text: string): Promise<Socket> {
  const { port, hostname } = new URL(url)
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true }).on('error', () => {})
  sockets.push(socket)
  await once(socket, 'connect')
  socket.resume().write(text)
  return socket
}

const status = async (url: string) => (await fetch(url, { headers: { connection: 'close' } })).status

test('With 1,000 silent sockets open, probes and new connections are answered', async () => {
  await using directory = await temporaryDirectory()
  const { stdout, managementUrl } = await serving([], { PENSTOCK_DATA_DIR: directory.path })
  const coreUrl = /(http:\/\/127\.0\.0\.1:\d+)\/api\/v4/.exec(stdout.text)![1]!
  for (const text of ['', 'GET / HTTP/1.1\r\nHo', 'nonsense\r\n\r\n']) {
    for (const url of [coreUrl, managementUrl]) {
      await Promise.all(Array.from({ length: 1_000 }, () => openSilent(url, text)))
    }
    expect(await Promise.all([status(`${coreUrl}/livez`), status(`${coreUrl}/readyz`)])).toEqual([200, 200])
    expect(await Promise.all([status(`${managementUrl}/livez`), status(`${managementUrl}/readyz`)])).toEqual([200, 200])
    expect(await status(`${coreUrl}/api/v4/version`)).toBe(401)
    expect(await status(`${managementUrl}/api/v1/api_keys`)).toBe(401)
  }
})

test('the limit of connections is a setting, and a rejection has the format of the API', async () => {
  await using directory = await temporaryDirectory()
  const { stdout } = await serving([], {
    PENSTOCK_DATA_DIR: directory.path,
    PENSTOCK_CORE_MAX_CONNECTIONS_PER_ADDRESS: '1',
  })
  const coreUrl = /(http:\/\/127\.0\.0\.1:\d+)\/api\/v4/.exec(stdout.text)![1]!
  // A request without its announced body keeps the connection busy.
  const busy = await openSilent(
    coreUrl,
    'POST /api/v4/projects HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n',
  )
  await once(busy, 'data')
  const core = await fetch(`${coreUrl}/api/v4/version`)
  expect(await core.json()).toEqual({ error: '503 The server has too many connections.' })
  for (const path of ['/livez', '/readyz', '/-/health', '/-/liveness', '/-/readiness', '/-/readiness?all=1']) {
    expect([path, await status(coreUrl + path)]).toEqual([path, 200])
  }
})
