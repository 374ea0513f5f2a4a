import { z } from 'zod'
import { count, instantText } from './token-responses.ts'

const client = z.strictObject({
  network: z.string().meta({ description: 'Of the source: /24 or /64' }),
  user_agent: z.string(),
  signal: z.string(),
  transport: z.string(),
  reason: z.string(),
  token_id: z.string().nullable(),
  service_name: z.string().nullable(),
  first_seen: instantText,
  last_seen: instantText,
  count,
})

const namedToken = z.strictObject({ id: z.string(), name: z.string() })

/** @see spec/otlp-gateway.md 4 */
export const readinessReport = z
  .strictObject({
    ready: z.boolean(),
    requests: count,
    would_reject: count,
    clients: z.array(client),
    unused_tokens: z.array(namedToken),
    expiring_tokens: z.array(namedToken.extend({ expires_at: instantText })),
    blockers: z.array(z.string()),
  })
  .meta({ id: 'ReadinessReport' })
export type ReadinessReport = z.output<typeof readinessReport>
