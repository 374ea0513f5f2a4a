import { gzipSync, type InputType } from 'node:zlib'
import { avoided } from './avoided.ts'

/** The result of zlib with the option `info`, which Node's types do not declare. */
interface WithEngine {
  readonly buffer: Uint8Array
  readonly engine: { readonly bytesWritten: number }
}

const isWithEngine = (result: object): result is WithEngine =>
  'engine' in result && 'buffer' in result && typeof (result as WithEngine).engine?.bytesWritten === 'number'

/** A gzip member of one byte. */
const probe = gzipSync('x')

/** The option of zlib that makes its result include how many bytes were read. */
export const lengthOption = (): { readonly info?: true } => (avoided['gunzip-length'] ? {} : { info: true })

/**
 * Returns the inflated body; `undefined` if zlib has not read the body to its end. The fall-back inflates again with one more member:
 * its byte is missing if zlib has stopped before it.
 *
 * @param inflate inflates another body, longer by one byte when inflated
 */
export function wholeBody(
  result: InputType | WithEngine,
  body: Uint8Array,
  inflate: (body: Uint8Array) => Uint8Array,
): Uint8Array | undefined {
  if (typeof result === 'object' && isWithEngine(result)) {
    return result.engine.bytesWritten === body.length ? result.buffer : undefined
  }
  const inflated = result as Uint8Array
  return inflate(Buffer.concat([body, probe])).length > inflated.length ? inflated : undefined
}
