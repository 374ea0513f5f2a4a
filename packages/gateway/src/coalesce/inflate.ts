import { gunzipWholeNow } from '../ingest/gzip-whole.ts'

/**
 * Returns what a small gzip body holds, or `undefined` if it is not gzip from its first byte to its last (C-3) or holds
 * more than `maxBytes`: it then travels alone, as it came.
 */
export function inflate(body: Uint8Array, maxBytes: number): Uint8Array | undefined {
  const gunzipped = gunzipWholeNow(body, maxBytes)
  return typeof gunzipped === 'string' ? undefined : gunzipped
}
