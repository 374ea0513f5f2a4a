import { type Gunzipped, gunzipWhole, gunzipWholeNow } from '../ingest/gzip-whole.ts'

/** Up to here the thread pool costs more than the work. */
const SYNCHRONOUS_BYTES = 16 * 1024

/**
 * What a gzip body holds, or `undefined` when it is not gzip as a whole (C-3) or holds more than `maxBytes`: it then
 * travels alone, as it came.
 *
 * Small bodies are done at once, larger ones elsewhere.
 */
export function inflate(body: Uint8Array, maxBytes: number): Uint8Array | undefined | Promise<Uint8Array | undefined> {
  return body.length > SYNCHRONOUS_BYTES
    ? gunzipWhole(body, maxBytes).then(bytesOf)
    : bytesOf(gunzipWholeNow(body, maxBytes))
}

const bytesOf = (gunzipped: Gunzipped): Uint8Array | undefined =>
  typeof gunzipped === 'string' ? undefined : gunzipped
