import { z } from 'zod'
import { dayAt } from './day.ts'

/** A reference to a group or project: its id or its full path. */
export const namespaceRef = z.union([z.int(), z.string()])

/** The ids or iids that filter a list. */
export const iidList = z.array(z.int()).max(1_000)

/**
 * An ISO 8601 date-time as milliseconds since 1970. A date alone means the beginning of that day, and a time without a
 * zone is in UTC.
 */
export const instant = z.string().transform((text, context) => {
  const ms = instantMs(text.trim())
  if (ms !== undefined) return ms
  context.addIssue({ code: 'custom' })
  return z.NEVER
})

function writtenDay(text: string, context: z.RefinementCtx): string {
  const written = text.trim()
  if (instantMs(written) !== undefined) return written.slice(0, 'YYYY-MM-DD'.length)
  context.addIssue({ code: 'custom' })
  return z.NEVER
}

/** A date `YYYY-MM-DD` that exists. Clients also send date-times, and their date is used as it is written. */
export const day = z.string().transform(writtenDay)

/** Accepts the same as `day`, for parameters that OpenAPI describes as date-times. The time zone is ignored. */
export const dayOrInstant = z.string().transform(writtenDay)

const emptyAsNull = (value: unknown) => (value === '' ? null : value)

const createClearable = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess(emptyAsNull, z.union([z.null(), schema]).optional())

/** The results of `clearable`, because hundreds of fields have the same schema. */
const clearables = new WeakMap<z.ZodType, z.ZodType>()

/** A value that can be deleted with null or ''. */
export function clearable<Schema extends z.ZodType>(schema: Schema) {
  const created = (clearables.get(schema) as ReturnType<typeof createClearable<Schema>>) ?? createClearable(schema)
  clearables.set(schema, created)
  return created
}

const isoDateTime = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)\s*(Z|UTC|[+-]\d{2}:?\d{2})?)?$/i

/** Returns the time of an ISO 8601 date or date-time; `undefined` if the text is not valid. */
export function instantMs(text: string): number | undefined {
  const match = isoDateTime.exec(text)
  if (match === null || dayOf(match[1]!) !== match[1]) return undefined
  const zone = (match[3] ?? 'Z')
    .toUpperCase()
    .replace('UTC', 'Z')
    .replace(/^([+-]\d{2})(\d{2})$/, '$1:$2')
  const ms = Date.parse(`${match[1]}T${match[2] ?? '00:00'}${zone}`)
  return Number.isNaN(ms) ? undefined : ms
}

function dayOf(text: string): string | undefined {
  const ms = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00Z`) : Number.NaN
  return Number.isNaN(ms) ? undefined : dayAt(ms)
}
