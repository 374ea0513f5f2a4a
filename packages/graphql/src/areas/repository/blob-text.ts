/** Git treats a file as binary if its first 8,000 bytes contain a NUL. */
const BINARY_CHECK_BYTES = 8_000

export const isBinary = (bytes: Uint8Array): boolean => bytes.subarray(0, BINARY_CHECK_BYTES).includes(0)

/** Returns the text, or `undefined` if the bytes are not UTF-8. */
export function textIn(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

export const plainTextIn = (bytes: Uint8Array): string | undefined => (isBinary(bytes) ? undefined : textIn(bytes))
