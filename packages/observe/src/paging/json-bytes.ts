import { jsonParts } from '@penstock/json'
import { JoinedBytes } from './joined-bytes.ts'

/** Returns the number of bytes of a value's JSON. */
export function jsonLength(value: unknown): number {
  let bytes = 0
  for (const part of jsonParts(value)) bytes += Buffer.byteLength(part)
  return bytes
}

/** Returns the JSON of a value; `undefined` if it has more than `maxBytes` bytes. */
export function jsonWithin(value: unknown, maxBytes: number): Uint8Array<ArrayBuffer> | undefined {
  const json = new JoinedBytes()
  for (const part of jsonParts(value)) {
    json.add(part)
    if (json.length > maxBytes) return undefined
  }
  return json.toBytes()
}
