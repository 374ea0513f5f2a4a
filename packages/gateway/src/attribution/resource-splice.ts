import { BodyRefused } from './body-refused.ts'
import { ByteSink, varintBytes } from './byte-sink.ts'
import { FieldCursor, LENGTH_DELIMITED } from './field-cursor.ts'
import { TOKEN_ID_KEY, TOKEN_NAME_KEY } from './owner-attributes.ts'

/** In every request and every group of one: its first field. So is `attributes` in Resource and `key` in KeyValue. */
const FIRST = 1
const TAG = new Uint8Array([FIRST * 8 + LENGTH_DELIMITED])

/** Fields looked at in one body. Two bytes make a field, so the size alone does not bound the time spent. */
const MAX_FIELDS = 1_000_000

const ownKeys = [TOKEN_ID_KEY, TOKEN_NAME_KEY].map((key) => Buffer.from(key))

/**
 * An Export*ServiceRequest in protobuf with `attributes` (fields of a Resource) added to each of its Resources:
 *
 *     | 0A len | ResourceSpans: 0A len | Resource: attributes … others … + ours | scope_spans … schema_url | next
 *          ^ corrected             ^ corrected
 *
 * Attributes of our names that the client sent are left out (anti-spoof), groups without a Resource are given one, and
 * of several Resources in one group, which protobuf says are to be merged, one is made: decoders that keep only the
 * last would lose the service's name. All else stays as it is. Throws `BodyRefused` when the body is not framed
 * protobuf or would grow over `maxBytes`.
 *
 * @see spec/otlp-gateway.md 5 X-11
 */
export function spliceProtobuf(body: Uint8Array, attributes: Uint8Array, maxBytes: number): Uint8Array {
  return new Splice(body, attributes, maxBytes).run()
}

class Splice {
  readonly #body: Uint8Array
  readonly #attributes: Uint8Array
  readonly #sink: ByteSink
  /** Starts and ends in turn, of what stays. */
  readonly #ofResource: number[] = []
  readonly #ofGroup: number[] = []
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

  /** ResourceSpans, ResourceMetrics or ResourceLogs. */
  #writeGroup(start: number, end: number): void {
    this.#ofResource.length = 0
    this.#ofGroup.length = 0
    const fields = new FieldCursor(this.#body, start, end)
    while (this.#next(fields)) {
      if (fields.is(FIRST, LENGTH_DELIMITED)) this.#keepResource(fields.valueStart, fields.end)
      else keep(this.#ofGroup, fields.start, fields.end)
    }
    const resourceBytes = bytesIn(this.#ofResource) + this.#attributes.length
    this.#sink.append(TAG)
    this.#sink.varint(bytesIn(this.#ofGroup) + 1 + varintBytes(resourceBytes) + resourceBytes)
    this.#sink.append(TAG)
    this.#sink.varint(resourceBytes)
    this.#write(this.#ofResource)
    this.#sink.append(this.#attributes)
    this.#write(this.#ofGroup)
  }

  #keepResource(start: number, end: number): void {
    const fields = new FieldCursor(this.#body, start, end)
    while (this.#next(fields)) {
      const isOurs = fields.is(FIRST, LENGTH_DELIMITED) && this.#hasOwnKey(fields.valueStart, fields.end)
      if (!isOurs) keep(this.#ofResource, fields.start, fields.end)
    }
  }

  /** Of a key given twice, the last counts, as in every decoder. */
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

/** Neighbours become one range, so that a group costs a copy or two. */
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
