import { gunzipBodySync } from '../ingest/gunzip.ts'

/**
 * Returns the inflated content of a small gzip body. `undefined` if it is not gzip from its first byte to its last, or
 * is longer than `maxBytes` inflated: it is then forwarded alone and unchanged.
 */
export function inflate(body: Uint8Array, maxBytes: number): Uint8Array | undefined {
  const gunzipped = gunzipBodySync(body, maxBytes)
  return typeof gunzipped === 'string' ? undefined : gunzipped
}
