import { gunzip, gunzipSync, type InputType } from 'node:zlib'

/** With `info`, zlib hands out its engine too; the types of Node do not say so. */
interface WithEngine {
  readonly buffer: Uint8Array
  readonly engine: { readonly bytesWritten: number }
}

/** What a body holds; or it is not gzip from its first byte to its last, or holds more than it may. */
export type GunzipResult = Uint8Array | 'invalid' | 'too_large'

/**
 * Inflates a gzip body of any number of members, away from the event loop.
 *
 * Trailing zero bytes make it invalid: zlib stops there without a word, other readers skip them, and whatever follows
 * them would be lost (C-3).
 */
export function gunzipBody(body: Uint8Array, maxBytes: number): Promise<GunzipResult> {
  return new Promise((resolve, reject) => {
    gunzip(body, optionsFor(body, maxBytes), (error, result) => {
      if (error === null) {
        resolve(whole(result, body))
        return
      }
      const failure = failureOf(error)
      if (failure === undefined) reject(error)
      else resolve(failure)
    })
  })
}

/** The same at once, for what is too small to be worth a thread. */
export function gunzipBodySync(body: Uint8Array, maxBytes: number): GunzipResult {
  try {
    return whole(gunzipSync(body, optionsFor(body, maxBytes)), body)
  } catch (error) {
    const failure = failureOf(error as NodeJS.ErrnoException)
    if (failure === undefined) throw error
    return failure
  }
}

function optionsFor(body: Uint8Array, maxOutputLength: number) {
  return { info: true, maxOutputLength, chunkSize: body.length < 2_048 ? 4_096 : 16_384 }
}

function whole(result: InputType, body: Uint8Array): GunzipResult {
  const { buffer, engine } = result as unknown as WithEngine
  return engine.bytesWritten === body.length ? buffer : 'invalid'
}

/** zlib's own failures have codes such as Z_DATA_ERROR; `undefined`: not about the body. */
function failureOf({ code }: NodeJS.ErrnoException): 'invalid' | 'too_large' | undefined {
  if (code === 'ERR_BUFFER_TOO_LARGE') return 'too_large'
  return code?.startsWith('Z_') ? 'invalid' : undefined
}
