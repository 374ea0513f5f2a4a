import { gunzipBodySync } from '../wire/gunzip.ts'

/**
 * Returns the inflated content of a small gzip body. Returns `undefined` if any part of the body is not gzip, or if it
 * inflates to more than `maxBytes`; such a body is forwarded alone and unchanged.
 */
export function inflate(body: Uint8Array, maxBytes: number): Uint8Array | undefined {
  const gunzipped = gunzipBodySync(body, maxBytes)
  return typeof gunzipped === 'string' ? undefined : gunzipped
}
