import type { OutgoingHttpHeaders } from 'node:http2'
import { encodeFields } from './hpack/hpack-encoder.ts'

/** The blocks of frozen headers, which are constants. */
const blocks = new WeakMap<OutgoingHttpHeaders, string>()

/**
 * Returns the header block of a response in latin1, with a `date` if a time is given. The block of a frozen object is encoded once.
 */
export function headerBlock(headers: OutgoingHttpHeaders, nowMs: number | undefined): string {
  if (nowMs !== undefined) return encode({ ...headers, date: new Date(nowMs).toUTCString() })
  const known = blocks.get(headers)
  if (known !== undefined) return known
  const block = encode(headers)
  if (Object.isFrozen(headers)) blocks.set(headers, block)
  return block
}

function encode(headers: OutgoingHttpHeaders): string {
  const fields: string[] = []
  const add = (name: string) => {
    const value = headers[name]
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined) fields.push(name, String(one))
    }
  }
  for (const name in headers) if (name.startsWith(':')) add(name)
  for (const name in headers) if (!name.startsWith(':')) add(name)
  return Buffer.from(encodeFields(fields)).toString('latin1')
}
