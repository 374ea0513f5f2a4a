import type { ResponseRow } from '@penstock/http'
import { z } from 'zod'
import { fromCursor, type Position, type PositionShape } from '../paging/cursor.ts'
import type { StoreQuery } from '../ports/store-queries.ts'
import { MAX_SQL_INTEGER } from '../schema/time-range.ts'

/** The path prefix of the routes. */
export const observePath = '/api/v1/observe'

/** One query over HTTP, as data. */
export interface QueryRoute {
  /** The path below `/api/v1/observe`. */
  readonly path: string
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly answer: z.ZodType
  readonly query: z.ZodObject
  readonly params?: z.ZodObject
  readonly refusals?: Readonly<Record<number, ResponseRow>>
  /** Whether the answer has a cursor for the next page. */
  readonly isPaged: boolean
  /** Both arguments are parsed. */
  toStoreQuery(query: object, params: object): StoreQuery
}

interface QueryRouteDraft<Query extends z.ZodObject, Params extends z.ZodObject>
  extends Omit<QueryRoute, 'query' | 'params' | 'isPaged' | 'toStoreQuery'> {
  readonly query?: Query
  readonly params?: Params
  toStoreQuery(query: z.output<Query>, params: z.output<Params>): StoreQuery
}

const nothing = z.strictObject({})

/** Returns the route of a draft. Its function has the types of the schemas. */
export function queryRoute<Query extends z.ZodObject = typeof nothing, Params extends z.ZodObject = typeof nothing>(
  draft: QueryRouteDraft<Query, Params>,
): QueryRoute {
  const { query = nothing, toStoreQuery, ...rest } = draft
  return {
    ...rest,
    query,
    isPaged: 'cursor' in query.shape,
    toStoreQuery: toStoreQuery as QueryRoute['toStoreQuery'],
  }
}

const timeForm = 'RFC 3339 with a zone, such as 2026-02-01T00:00:00Z, or nanoseconds since 1970'
const rfc3339 = z.iso.datetime({ offset: true })
const NS_PER_MS = 1_000_000n

/** Accepts nanoseconds since 1970 too, because responses contain times in that form. */
const time = parsed(timeForm, readTimeNs).meta({ description: timeForm })

/** Reads a time in RFC 3339 or in nanoseconds; `undefined` for other texts, and for times beyond the store's integers. */
function readTimeNs(text: string): bigint | undefined {
  return rfc3339.safeParse(text).success ? BigInt(Date.parse(text)) * NS_PER_MS : readNs(text)
}

/** Reads a count of nanoseconds; `undefined` for other texts and beyond the store's integers. */
export function readNs(text: string): bigint | undefined {
  if (!/^\d{1,19}$/.test(text)) return undefined
  const ns = BigInt(text)
  return ns <= MAX_SQL_INTEGER ? ns : undefined
}

/** Returns a schema for a text in a form that `read` understands. */
export function parsed<Value>(form: string, read: (text: string) => Value | undefined) {
  return z.string().transform((text, context): Value => {
    const value = read(text)
    if (value !== undefined) return value
    context.addIssue({ code: 'custom', params: { expected: form } })
    return z.NEVER
  })
}

export const range = { since: time.optional(), until: time.optional() }
export const service = z.string().min(1).optional()
export const searchText = z.string().min(1).max(200)
export const traceId = z
  .string()
  .regex(/^[0-9a-fA-F]{32}$/)
  .transform((id) => id.toLowerCase())
export const traceParams = z.strictObject({ trace_id: traceId })

export const atMost = (max: number) =>
  z
    .string()
    .regex(/^\d{1,6}$/)
    .transform(Number)
    .pipe(z.int().min(1).max(max))

/** The position that a cursor of a list contains. Cursors are opaque to clients. */
export const cursorParameter = (list: string, shape: PositionShape) =>
  parsed<Position>('the cursor of a page of this list', (text) => fromCursor(list, shape, text))
    .meta({ description: 'The X-Next-Cursor of the page before; the other parameters stay the same' })
    .optional()

/** An object with fields of OTLP, or with fields that the docs describe. */
export const object = z.looseObject({})
export const nanoseconds = z.string().meta({ description: 'Nanoseconds since 1970 as text' })
