import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

/**
 * A loopback port that was free a moment ago, for servers that cannot tell which one they got.
 * Whoever can should listen on port 0 instead: between the answer and its use another may take it.
 */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
