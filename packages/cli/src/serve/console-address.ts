import { UsageError } from '../process/environment.ts'
import type { Settings } from '../settings/setting-table.ts'

/** The addresses that accept connections on every interface are not ones to connect to. */
const loopbackOf: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/**
 * Returns the URL of the console, without a slash at the end.
 *
 * @param bound the address that is bound; default: the one in the settings
 * @throws {UsageError} if the port is chosen at each start and is not known here
 */
export function consoleAddress(
  settings: Settings,
  { host, port }: { readonly host: string; readonly port: number } = settings['observability.listen'],
): string {
  const external = settings['observability.externalUrl']
  if (external !== undefined) return external.replace(/\/+$/, '')
  if (port === 0) {
    throw new UsageError("the port of PENSTOCK_OBS_LISTEN is 0: set PENSTOCK_OBS_EXTERNAL_URL to the console's address")
  }
  const name = loopbackOf[host] ?? host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}

/** Returns a link that signs one browser in. The code is in the fragment, which browsers send to no server. */
export const signInLink = (address: string, code: string): string => `${address}/#code=${code}`
