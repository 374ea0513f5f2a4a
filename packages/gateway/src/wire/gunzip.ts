import { gunzip, gunzipSync, type InputType } from 'node:zlib'

/** The result of zlib with the option `info`, which Node's types do not declare. */
interface WithEngine {
  readonly buffer: Uint8Array
  readonly engine: { readonly bytesWritten: number }
}

/** The inflated body; `invalid` if any part of the body is not gzip, `too_large` if it exceeds the limit. */
export type GunzipResult = Uint8Array | 'invalid' | 'too_large'

/**
 * Inflates a gzip body of any number of members on a worker thread.
 *
 * A body with zero bytes after a member is invalid: zlib silently stops there, while other decoders skip the zeros and
 * read on (C-3).
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

/** Like `gunzipBody`, but synchronous, for bodies that are too small to be worth a thread. */
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

/**
 * Returns the result for an error of zlib; `undefined` if the body did not cause the error. zlib's own codes begin with
 * `Z_`.
 */
function failureOf({ code }: NodeJS.ErrnoException): 'invalid' | 'too_large' | undefined {
  if (code === 'ERR_BUFFER_TOO_LARGE') return 'too_large'
  return code?.startsWith('Z_') ? 'invalid' : undefined
}
