import { once } from 'node:events'
import { createServer, type Server } from 'node:net'

/** The range is below the ports of outgoing connections, because tests open many of those. */
const range = { first: 20_000, last: 31_999 }
const blockSize = 100

/** The ports that this process may give out. No other process gives them out while the claim listens. */
interface Block {
  readonly claim: Server
  readonly first: number
  given: number
}

let block: Promise<Block> | undefined

/**
 * Returns an unused loopback port for a server that cannot report which port the system chose. No outgoing connection and no
 * test in another process uses the port by chance. A server that can report its port should listen on port 0 instead.
 */
export async function freePort(): Promise<number> {
  block ??= claimBlock()
  const ours = await block
  for (;;) {
    const port = ours.first + 1 + (ours.given++ % (blockSize - 1))
    const server = await listenOn(port)
    if (server === undefined) continue
    server.close()
    await once(server, 'close')
    return port
  }
}

/** Claims a block: this process listens on the first port of the block until it ends. */
async function claimBlock(): Promise<Block> {
  const count = (range.last + 1 - range.first) / blockSize
  for (;;) {
    const first = range.first + Math.floor(Math.random() * count) * blockSize
    const claim = await listenOn(first)
    if (claim !== undefined) return { claim: claim.unref(), first, given: 0 }
  }
}

/** Returns a server that listens on the port; `undefined` if the port is in use. */
async function listenOn(port: number): Promise<Server | undefined> {
  const server = createServer()
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening')
    return server
  } catch {
    return undefined
  }
}
