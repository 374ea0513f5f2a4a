import { once } from 'node:events'
import { createServer } from 'node:net'

/** The range is below the ports of outgoing connections, because tests open many of those. */
const range = { first: 20_000, last: 31_999 }

/**
 * Returns an unused loopback port for a server that cannot report which port the system chose. No outgoing connection uses
 * the port by chance. A server that can report its port should listen on port 0 instead.
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
