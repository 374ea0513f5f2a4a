import { z } from 'zod'
import { dayAt } from './day.ts'
import { problem } from './parse-input.ts'

/** A reference to a group or project: its id or its full path. */
export const namespaceRef = z.union([z.int(), z.string()])

/** The ids or iids that filter a list. */
export const iidList = z.array(z.int()).max(1_000)

/** An ISO 8601 date-time as milliseconds since 1970. A date alone means its beginning, a time without a zone is UTC. */
export const instant = z.string().transform((text, context) => {
  const ms = instantMs(text.trim())
  if (ms !== undefined) return ms
  context.addIssue({ code: 'custom' })
  return z.NEVER
})

/** A date `YYYY-MM-DD` that exists. */
export const day = z.string().refine((text) => dayOf(text) === text)

/** The date in a date or date-time, as written, whatever the zone. */
export const dayOrInstant = z.string().transform((text, context) => {
  const written = text.trim()
  if (instantMs(written) !== undefined) return written.slice(0, 'YYYY-MM-DD'.length)
  context.addIssue({ code: 'custom' })
  return z.NEVER
})

/** A value that null or '' deletes. */
export const clearable = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((value) => (value === '' ? null : value), z.union([z.null(), schema]).optional())

/** A parameter of GitLab that would change the answer there and is not applied here: any value is refused, so that no caller gets wrong data. */
export const unsupported = z
  .unknown()
  .superRefine((_, context) => {
    context.addIssue(problem('unsupported'))
  })
  .optional()
  .meta({ description: 'Not supported: a request with this parameter is refused.' })

/** A switch of GitLab that is not supported here. Only its default, false, is accepted. */
export const unsupportedSwitch = z
  .boolean()
  .superRefine((value, context) => {
    if (value) context.addIssue(problem('unsupported'))
  })
  .optional()
  .meta({ description: 'Not supported: a request that sets it is refused.' })

/** A parameter of GitLab that changes nothing in the answers of this service. */
export const withoutEffect = z.unknown().optional().meta({ description: 'Has no effect.' })

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
