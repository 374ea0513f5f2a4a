import type { Signal } from '@penstock/otlp'
import { malformed } from '../wire/body-refused.ts'
import { JsonCursor } from '../wire/json-cursor.ts'
import { ByteSink } from './byte-sink.ts'
import { TOKEN_ID_KEY, TOKEN_NAME_KEY } from './owner-attributes.ts'

/** The names of the list of groups in a request. The Collector accepts both spellings. */
const groupKeys: Readonly<Record<Signal, readonly [string, string]>> = {
  traces: ['resourceSpans', 'resource_spans'],
  metrics: ['resourceMetrics', 'resource_metrics'],
  logs: ['resourceLogs', 'resource_logs'],
}

/**
 * Adds `attributes` (elements of a JSON array) to each resource of an Export*ServiceRequest in JSON, and removes
 * attributes that the client sent under the token's keys. All other bytes are copied, not parsed, so 64-bit
 * numbers and white space are preserved (P-18).
 *
 * Throws `BodyRefused` if a key on the path to the attributes occurs twice: parsers differ on which one they use.
 */
export function spliceJson(signal: Signal, body: Uint8Array, attributes: Uint8Array, maxBytes: number): Uint8Array {
  return new JsonSplice(body, attributes, maxBytes).run(groupKeys[signal])
}

class JsonSplice {
  readonly #body: Uint8Array
  readonly #attributes: Uint8Array
  readonly #cursor: JsonCursor
  readonly #sink: ByteSink
  /** The position up to which the body has been copied or skipped. */
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
      if (groupLists > 1) malformed(`"${camelCase}" occurs twice`)
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

  /**
   * Calls `visit` at the value of member `name` of the object at the cursor. If the member is missing or null, writes
   * it as `before`, the token attributes and `after`.
   */
  #inObject(name: string, visit: () => void, before: string, after: string): void {
    const cursor = this.#cursor
    if (cursor.peek() !== '{') malformed('an object was expected')
    const afterBrace = cursor.position + 1
    let isFound = false
    let isEmpty = true
    cursor.members((key) => {
      isEmpty = false
      if (key !== name) {
        cursor.skip()
        return
      }
      if (isFound) malformed(`"${key}" occurs twice`)
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
    let removedFrom = -1
    let end = cursor.position + 1
    let isFirst = true
    cursor.elements(() => {
      if (removedFrom >= 0) this.#remove(removedFrom, cursor.position)
      const start = cursor.position
      removedFrom = this.#isTokenAttribute() ? start : -1
      end = cursor.position
      isFirst = false
    })
    if (removedFrom >= 0) this.#remove(removedFrom, end)
    this.#copyTo(end)
    // If the last element was removed, the comma before it is still there.
    this.#insert(isFirst || removedFrom >= 0 ? '' : ',', '')
  }

  /** Advances past one KeyValue, and returns whether its key is one of the token's. */
  #isTokenAttribute(): boolean {
    let key: string | undefined
    this.#cursor.members((name) => {
      if (name === 'key' && key !== undefined) malformed('"key" occurs twice')
      if (name === 'key') key = this.#cursor.string()
      else this.#cursor.skip()
    })
    return key === TOKEN_ID_KEY || key === TOKEN_NAME_KEY
  }

  #replaceNull(before: string, after: string): void {
    const start = this.#cursor.position
    this.#cursor.skip()
    this.#remove(start, this.#cursor.position)
    this.#insert(before, after)
  }

  #copyTo(position: number): void {
    this.#sink.append(this.#body, this.#done, position)
    this.#done = position
  }

  #remove(start: number, end: number): void {
    this.#copyTo(start)
    this.#done = end
  }

  #insert(before: string, after: string): void {
    this.#sink.append(Buffer.from(before))
    this.#sink.append(this.#attributes)
    this.#sink.append(Buffer.from(after))
  }
}
