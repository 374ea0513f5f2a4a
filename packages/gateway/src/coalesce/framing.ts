/** Tag of field 1, length-delimited: the only one that an export request of traces, metrics or logs has. */
const RECORD = 0x0a
/** Lengths of up to 28 bits; a longer record does not fit into any body we join. */
const MAX_LENGTH_BYTES = 4

/**
 * Number of records in a body that is nothing but records, -1 for any other body.
 *
 *     record = 0A · canonical varint n · n bytes
 *
 * Such bodies can be joined end to end: where one record ends is decided by that record alone, so the records of the
 * whole are those of its parts, and a fault inside a record stays there.
 *
 * @see spec/otlp-gateway.md C-2, 6.3
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
