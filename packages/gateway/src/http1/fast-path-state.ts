import { once } from 'node:events'
import { createServer } from 'node:net'
import type { GatewayConfig } from '../contract/gateway-config.ts'
import { canReadIntoBuffer } from '../node-internals/shared-read-buffer.ts'

/**
 * Whether the requests of exporters are read without node:http. `without_shared_buffer`: they are, but this Node lacks the
 * undocumented parts with which all connections are read into one buffer, so each request costs more.
 */
export type FastPathState = 'on' | 'without_shared_buffer' | 'off'

/** Returns the state for the settings. Asks the running Node with a server on loopback. */
export async function fastPathState(
  settings: Pick<GatewayConfig, 'fastPath' | 'http1FastPath' | 'sharedReadBuffer'>,
): Promise<FastPathState> {
  if (!settings.fastPath || !settings.http1FastPath) return 'off'
  if (!settings.sharedReadBuffer) return 'on'
  const server = createServer().listen(0, '127.0.0.1')
  try {
    await once(server, 'listening')
    return canReadIntoBuffer(server) ? 'on' : 'without_shared_buffer'
  } finally {
    server.close()
  }
}
