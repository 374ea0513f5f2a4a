import { z } from 'zod'
import type { ReadinessReport } from '../enforcement/readiness.ts'
import type { Role } from '../operations/operation-context.ts'
import { count, instantText } from './token-responses.ts'

/** The report as a caller may see it: a Viewer sees no network addresses. */
type VisibleReadinessReport = Omit<ReadinessReport, 'clients' | 'wrong_paths'> & {
  readonly clients: readonly WithoutNetwork<ReadinessReport['clients'][number]>[]
  readonly wrong_paths: readonly WithoutNetwork<ReadinessReport['wrong_paths'][number]>[]
}
type WithoutNetwork<Row> = Omit<Row, 'network'> & { readonly network?: string }

export function visibleReport(report: ReadinessReport, role: Role): VisibleReadinessReport {
  if (role !== 'Viewer') return report
  return { ...report, clients: withoutNetworks(report.clients), wrong_paths: withoutNetworks(report.wrong_paths) }
}

const withoutNetworks = <Row extends { readonly network: string }>(rows: readonly Row[]) =>
  rows.map(({ network: _network, ...row }) => row)

const network = z
  .string()
  .exactOptional()
  .meta({ description: 'Network of the source: /24 or /64. Not shown to a Viewer' })

const client = z.strictObject({
  network,
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

const wrongPath = z.strictObject({
  network,
  user_agent: z.string(),
  transport: z.string(),
  path: z.string().meta({ description: 'The path that was sent, without its query; empty if it contains a secret' }),
  right_paths: z
    .array(z.string())
    .meta({ description: 'The path to send to; all paths if the wrong one does not name a signal' }),
  token_id: z.string(),
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
    wrong_paths: z.array(wrongPath).meta({
      description: 'Requests with a valid token on a path that accepts no telemetry, which are refused in every mode',
    }),
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
