import { ConfigError } from '../config-error.ts'
import type { UpstreamConfig } from '../gateway-config.ts'
import { WatchedFile, type WatchOptions } from './watched-file.ts'

/**
 * What we send upstream as `Authorization` in our own name.
 *
 * @see spec/otlp-gateway.md X-9
 */
export interface UpstreamCredential {
  /** Of the header. */
  readonly value: string
  /** To be awaited before `value` is used, unless `undefined`. */
  refreshed(): Promise<void> | undefined
}

/** Throws when the file cannot be read or holds no credential. `undefined`: upstream asks for none. */
export async function openUpstreamCredential(
  config: UpstreamConfig['credential'],
  options: WatchOptions,
): Promise<UpstreamCredential | undefined> {
  if (config === undefined) return undefined
  if ('file' in config) return await WatchedFile.open(config.file, credentialIn, options)
  const value = credentialIn(config.header)
  return { value, refreshed: () => undefined }
}

const MAX_CREDENTIAL_CHARACTERS = 8 * 1024

/** A whole header value such as `Basic dXNlcjpwYXNz`, or a bare token, which is sent as bearer. */
function credentialIn(text: string): string {
  const value = text.trim()
  if (value === '') throw new ConfigError('the credential of upstream is empty')
  if (value.length > MAX_CREDENTIAL_CHARACTERS)
    throw new ConfigError('the credential of upstream is longer than a credential may be')
  if (!/^[\x20-\x7e]+$/.test(value))
    throw new ConfigError('the credential of upstream holds characters that no credential has')
  return value.includes(' ') ? value : `Bearer ${value}`
}
