import { RecordError } from '@penstock/forges'

/** The first bytes of formats that are often sent instead of UTF-8, with the advice for each. */
const otherEncodings = [
  { magic: [0x1f, 0x8b], reason: 'is compressed with gzip; send it uncompressed' },
  { magic: [0x28, 0xb5, 0x2f, 0xfd], reason: 'is compressed with zstd; send it uncompressed' },
  { magic: [0xff, 0xfe], reason: 'is UTF-16; send it as UTF-8' },
  { magic: [0xfe, 0xff], reason: 'is UTF-16; send it as UTF-8' },
] as const

/**
 * Returns the text of UTF-8 bytes.
 * @throws RecordError for other bytes; it names gzip, zstd and UTF-16
 */
export function utf8Text(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    const found = otherEncodings.find(({ magic }) => magic.every((byte, index) => bytes[index] === byte))
    throw new RecordError('', found?.reason ?? 'is not UTF-8')
  }
}
