import type { Generated, Selectable } from 'kysely'
import { z } from 'zod'
import { invalid } from './domain-error.ts'
import { errorTexts } from './error-texts.ts'
import { clearable, day as daySchema } from './parameter-schemas.ts'

/**
 * A field table describes the plain fields of a thing: one row for each, with its name, type, column, parameter and rules.
 *
 * ```ts
 * const bookmarkDraft = {
 *   title: text('title').check(notBlank, maxLength(255)),
 *   note: text('note').optional(),
 * }
 * export const bookmarkFields = { id: id(), ...bookmarkDraft, createdAtMs: time('created_at_ms') }
 *
 * export interface Bookmark extends ObjectOf<typeof bookmarkFields> {}
 * interface BookmarksTable extends ColumnsOf<typeof bookmarkFields> {}
 * ```
 *
 * The types above, the conversion of rows, the schemas of parameters and the validation are derived from the table, and
 * so are the JSON members and GraphQL fields of the adapters. Errors are reported in the order of its rows. A value
 * that a row cannot describe is handled by code beside the table.
 */
export type FieldTable = Readonly<Record<string, AnyField>>
export type AnyField = Pick<Field<unknown, string, string | undefined>, 'value' | 'name' | 'column' | 'details'>

/**
 * `flag` is 0 or 1 in the database, `time` is milliseconds since 1970, `day` is `YYYY-MM-DD`. A `list` and an `object` are
 * JSON in the database.
 */
export type FieldType = 'int' | 'number' | 'text' | 'flag' | 'time' | 'day' | 'list' | 'object'

/** Returns the message if the value breaks the rule. A missing value is not checked. */
type Rule<Value> = (value: Value) => string | false

interface FieldDetails<Value> {
  readonly type: FieldType
  readonly schema: z.ZodType
  readonly values?: readonly string[]
  readonly isOptional?: boolean
  readonly name?: string | undefined
  /**
   * The value that a new object gets if the parameter is absent: the default if one is set, else '', 0, false, the
   * first of several texts, an empty list or `undefined`.
   */
  readonly fallback: Value
  readonly hasDefault?: boolean
  /** Whether the value must not appear in events. */
  readonly isSecret?: boolean
  readonly rules: readonly Rule<never>[]
}

/** A row of a field table. `Name` is its name for clients, if that differs from its key. */
export class Field<Value, Column extends string, Name extends string | undefined = undefined> {
  /** Carries the type; never set. */
  declare readonly value: Value
  declare readonly name: Name
  readonly column: Column
  readonly details: FieldDetails<Value>

  constructor(column: Column, details: FieldDetails<Value>) {
    this.column = column
    this.details = details
  }

  /** The value may be missing: `undefined` in the object, null in the database and in JSON. Null or '' clears it. */
  optional(): Field<Value | undefined, Column, Name> {
    const { schema } = this.details
    const details = { ...this.details, schema: clearable(schema), isOptional: true, fallback: undefined }
    return new Field<Value | undefined, Column, Name>(this.column, details)
  }

  /** Sets the name for clients, in camelCase. Default: the key, without `Ms`. */
  as<Other extends string>(name: Other): Field<Value, Column, Other> {
    return new Field(this.column, { ...this.details, name })
  }

  /**
   * Replaces the schema of the parameter. The schema must not have a default, because every update without the
   * parameter would then set the default.
   */
  parse(schema: z.ZodType<ParameterOf<Value>>): Field<Value, Column, Name> {
    if (schema.safeParse(undefined).data !== undefined) {
      throw new TypeError(`The schema of ${this.column} has a default: set it with default()`)
    }
    return new Field(this.column, { ...this.details, schema })
  }

  /** Makes the parameter optional for a new object, and sets the value that the object gets without it. */
  default(fallback: Value): Field<Value, Column, Name> {
    return new Field(this.column, { ...this.details, fallback, hasDefault: true })
  }

  /** Keeps the value out of events. */
  secret(): Field<Value, Column, Name> {
    return new Field(this.column, { ...this.details, isSecret: true })
  }

  /** Adds rules; `validate` reports each that is broken, in this order. */
  check(...rules: readonly Rule<NonNullable<Value>>[]): Field<Value, Column, Name> {
    return new Field(this.column, { ...this.details, rules: [...this.details.rules, ...rules] })
  }
}

/** The schemas that fields share, because hundreds of fields have the same. */
const plainSchemas = {
  int: z.int(),
  number: z.number(),
  text: z.string(),
  flag: z.boolean(),
  time: z.never(),
}

export const id = () => int('id')
export const int = <Column extends string>(column: Column) =>
  new Field<number, Column>(column, { type: 'int', schema: plainSchemas.int, fallback: 0, rules: [] })
export const text = <Column extends string>(column: Column) =>
  new Field<string, Column>(column, { type: 'text', schema: plainSchemas.text, fallback: '', rules: [] })
export const flag = <Column extends string>(column: Column) =>
  new Field<boolean, Column>(column, { type: 'flag', schema: plainSchemas.flag, fallback: false, rules: [] })
export const time = <Column extends string>(column: Column) =>
  new Field<number, Column>(column, { type: 'time', schema: plainSchemas.time, fallback: 0, rules: [] })
export const day = <Column extends string>(column: Column) =>
  new Field<string, Column>(column, { type: 'day', schema: daySchema, fallback: '', rules: [] })
/** One of several texts. */
export const oneOf = <Column extends string, Value extends string>(
  column: Column,
  values: readonly [Value, ...Value[]],
) => new Field<Value, Column>(column, { type: 'text', schema: z.enum(values), values, fallback: values[0], rules: [] })

/** A number that may have a fraction. */
export const number = <Column extends string>(column: Column) =>
  new Field<number, Column>(column, { type: 'number', schema: plainSchemas.number, fallback: 0, rules: [] })
export const list = <Column extends string, Element extends z.ZodType>(column: Column, element: Element) =>
  new Field<readonly z.output<Element>[], Column>(column, {
    type: 'list',
    schema: z.array(element),
    fallback: [],
    rules: [],
  })
/** A value with members. Its default must be set. */
export const object = <Column extends string, Schema extends z.ZodType<object>>(
  column: Column,
  schema: Schema,
  fallback: z.output<Schema>,
) => new Field<z.output<Schema>, Column>(column, { type: 'object', schema, fallback, hasDefault: true, rules: [] })

/**
 * The limit of a description that lists of other things repeat, such as that of a label. On GitLab it is 1,048,576, but an
 * issue has up to a hundred labels.
 */
export const MAX_LISTED_TEXT = 65_536

export const notBlank = (value: string) => value === '' && errorTexts.blank
/** Unlike `notBlank`, also rejects a value of white space only. */
export const hasText = (value: string) => value.trim() === '' && errorTexts.blank
export const maxLength = (max: number) => (value: string) => value.length > max && errorTexts.tooLong(max)
/** Counts characters beyond the Basic Multilingual Plane once, unlike `maxLength`. */
export const maxCharacters = (max: number) => (value: string) => [...value].length > max && errorTexts.tooLong(max)
export const matches =
  (form: RegExp, message: string = errorTexts.invalid) =>
  (value: string) =>
    !form.test(value) && message

/** The type of the object that a table describes. */
export type ObjectOf<Fields extends FieldTable> = { readonly [Key in keyof Fields]: Fields[Key]['value'] }

/** The types of the columns. The database generates the `id`. */
export type ColumnsOf<Fields extends FieldTable> = {
  [Key in keyof Fields as Fields[Key]['column']]: Fields[Key]['column'] extends 'id'
    ? Generated<number>
    : Stored<Fields[Key]['value']>
}
type Stored<Value> = Value extends boolean
  ? number
  : Value extends undefined
    ? null
    : Value extends object
      ? string
      : Value
type RowOf<Fields extends FieldTable> = Readonly<Selectable<ColumnsOf<Fields>>>

/** The name that clients use for a field, in camelCase: that of its parameter and of its JSON member. */
export type NameOf<Key, Each extends AnyField> = Each['name'] extends string
  ? Each['name']
  : Key extends `${infer Name}Ms`
    ? Name
    : Key
type ParameterOf<Value> = undefined extends Value ? Value | null : Value

/** Values by parameter: absent keeps the value, null clears it. */
type InputOf<Fields extends FieldTable> = {
  readonly [Key in keyof Fields as NameOf<Key, Fields[Key]>]?: Fields[Key]['value'] | null | undefined
}

export const clientNameOf = (key: string, { details }: AnyField): string => details.name ?? key.replace(/Ms$/, '')

/** Returns the names of all columns, for `select`. */
export const columnsOf = <Fields extends FieldTable>(fields: Fields): Fields[keyof Fields]['column'][] =>
  Object.values(fields).map(({ column }) => column)

interface Codec {
  read(stored: unknown): unknown
  write(value: unknown): unknown
}

const json: Codec = { read: (stored) => JSON.parse(stored as string), write: JSON.stringify }

/** How values are read from the database and written to it. Types without a row are stored as they are. */
const codecs: { readonly [Type in FieldType]?: Codec } = {
  flag: { read: (stored) => stored === 1, write: Number },
  list: json,
  object: json,
}

/** Returns the object that a row stores. */
export const fromRow = <Fields extends FieldTable>(fields: Fields, row: RowOf<Fields>): ObjectOf<Fields> =>
  mapFields(fields, ({ column, details }) => {
    const stored = (row as Readonly<Record<string, unknown>>)[column] ?? undefined
    return stored === undefined ? undefined : (codecs[details.type]?.read(stored) ?? stored)
  }) as ObjectOf<Fields>

/** Returns the columns that store an object, for `values` or `set`. */
export const toRow = <Fields extends FieldTable>(fields: Fields, object: ObjectOf<Fields>): RowOf<Fields> =>
  Object.fromEntries(
    Object.entries(fields).map(([key, { column, details }]) => {
      const value = object[key]
      return [column, value === undefined ? null : (codecs[details.type]?.write(value) ?? value)]
    }),
  ) as RowOf<Fields>

/** Returns the schemas of the parameters that create an object. Those of optional fields and of fields with a default may be absent. */
export const parametersOf = <Fields extends FieldTable>(fields: Fields) =>
  schemasOf(fields, ({ schema, hasDefault, fallback }) => (hasDefault ? schema.default(fallback) : schema)) as {
    readonly [Key in keyof Fields as NameOf<Key, Fields[Key]>]: z.ZodType<ParameterOf<Fields[Key]['value']>>
  }

/** Returns the schemas of the parameters that change an object. Each may be absent; with `nullish` also null. */
export const changesOf = <Fields extends FieldTable>(fields: Fields, absent?: 'nullish') =>
  schemasOf(fields, ({ schema, isOptional }) =>
    isOptional ? schema : absent === 'nullish' ? schema.nullish() : schema.optional(),
  ) as {
    readonly [Key in keyof Fields as NameOf<Key, Fields[Key]>]: z.ZodType<Fields[Key]['value'] | null | undefined>
  }

/** Returns a new object: values from the input, or else the defaults. */
export const newObject = <Fields extends FieldTable>(fields: Fields, input: InputOf<Fields>): ObjectOf<Fields> =>
  withInput(fields, mapFields(fields, ({ details }) => details.fallback) as ObjectOf<Fields>, input)

/** Returns the object with the values of the input. Absent keeps a value; null clears it, if it is optional. */
export function withInput<Fields extends FieldTable, Before extends ObjectOf<Fields>>(
  fields: Fields,
  before: Before,
  input: InputOf<Fields>,
): Before {
  const changes = Object.entries(fields).flatMap(([key, field]) => {
    const given = (input as Readonly<Record<string, unknown>>)[clientNameOf(key, field)]
    if (given === undefined || (given === null && !field.details.isOptional)) return []
    return [[key, given ?? undefined]]
  })
  return { ...before, ...Object.fromEntries(changes) }
}

/** Error messages by field. */
export type FieldErrors<Fields extends FieldTable> = { readonly [Key in keyof Fields]?: readonly string[] | undefined }

/** Returns the messages of the broken rules by name, in the order of the table. */
export function brokenRules<Fields extends FieldTable>(
  fields: Fields,
  object: ObjectOf<Fields>,
  others: FieldErrors<Fields> = {},
): Readonly<Record<string, readonly string[]>> {
  const errors = Object.entries(fields).flatMap(([key, field]) => {
    // A rule takes the value of its own field, which a list of rules does not say.
    const value = object[key] as never
    const broken = value === undefined ? [] : field.details.rules.map((rule) => rule(value))
    const messages = [...broken.filter((message) => message !== false), ...(others[key] ?? [])]
    return messages.length === 0 ? [] : [[clientNameOf(key, field), messages]]
  })
  return Object.fromEntries(errors)
}

/**
 * Checks the rules of all fields.
 *
 * @param others further messages, which follow those of the same field
 * @throws DomainError `invalid`
 */
export function validate<Fields extends FieldTable>(
  fields: Fields,
  object: ObjectOf<Fields>,
  others: FieldErrors<Fields> = {},
): void {
  const errors = brokenRules(fields, object, others)
  if (Object.keys(errors).length > 0) throw invalid(errors)
}

/** Returns a value for each field. It is a loop, because it runs for every row of a list. */
function mapFields(fields: FieldTable, value: (field: AnyField) => unknown): Record<string, unknown> {
  const mapped: Record<string, unknown> = {}
  for (const key in fields) mapped[key] = value(fields[key]!)
  return mapped
}

const schemasOf = (fields: FieldTable, schema: (details: FieldDetails<unknown>) => z.ZodType) =>
  Object.fromEntries(Object.entries(fields).map(([key, field]) => [clientNameOf(key, field), schema(field.details)]))
