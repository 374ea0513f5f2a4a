import { BodyRefused } from '../wire/body-refused.ts'
import { FieldCursor, LENGTH_DELIMITED } from '../wire/field-cursor.ts'
import { JsonCursor } from '../wire/json-cursor.ts'

const SERVICE_NAME = 'service.name'
const MAX_NAME_LENGTH = 200
const OPENING_BRACE = 0x7b
const groupKey = /^resource_?(spans|metrics|logs)$/i

/**
 * Returns `service.name` of the first Resource in the first bytes of an export request, protobuf or JSON. Returns
 * `undefined` if it is absent or not text, or if the body is malformed. Later Resources are not read.
 */
export function serviceNameIn(prefix: Uint8Array): string | undefined {
  const found: { name?: string } = {}
  try {
    if (prefix[0] === OPENING_BRACE) findInJson(new JsonCursor(prefix), found)
    else findInProtobuf(prefix, found)
  } catch (error) {
    // The body is truncated or malformed: use what was found before that.
    if (!(error instanceof BodyRefused)) throw error
  }
  return found.name?.slice(0, MAX_NAME_LENGTH)
}

/** Reads the path Request 1 → ResourceSpans 1 → Resource 1 → KeyValue {1 key, 2 AnyValue {1 string_value}}. */
function findInProtobuf(bytes: Uint8Array, found: { name?: string }): void {
  const resource = firstField(bytes, firstField(bytes, { valueStart: 0, end: bytes.length }))
  if (resource === undefined) return
  const attributes = new FieldCursor(bytes, resource.valueStart, resource.end, true)
  while (attributes.next()) {
    if (!attributes.is(1, LENGTH_DELIMITED)) continue
    const key = firstField(bytes, attributes)
    if (key === undefined || toText(bytes, key) !== SERVICE_NAME) continue
    const value = firstField(bytes, attributes, 2)
    if (value === undefined) return
    // The value itself must be complete: half a name would be a different name.
    const text = new FieldCursor(bytes, value.valueStart, value.end)
    if (text.next() && text.is(1, LENGTH_DELIMITED)) found.name = toText(bytes, text)
    return
  }
}

interface Range {
  readonly valueStart: number
  readonly end: number
}

function firstField(bytes: Uint8Array, message: Range | undefined, number = 1): Range | undefined {
  if (message === undefined) return undefined
  const fields = new FieldCursor(bytes, message.valueStart, message.end, true)
  while (fields.next()) if (fields.is(number, LENGTH_DELIMITED)) return fields
  return undefined
}

function toText(bytes: Uint8Array, { valueStart, end }: Range): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + valueStart, end - valueStart).toString('utf8')
}

function findInJson(json: JsonCursor, found: { name?: string }): void {
  let isFirst = true
  eachMember(json, groupKey, () =>
    json.elements(() => {
      if (!isFirst) return json.skip()
      isFirst = false
      eachMember(json, /^resource$/, () =>
        eachMember(json, /^attributes$/, () => json.elements(() => readAttribute(json, found))),
      )
    }),
  )
}

function readAttribute(json: JsonCursor, found: { name?: string }): void {
  let key = ''
  let text: string | undefined
  json.members((member) => {
    if (member === 'key') key = json.string()
    else if (member === 'value')
      eachMember(json, /^string_?value$/i, () => {
        text = json.string()
      })
    else json.skip()
  })
  if (key === SERVICE_NAME && text !== undefined) found.name ??= text
}

function eachMember(json: JsonCursor, name: RegExp, read: () => void): void {
  json.members((key) => {
    if (name.test(key)) read()
    else json.skip()
  })
}
