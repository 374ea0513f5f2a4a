import type { Signal } from '@penstock/otlp'
import { malformed } from './body-refused.ts'
import { ByteSink } from './byte-sink.ts'
import { JsonCursor } from './json-cursor.ts'
import { TOKEN_ID_KEY, TOKEN_NAME_KEY } from './owner-attributes.ts'

/** The collector reads either spelling. */
const groupKeys: Readonly<Record<Signal, readonly [string, string]>> = {
  traces: ['resourceSpans', 'resource_spans'],
  metrics: ['resourceMetrics', 'resource_metrics'],
  logs: ['resourceLogs', 'resource_logs'],
}

/**
 * An Export*ServiceRequest in JSON with `attributes` (elements of a JSON array) added to each resource, and attributes
 * of our names left out. Every other byte stays, numbers of 64 bits and blanks included: the text is copied, not parsed.
 *
 * A key that decides where attributes lie and is there twice makes the body malformed: parsers differ on which counts.
 * Throws `BodyRefused`.
 *
 * @see spec/otlp-gateway.md 5 X-11, 1.1 P-18
 */
export function spliceJson(signal: Signal, body: Uint8Array, attributes: Uint8Array, maxBytes: number): Uint8Array {
  return new JsonSplice(body, attributes, maxBytes).run(groupKeys[signal])
}

class JsonSplice {
  readonly #body: Uint8Array
  readonly #attributes: Uint8Array
  readonly #cursor: JsonCursor
  readonly #sink: ByteSink
  /** Up to here the body has been copied or left out. */
  #done = 0

  constructor(body: Uint8Array, attributes: Uint8Array, maxBytes: number) {
    this.#body = body
    this.#attributes = attributes
    this.#cursor = new JsonCursor(body)
    this.#sink = new ByteSink(body.length + attributes.length + 64, maxBytes)
  }

  run([camelCase, snakeCase]: readonly [string, string]): Uint8Array {
    const cursor = this.#cursor
    let groupLists = 0
    cursor.members((key) => {
      const isGroupList = key === camelCase || key === snakeCase
      if (isGroupList) groupLists += 1
      if (groupLists > 1) malformed(`"${camelCase}" a second time`)
      if (!isGroupList || cursor.peek() === 'n') cursor.skip()
      else cursor.elements(() => this.#inObject('resource', () => this.#resource(), '{"attributes":[', ']}'))
    })
    cursor.end()
    this.#copyTo(this.#body.length)
    return this.#sink.bytes()
  }

  #resource(): void {
    this.#inObject('attributes', () => this.#attributeList(), '[', ']')
  }

  /** Visits a member of the object here; where it is missing or null it is made: `before`, our attributes, `after`. */
  #inObject(name: string, visit: () => void, before: string, after: string): void {
    const cursor = this.#cursor
    if (cursor.peek() !== '{') malformed('not an object')
    const afterBrace = cursor.position + 1
    let isFound = false
    let isEmpty = true
    cursor.members((key) => {
      isEmpty = false
      if (key !== name) {
        cursor.skip()
        return
      }
      if (isFound) malformed(`"${key}" a second time`)
      isFound = true
      if (cursor.peek() === 'n') this.#replaceNull(before, after)
      else visit()
    })
    if (isFound) return
    this.#copyTo(afterBrace)
    this.#insert(`"${name}":${before}`, isEmpty ? after : `${after},`)
  }

  #attributeList(): void {
    const cursor = this.#cursor
    let leftOutFrom = -1
    let end = cursor.position + 1
    let isFirst = true
    cursor.elements(() => {
      if (leftOutFrom >= 0) this.#leaveOut(leftOutFrom, cursor.position)
      const start = cursor.position
      leftOutFrom = this.#isOurs() ? start : -1
      end = cursor.position
      isFirst = false
    })
    if (leftOutFrom >= 0) this.#leaveOut(leftOutFrom, end)
    this.#copyTo(end)
    // Whatever was kept before an element left out at the end still has its comma.
    this.#insert(isFirst || leftOutFrom >= 0 ? '' : ',', '')
  }

  /** Passes over one KeyValue. */
  #isOurs(): boolean {
    let key: string | undefined
    this.#cursor.members((name) => {
      if (name === 'key' && key !== undefined) malformed('"key" a second time')
      if (name === 'key') key = this.#cursor.string()
      else this.#cursor.skip()
    })
    return key === TOKEN_ID_KEY || key === TOKEN_NAME_KEY
  }

  #replaceNull(before: string, after: string): void {
    const start = this.#cursor.position
    this.#cursor.skip()
    this.#leaveOut(start, this.#cursor.position)
    this.#insert(before, after)
  }

  #copyTo(position: number): void {
    this.#sink.append(this.#body, this.#done, position)
    this.#done = position
  }

  #leaveOut(start: number, end: number): void {
    this.#copyTo(start)
    this.#done = end
  }

  #insert(before: string, after: string): void {
    this.#sink.append(Buffer.from(before))
    this.#sink.append(this.#attributes)
    this.#sink.append(Buffer.from(after))
  }
}
