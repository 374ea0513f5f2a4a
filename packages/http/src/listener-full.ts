import type { ConnectionLimits } from './connection-table.ts'

/** The log line of a listener that reaches a limit on its connections. */
export interface ListenerFull {
  readonly fields: Readonly<Record<string, unknown>>
  readonly message: string
}

/**
 * Returns the log line of a listener that has reached a limit on its connections.
 *
 * @param source address of the connection that came last
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
      'a limit of connections is reached (maxConnections, or maxConnectionsPerAddress for one address): connections without ' +
      'a request are closed, and if all have one, requests on further connections get 503',
  }
}
