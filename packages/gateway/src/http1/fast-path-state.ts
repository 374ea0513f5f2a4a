import { once } from 'node:events'
import { createServer } from 'node:net'
import { canReadIntoBuffer } from '../connections/shared-read-buffer.ts'

/**
 * Whether the requests of exporters are read without node:http. `without_shared_buffer`: they are, but this Node lacks the
 * undocumented parts with which all connections are read into one buffer, so each request costs more.
 */
export type FastPathState = 'on' | 'without_shared_buffer' | 'off'

/** Returns the state for the setting `gateway.fastPath`. Asks the running Node with a server on loopback. */
export async function fastPathState(isEnabled: boolean): Promise<FastPathState> {
  if (!isEnabled) return 'off'
  const server = createServer().listen(0, '127.0.0.1')
  try {
    await once(server, 'listening')
    return canReadIntoBuffer(server) ? 'on' : 'without_shared_buffer'
  } finally {
    server.close()
  }
}
