import { BodyRefused } from '../wire/body-refused.ts'
import { FieldCursor, LENGTH_DELIMITED } from '../wire/field-cursor.ts'
import { ByteSink, varintBytes } from './byte-sink.ts'
import { TOKEN_ID_KEY, TOKEN_NAME_KEY } from './owner-attributes.ts'

/**
 * The field number that four fields share: the ResourceSpans in a request, the Resource in a ResourceSpans,
 * `attributes` in a Resource, and `key` in a KeyValue. Metrics and logs use the same number.
 */
const FIRST = 1
const TAG = new Uint8Array([FIRST * 8 + LENGTH_DELIMITED])

/**
 * The highest number of fields read in one body. A field can take two bytes, so the size alone does not bound the time.
 */
const MAX_FIELDS = 1_000_000

const ownKeys = [TOKEN_ID_KEY, TOKEN_NAME_KEY].map((key) => Buffer.from(key))

/**
 * Adds `attributes` (fields of a Resource) to each Resource of an Export*ServiceRequest in protobuf:
 *
 *     | 0A len | ResourceSpans: 0A len | Resource: attributes … others … + ours | scope_spans … schema_url | next
 *          ^ corrected             ^ corrected
 *
 * Removes attributes that the client sent under the token's keys, so that they cannot be spoofed. Adds a Resource to
 * groups without one. Merges several Resources of one group, as protobuf demands: decoders that keep only the last
 * would lose the name of the service. Copies all other fields unchanged. Throws `BodyRefused` if the body is not valid
 * protobuf framing or would exceed `maxBytes`.
 */
export function spliceProtobuf(body: Uint8Array, attributes: Uint8Array, maxBytes: number): Uint8Array {
  return new Splice(body, attributes, maxBytes).run()
}

class Splice {
  readonly #body: Uint8Array
  readonly #attributes: Uint8Array
  readonly #sink: ByteSink
  /** Ranges of the body to copy, as alternating start and end positions. */
  readonly #resourceRanges: number[] = []
  readonly #groupRanges: number[] = []
  #fieldsLeft = MAX_FIELDS

  constructor(body: Uint8Array, attributes: Uint8Array, maxBytes: number) {
    this.#body = body
    this.#attributes = attributes
    this.#sink = new ByteSink(body.length + attributes.length + 32, maxBytes)
  }

  run(): Uint8Array {
    const fields = new FieldCursor(this.#body)
    while (this.#next(fields)) {
      if (fields.is(FIRST, LENGTH_DELIMITED)) this.#writeGroup(fields.valueStart, fields.end)
      else this.#sink.append(this.#body, fields.start, fields.end)
    }
    return this.#sink.bytes()
  }

  /** Writes one ResourceSpans, ResourceMetrics or ResourceLogs. */
  #writeGroup(start: number, end: number): void {
    this.#resourceRanges.length = 0
    this.#groupRanges.length = 0
    const fields = new FieldCursor(this.#body, start, end)
    while (this.#next(fields)) {
      if (fields.is(FIRST, LENGTH_DELIMITED)) this.#keepResource(fields.valueStart, fields.end)
      else keep(this.#groupRanges, fields.start, fields.end)
    }
    const resourceBytes = bytesIn(this.#resourceRanges) + this.#attributes.length
    this.#sink.append(TAG)
    this.#sink.varint(bytesIn(this.#groupRanges) + 1 + varintBytes(resourceBytes) + resourceBytes)
    this.#sink.append(TAG)
    this.#sink.varint(resourceBytes)
    this.#write(this.#resourceRanges)
    this.#sink.append(this.#attributes)
    this.#write(this.#groupRanges)
  }

  #keepResource(start: number, end: number): void {
    const fields = new FieldCursor(this.#body, start, end)
    while (this.#next(fields)) {
      const isOurs = fields.is(FIRST, LENGTH_DELIMITED) && this.#hasOwnKey(fields.valueStart, fields.end)
      if (!isOurs) keep(this.#resourceRanges, fields.start, fields.end)
    }
  }

  /** Returns whether the KeyValue has one of the token's keys. If it has several `key` fields, the last one counts. */
  #hasOwnKey(start: number, end: number): boolean {
    let keyStart = 0
    let keyEnd = 0
    const fields = new FieldCursor(this.#body, start, end)
    while (this.#next(fields)) {
      if (!fields.is(FIRST, LENGTH_DELIMITED)) continue
      keyStart = fields.valueStart
      keyEnd = fields.end
    }
    return ownKeys.some((key) => isSame(key, this.#body, keyStart, keyEnd))
  }

  #next(fields: FieldCursor): boolean {
    this.#fieldsLeft -= 1
    if (this.#fieldsLeft < 0) throw new BodyRefused('body_too_large', `The body has more than ${MAX_FIELDS} fields.`)
    return fields.next()
  }

  #write(ranges: readonly number[]): void {
    for (let index = 0; index < ranges.length; index += 2) {
      this.#sink.append(this.#body, ranges[index], ranges[index + 1])
    }
  }
}

/** Appends a range, and merges it with an adjacent one so that few copies are made. */
function keep(ranges: number[], start: number, end: number): void {
  if (ranges.at(-1) === start) ranges[ranges.length - 1] = end
  else ranges.push(start, end)
}

function bytesIn(ranges: readonly number[]): number {
  let bytes = 0
  for (let index = 0; index < ranges.length; index += 2) bytes += ranges[index + 1]! - ranges[index]!
  return bytes
}

function isSame(key: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  if (key.length !== end - start) return false
  for (let index = 0; index < key.length; index += 1) if (key[index] !== bytes[start + index]) return false
  return true
}
