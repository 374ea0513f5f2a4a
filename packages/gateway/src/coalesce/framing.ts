/** The tag of field 1, length-delimited: the only field of an export request for traces, metrics or logs. */
const RECORD = 0x0a
/** The longest length prefix: 28 bits. Longer records exceed every body that is joined. */
const MAX_LENGTH_BYTES = 4

/**
 * Returns the number of records in a body that consists of records only; -1 for any other body (C-2).
 *
 *     record = 0A · canonical varint n · n bytes
 *
 * Such bodies can be concatenated: the end of each record is determined by its own length prefix, so the joined body
 * has exactly the records of its parts, and malformed content of one record cannot affect another.
 */
export function countRecords(body: Uint8Array): number {
  const end = body.length
  let at = 0
  let records = 0
  while (at < end) {
    if (body[at] !== RECORD) return -1
    at += 1
    let length = 0
    let lengthBytes = 0
    let byte = 0
    do {
      if (at === end || lengthBytes === MAX_LENGTH_BYTES) return -1
      byte = body[at]!
      at += 1
      length |= (byte & 0x7f) << (7 * lengthBytes)
      lengthBytes += 1
    } while (byte >= 0x80)
    const isPadded = byte === 0 && lengthBytes > 1
    if (isPadded || length > end - at) return -1
    at += length
    records += 1
  }
  return records
}
