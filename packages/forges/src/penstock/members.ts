import {
  count,
  date,
  type Fields,
  flag,
  id,
  percent,
  refuse,
  requiredRunId,
  requiredSection,
  requiredText,
  runId,
  seconds,
  section,
  sections,
  text,
  texts,
  warn,
} from '../body/fields.ts'

/** A JSON Schema, as far as the schema of a record needs it. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** A member of an object: how it is read, and how a JSON Schema describes it. */
export interface Member<Value> {
  readonly schema: JsonSchema
  readonly isRequired: boolean
  readonly read: (fields: Fields, key: string) => Value
}

export type Members = Readonly<Record<string, Member<unknown>>>
/** The values of the members of an object. */
export type MemberValues<M extends Members> = {
  readonly [K in keyof M]: M[K] extends Member<infer Value> ? Value : never
}

const member =
  <Value>(schema: JsonSchema, read: Member<Value>['read'], isRequired = false) =>
  (description: string): Member<Value> => ({ schema: { ...schema, description }, read, isRequired })

/** Reads an integer from 1 to 2^53-1. */
function positiveCount(fields: Fields, key: string): number | undefined {
  const value = count(fields, key)
  if (value !== 0) return value
  warn(fields, key, 'must be an integer above 0, got 0')
  return undefined
}

const time = { type: 'string', format: 'date-time' }
const identity = {
  anyOf: [
    { type: 'integer', minimum: 1 },
    { type: 'string', minLength: 1, maxLength: 1_024 },
  ],
}
const duration = { type: 'number', minimum: 0 }

export const textMember = member({ type: 'string' }, text)
export const requiredTextMember = member({ type: 'string', minLength: 1 }, requiredText, true)
export const idMember = member(identity, runId)
export const requiredIdMember = member(identity, requiredRunId, true)
export const integerMember = member({ type: 'integer', minimum: 1 }, id)
export const countMember = member({ type: 'integer', minimum: 1 }, positiveCount)
export const flagMember = member({ type: 'boolean' }, flag)
export const timeMember = member(time, date)
export const secondsMember = member(duration, seconds)
export const percentMember = member({ type: 'number', minimum: 0 }, percent)
export const textsMember = member({ type: 'array', items: { type: 'string' } }, texts)

/** Returns a required text that is one of `words`. Other words are read too. */
export const wordMember = (words: readonly string[]) => member({ type: 'string', enum: words }, requiredText, true)

/** Returns an optional object with these members. */
export const objectMember = <M extends Members>(
  members: M,
  description: string,
): Member<MemberValues<M> | undefined> => ({
  schema: { ...objectSchema(members), description },
  isRequired: false,
  read: (fields, key) => {
    const own = section(fields, key)
    return own && readMembers(own, members)
  },
})

export const requiredObjectMember = <M extends Members>(members: M, description: string): Member<MemberValues<M>> => ({
  schema: { ...objectSchema(members), description },
  isRequired: true,
  read: (fields, key) => readMembers(requiredSection(fields, key), members),
})

/** Returns an optional list of objects with these members. */
export const listMember = <M extends Members>(
  members: M,
  description: string,
): Member<readonly MemberValues<M>[] | undefined> => ({
  schema: { type: 'array', items: objectSchema(members), description },
  isRequired: false,
  read: (fields, key) => sections(fields, key)?.map((item) => readMembers(item, members)),
})

/** Returns the schema of an object. Members that it does not name are invalid. */
export function objectSchema(members: Members): JsonSchema {
  const required = Object.keys(members).filter((key) => members[key]?.isRequired)
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(members).map(([key, { schema }]) => [key, schema])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  }
}

/**
 * Reads the members of an object.
 *
 * @throws {RecordError} for a member that is unknown, or required and unusable
 */
export function readMembers<M extends Members>(fields: Fields, members: M): MemberValues<M> {
  for (const key of Object.keys(fields.values)) {
    if (!Object.hasOwn(members, key)) refuse(fields, shortKey(key), 'is not a member of a Penstock record')
  }
  const entries = Object.entries(members).map(([key, { read }]) => [key, read(fields, key)])
  return Object.fromEntries(entries) as MemberValues<M>
}

/** The maximum length of an unknown key in a message. */
const MAX_KEY_LENGTH = 40
const shortKey = (key: string): string => (key.length <= MAX_KEY_LENGTH ? key : `${key.slice(0, MAX_KEY_LENGTH)}…`)
