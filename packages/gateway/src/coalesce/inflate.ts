import { gunzip, gunzipSync, type InputType } from 'node:zlib'

/** With `info`, zlib hands out its engine too; the types of Node do not say so. */
interface Inflated {
  readonly buffer: Uint8Array
  readonly engine: { readonly bytesWritten: number }
}

/** Up to here the thread pool costs more than the work. */
const SYNCHRONOUS_BYTES = 16 * 1024

/**
 * What a gzip body holds, or `undefined` when it is not gzip from its first byte to its last, or holds more than
 * `maxBytes`. Trailing zero bytes make it invalid: some readers would skip them, others stop there, and what is
 * joined behind them would be lost (C-3).
 *
 * Small bodies are done at once, larger ones elsewhere.
 */
export function inflate(body: Uint8Array, maxBytes: number): Uint8Array | undefined | Promise<Uint8Array | undefined> {
  const options = { info: true, maxOutputLength: maxBytes, chunkSize: body.length < 2_048 ? 4_096 : 16_384 }
  if (body.length > SYNCHRONOUS_BYTES) {
    return new Promise((resolve) => {
      gunzip(body, options, (error, result) => resolve(error === null ? whole(result, body) : undefined))
    })
  }
  try {
    return whole(gunzipSync(body, options), body)
  } catch {
    return undefined
  }
}

function whole(result: InputType, body: Uint8Array): Uint8Array | undefined {
  const { buffer, engine } = result as unknown as Inflated
  return engine.bytesWritten === body.length ? buffer : undefined
}
