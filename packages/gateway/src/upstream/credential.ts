import { ConfigError } from '../contract/config-error.ts'
import type { UpstreamConfig } from '../contract/gateway-config.ts'
import { WatchedFile, type WatchOptions } from './watched-file.ts'

/** The gateway's own credential, sent upstream as `Authorization`. */
export interface UpstreamCredential {
  /** The value of the header. */
  readonly value: string
  /** Updates `value` if necessary. Returns a promise to await before `value` is read, or `undefined`. */
  refresh(): Promise<void> | undefined
}

/** Opens the configured credential; `undefined` if there is none. Throws if its file cannot be read or has no credential. */
export async function openUpstreamCredential(
  config: UpstreamConfig['credential'],
  options: WatchOptions,
): Promise<UpstreamCredential | undefined> {
  if (config === undefined) return undefined
  if ('file' in config) return await WatchedFile.open(config.file, parseCredential, options)
  const value = parseCredential(config.header)
  return { value, refresh: () => undefined }
}

const MAX_CREDENTIAL_CHARACTERS = 8 * 1024

/** Returns the header value for a text, which is a header value such as `Basic dXNlcjpwYXNz` or a bearer token. */
function parseCredential(text: string): string {
  const value = text.trim()
  if (value === '') throw new ConfigError('the credential of upstream is empty')
  if (value.length > MAX_CREDENTIAL_CHARACTERS)
    throw new ConfigError(`the credential of upstream is longer than ${MAX_CREDENTIAL_CHARACTERS} characters`)
  if (!/^[\x20-\x7e]+$/.test(value))
    throw new ConfigError('the credential of upstream contains characters that are not printable ASCII')
  return value.includes(' ') ? value : `Bearer ${value}`
}
