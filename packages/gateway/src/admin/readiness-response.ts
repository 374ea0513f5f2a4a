import { z } from 'zod'
import type { ReadinessClient, ReadinessReport } from '../enforcement/readiness.ts'
import type { Role } from '../operations/operation-context.ts'
import { count, instantText } from './token-responses.ts'

/** The report as a caller may see it: a Viewer sees no network addresses. */
export type VisibleReadinessReport = Omit<ReadinessReport, 'clients'> & {
  readonly clients: readonly (Omit<ReadinessClient, 'network'> & { readonly network?: string })[]
}

export function visibleReport(report: ReadinessReport, role: Role): VisibleReadinessReport {
  if (role !== 'Viewer') return report
  return { ...report, clients: report.clients.map(({ network: _network, ...client }) => client) }
}

const client = z.strictObject({
  network: z.string().exactOptional().meta({ description: 'Network of the source: /24 or /64. Not shown to a Viewer' }),
  user_agent: z.string(),
  signal: z.string(),
  transport: z.string(),
  service_name: z.string().nullable().meta({ description: 'The name in the last body that was sampled' }),
  service_names: z.array(z.string()).meta({
    description:
      'The distinct names in the bodies that were sampled, at most 10: several services may send through one client',
  }),
  reason: z.string(),
  token_id: z.string().nullable(),
  first_seen: instantText,
  last_seen: instantText,
  count,
})

const namedToken = { id: z.string(), name: z.string() }

/** The response schema of the readiness report. */
export const readinessResponse = z
  .strictObject({
    ready: z.boolean().meta({ description: 'No client would be refused, and a valid token lasts another 7 days' }),
    window_seconds: count,
    observed_since: instantText.meta({ description: 'Requests before this time are unknown: a restart forgets them' }),
    requests: count,
    would_reject: count,
    clients: z.array(client).meta({ description: 'Clients that would be refused, most requests first' }),
    unused_tokens: z.array(z.strictObject({ ...namedToken, last_used_at: instantText.nullable() })),
    expiring_tokens: z.array(z.strictObject({ ...namedToken, expires_at: instantText })),
    processes: z.strictObject({ reported: count, live: count }).meta({
      description: 'Processes that have reported, and live ones of all gateways that use the same store',
    }),
    blockers: z.array(
      z.strictObject({
        code: z.enum(['would_reject', 'no_valid_token', 'valid_tokens_end_soon']),
        message: z.string(),
      }),
    ),
  })
  .meta({ id: 'ReadinessReport' }) satisfies z.ZodType<VisibleReadinessReport>
