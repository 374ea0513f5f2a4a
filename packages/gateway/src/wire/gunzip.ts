import { gunzip, gunzipSync, type InputType } from 'node:zlib'
import { lengthOption, wholeBody } from '../node-internals/gunzip-length.ts'

/** The inflated body; `invalid` if any part of the body is not gzip, `too_large` if it exceeds the limit. */
type GunzipResult = Uint8Array | 'invalid' | 'too_large'

/**
 * Inflates a gzip body of any number of members on a worker thread.
 *
 * A body with zero bytes after a member is invalid: zlib silently stops there, while other decoders skip the zeros and
 * read on (C-3).
 */
export function gunzipBody(body: Uint8Array, maxBytes: number): Promise<GunzipResult> {
  return new Promise((resolve, reject) => {
    gunzip(body, gunzipOptions(body, maxBytes), (error, result) => {
      const failure = error === null ? undefined : toFailure(error)
      if (failure !== undefined) resolve(failure)
      else if (error !== null) reject(error)
      else resolve(whole(result, body, maxBytes))
    })
  })
}

/** Like `gunzipBody`, but synchronous, for bodies that are too small to be worth a thread. */
export function gunzipBodySync(body: Uint8Array, maxBytes: number): GunzipResult {
  try {
    return whole(gunzipSync(body, gunzipOptions(body, maxBytes)), body, maxBytes)
  } catch (error) {
    const failure = toFailure(error as NodeJS.ErrnoException)
    if (failure === undefined) throw error
    return failure
  }
}

function gunzipOptions(body: Uint8Array, maxOutputLength: number) {
  return { ...lengthOption(), maxOutputLength, chunkSize: body.length < 2_048 ? 4_096 : 16_384 }
}

function whole(result: InputType, body: Uint8Array, maxBytes: number): GunzipResult {
  return wholeBody(result, body, (longer) => gunzipSync(longer, { maxOutputLength: maxBytes + 1 })) ?? 'invalid'
}

/**
 * Returns the result for an error of zlib; `undefined` if the body did not cause the error. zlib's own codes begin with
 * `Z_`.
 */
function toFailure({ code }: NodeJS.ErrnoException): 'invalid' | 'too_large' | undefined {
  if (code === 'ERR_BUFFER_TOO_LARGE') return 'too_large'
  return code?.startsWith('Z_') ? 'invalid' : undefined
}
