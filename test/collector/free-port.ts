import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the ports that systems hand out to outgoing connections, of which tests open many. */
const range = { first: 20_000, last: 31_999 }

/**
 * A loopback port for a server that cannot tell which one it got: nobody listens there, and no client gets it by chance.
 * A server that can tell should listen on port 0 instead.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = range.first + Math.floor(Math.random() * (range.last - range.first + 1))
    if (await isFree(port)) return port
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}
