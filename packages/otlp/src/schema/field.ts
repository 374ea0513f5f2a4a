import type { AnyValue, KeyValue } from '../model/types.ts'
import type { ScalarKindName, ScalarValue } from './scalar-kinds.ts'

/**
 * The forms that a field of an OTLP message can have in `schema.ts`.
 *
 * A field has its number in protobuf. Its name in JSON is `json`, or the name of its property if `json` is missing. The
 * encoders and decoders of both encodings are derived from these descriptions.
 */
type FieldForm =
  | { readonly form: 'scalar'; readonly number: number; readonly kind: ScalarKindName }
  /** A repeated scalar. It is written packed, and read packed or unpacked. */
  | { readonly form: 'packed'; readonly number: number; readonly kind: ScalarKindName }
  /** A sub-message. With `required`, the model contains an empty message if it is absent. */
  | { readonly form: 'message'; readonly number: number; readonly message: Message; readonly required: boolean }
  | { readonly form: 'list'; readonly number: number; readonly message: Message }
  /** A repeated common.v1.KeyValue. */
  | { readonly form: 'attributes'; readonly number: number }
  | { readonly form: 'anyValue'; readonly number: number }
  /** A oneof of scalars. In the model it is `{ type, value }`. */
  | { readonly form: 'scalarOneof'; readonly arms: readonly ScalarArm[] }
  /** A oneof of messages. In the model it is the message with a `type`. */
  | { readonly form: 'messageOneof'; readonly arms: readonly MessageArm[] }

interface ScalarArm {
  readonly type: string
  readonly number: number
  readonly kind: ScalarKindName
  readonly json: string
}

interface MessageArm {
  readonly type: string
  readonly number: number
  readonly message: Message
}

/** A field with a value of type `Value` in the model. `model` exists only for type checking. */
export type Field<Value = never> = FieldForm & {
  readonly json?: string
  readonly model?: (value: Value) => Value
}

export type NamedField = FieldForm & {
  /** The property in the model. */
  readonly property: string
  /** The key in JSON. It is unused for a oneof. */
  readonly json: string
}

/** One OTLP message. Its fields are in the order of the proto file, which is the order of JSON keys. */
export interface Message<Model = unknown> {
  readonly name: string
  readonly fields: readonly NamedField[]
  readonly model?: (model: Model) => Model
}

/** A message as seen by code that is derived from its table. */
export type Model = Record<string, unknown>

/** Declares a message. Every property of the model needs a field of its type. */
export function message<T>(
  name: string,
  fields: { readonly [K in Exclude<keyof T, 'type'>]-?: Field<T[K]> },
): Message<T> {
  const entries = Object.entries(fields as Record<string, FieldForm & { json?: string }>)
  return { name, fields: entries.map(([property, field]) => ({ json: property, ...field, property })) }
}

export function scalar<K extends ScalarKindName>(number: number, kind: K, json?: string): Field<ScalarValue<K>> {
  return { form: 'scalar', number, kind, ...(json !== undefined && { json }) }
}

export function packed<K extends ScalarKindName>(number: number, kind: K): Field<readonly ScalarValue<K>[]> {
  return { form: 'packed', number, kind }
}

export function required<T>(number: number, message: Message<T>): Field<T> {
  return { form: 'message', number, message: message as Message, required: true }
}

export function optional<T>(number: number, message: Message<T>): Field<T | undefined> {
  return { form: 'message', number, message: message as Message, required: false }
}

export function list<T>(number: number, message: Message<T>, json?: string): Field<readonly T[]> {
  return { form: 'list', number, message: message as Message, ...(json !== undefined && { json }) }
}

export function attributes(number: number): Field<readonly KeyValue[]> {
  return { form: 'attributes', number }
}

export function anyValue(number: number): Field<AnyValue | undefined> {
  return { form: 'anyValue', number }
}

export function scalarOneof<T>(...arms: ScalarArm[]): Field<T | undefined> {
  return { form: 'scalarOneof', arms }
}

type MessageOfArm<T, Type> = Message<Extract<T, { readonly type: Type }>>

export function messageOneof<T extends { readonly type: string }>(
  arms: {
    readonly [Type in T['type']]: readonly [number: number, message: MessageOfArm<T, Type>]
  },
): Field<T | undefined> {
  const rows = Object.entries<readonly [number, unknown]>(arms).map(([type, [number, message]]) => ({
    type,
    number,
    message: message as Message,
  }))
  return { form: 'messageOneof', arms: rows }
}
