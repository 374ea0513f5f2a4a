import { avoided } from './avoided.ts'

/** `Buffer.prototype.latin1Slice`, which `toString` calls after checks that cost as much as a short string. */
interface Latin1Slicing {
  readonly latin1Slice?: (this: Uint8Array, start: number, end: number) => string
}

const { latin1Slice } = Buffer.prototype as Latin1Slicing

/** Returns bytes as text in which each character represents one byte. */
export function latin1Text(source: Uint8Array, start: number, end: number): string {
  if (latin1Slice !== undefined && !avoided['latin1-text']) return latin1Slice.call(source, start, end)
  return Buffer.from(source.buffer, source.byteOffset + start, end - start).toString('latin1')
}

/** Returns whether this Node has the undocumented function. */
export const hasLatin1Slice = (): boolean => latin1Slice !== undefined
