/** The value of a lower-case hex digit by its character code; 255 for other characters. */
const digitValues = new Uint8Array(128).fill(255)
for (let value = 0; value < 16; value += 1) digitValues['0123456789abcdef'.charCodeAt(value)] = value

/**
 * Writes the bytes of the hex text `digits`.
 *
 * @throws {TypeError} if the text is not lower-case hex of the right length, which is a bug of the caller
 */
export function writeHexBytes(digits: string, byteCount: number, into: Uint8Array, at: number): void {
  if (digits.length !== byteCount * 2)
    throw new TypeError(`an id of ${byteCount} bytes has ${byteCount * 2} hex digits`)
  let invalid = 0
  for (let index = 0; index < byteCount; index += 1) {
    const high = digitValues[digits.charCodeAt(index * 2)] ?? 255
    const low = digitValues[digits.charCodeAt(index * 2 + 1)] ?? 255
    invalid |= (high | low) & 0x80
    into[at + index] = (high << 4) | low
  }
  if (invalid !== 0) throw new TypeError('an id is written in lower-case hex digits')
}

const lowerHex = /^[0-9a-f]*$/

/** Validates a hex text. @throws {TypeError} in the same cases as `writeHexBytes` */
export function requireHex(digits: string, byteCount: number): void {
  if (digits.length !== byteCount * 2)
    throw new TypeError(`an id of ${byteCount} bytes has ${byteCount * 2} hex digits`)
  if (!lowerHex.test(digits)) throw new TypeError('an id is written in lower-case hex digits')
}
