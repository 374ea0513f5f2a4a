import { RecordError } from '@penstock/converter'

/**
 * Returns the text of UTF-8 bytes.
 * @throws RecordError for bytes that are not UTF-8
 */
export function utf8Text(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new RecordError('', 'is not UTF-8')
  }
}
