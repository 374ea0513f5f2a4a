import { clientNameOf, type FieldTable, type NameOf, type ObjectOf } from '@penstock/core'
import { z } from 'zod'
import { isoTime } from './iso-time.ts'
import { snakeCase } from './parameter-names.ts'
import type { JsonContext, Shape } from './route.ts'

/** A member of a JSON object: its schema for OpenAPI, and its value. */
export interface Member<Value> {
  readonly schema: z.ZodType
  readonly of: (value: Value, context: JsonContext) => unknown
}

export const member = <Value>(schema: z.ZodType, of: Member<Value>['of']): Member<Value> => ({ schema, of })

/** Members by their names in camelCase, in the order of the response. */
export type Members<Value> = Readonly<Record<string, Member<Value>>>

/** Returns the shape of a JSON object with these members, in snake_case. `id` is the name of its OpenAPI component. */
export function jsonShape<Value>(id: string, members: Members<Value>): Shape<Value> {
  const named = Object.entries(members).map(([name, each]) => [snakeCase(name), each] as const)
  return {
    schema: z.object(Object.fromEntries(named.map(([name, { schema }]) => [name, schema]))).meta({ id }),
    // Written as a loop, because it runs for every row of a list.
    of(value, context) {
      const json: Record<string, unknown> = {}
      for (const [name, { of }] of named) json[name] = of(value, context)
      return json
    },
  }
}

/** Returns a member for each row of a field table, in its order. */
export const membersOf = <Fields extends FieldTable>(fields: Fields) =>
  Object.fromEntries(
    Object.entries(fields).map(([key, field]) => [
      clientNameOf(key, field),
      member<Readonly<Record<string, unknown>>>(schemaOf(field), (object) => jsonOf(field, object[key])),
    ]),
  ) as { readonly [Key in keyof Fields as NameOf<Key, Fields[Key]>]: Member<ObjectOf<Pick<Fields, Key>>> }

/** Returns some of the members, in this order. */
export const pick = <Some extends object, Name extends keyof Some>(members: Some, ...names: Name[]): Pick<Some, Name> =>
  Object.fromEntries(names.map((name) => [name, members[name]])) as Pick<Some, Name>

function schemaOf({ details: { type, values, isOptional, schema: parameter } }: FieldTable[string]): z.ZodType {
  const schema =
    values !== undefined ? z.enum(values) : type === 'list' || type === 'object' ? parameter : schemas[type]
  return isOptional ? schema.nullable() : schema
}

const schemas = {
  int: z.int(),
  number: z.number(),
  text: z.string(),
  flag: z.boolean(),
  time: z.iso.datetime(),
  day: z.iso.date(),
}

function jsonOf({ details }: FieldTable[string], value: unknown): unknown {
  if (value === undefined) return null
  return details.type === 'time' ? isoTime(value as number) : value
}
