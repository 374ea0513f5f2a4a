import type { ConnectionLimits } from './connection-table.ts'

/** A log line about a listener that has reached a connection limit. */
export interface ListenerFull {
  readonly fields: Readonly<Record<string, unknown>>
  readonly message: string
}

/**
 * Returns the log line for a listener that has reached a connection limit.
 *
 * @param source the address of the latest connection
 */
export function listenerFull(
  { host, port }: { readonly host: string; readonly port: number },
  { maxConnections, maxPerAddress }: Pick<ConnectionLimits, 'maxConnections' | 'maxPerAddress'>,
  source: string,
): ListenerFull {
  return {
    fields: {
      event: 'listener.full',
      listen: `${host.includes(':') ? `[${host}]` : host}:${port}`,
      max_connections: maxConnections,
      max_connections_per_address: maxPerAddress,
      source,
    },
    message:
      'the listener has reached a connection limit (maxConnections, or maxConnectionsPerAddress for one address): connections ' +
      'without a request are closed, and if all have one, requests on further connections get 503',
  }
}
