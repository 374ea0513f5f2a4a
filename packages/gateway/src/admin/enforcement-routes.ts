import type { Reply, Route } from '@penstock/http'
import { z } from 'zod'
import { listAudit, listAuditInput } from '../accounts/audit-log.ts'
import { getState, type StateJson, setState, setStateInput, stateETag } from '../enforcement/enforcement-operations.ts'
import { type GatewayProcessJson, listProcesses } from '../enforcement/gateway-processes.ts'
import { auditEventNames } from '../operations/audit-event.ts'
import { inputError, parseInput } from '../operations/operation-input.ts'
import type { OperationName } from '../operations/roles.ts'
import { changeRefusals, errorResponses } from './error-answers.ts'
import type { ManagementContext } from './management-context.ts'
import { nextLink, nextPageHeaders } from './next-link.ts'
import { readinessResponse, visibleReport } from './readiness-response.ts'
import { count, instantText } from './token-responses.ts'

const PATH = '/api/v1/ingest_auth'
const tag = 'enforcement'
const DAY_MS = 86_400_000

const state = z
  .strictObject({
    enabled: z.boolean(),
    mode: z.enum(['off', 'report', 'warn', 'enforce']),
    grace_until: instantText.nullable().meta({ description: 'Until this time refusals are retryable' }),
    epoch: count,
    changed_at: instantText.nullable(),
    changed_by: z
      .strictObject({ id: z.string() })
      .nullable()
      .exactOptional()
      .meta({ description: 'Not shown to a Viewer' }),
    valid_tokens: count,
    next_expiry: instantText.nullable(),
    propagation: z
      .strictObject({ instances: count, applied: count })
      .meta({ description: 'The number of processes that accept telemetry, and how many of them run this state' }),
    warnings: z.array(z.enum(['no_valid_token', 'nothing_observed'])),
  })
  .meta({ id: 'State' }) satisfies z.ZodType<StateJson>

const gatewayProcess = z
  .strictObject({
    id: z.string().meta({
      description: 'gate- or api- (serves the API and forward-auth, receives no telemetry), its host, a random part',
    }),
    state: z
      .enum(['following', 'behind', 'silent'])
      .meta({ description: 'Applies every change, lacks some, or gave no sign of life for ten seconds' }),
    epoch: count,
    seen_at: instantText,
  })
  .meta({ id: 'GatewayProcess' }) satisfies z.ZodType<GatewayProcessJson>

const auditEvent = z
  .strictObject({
    id: z.string(),
    at: instantText,
    event: z.enum(auditEventNames),
    actor: z.strictObject({ id: z.string(), role: z.string().nullable() }).nullable(),
    source: z.string().nullable(),
    request_id: z.string().nullable(),
    subject_id: z.string().nullable(),
    before: z.unknown(),
    after: z.unknown(),
  })
  .meta({ id: 'AuditEvent' })

const reportWindow = z
  .string()
  .regex(/^[1-9]\d{0,4}[mh]$/)
  .optional()
  .meta({ description: 'The length of the report in minutes or hours, such as 90m or 6h; at most 24h, the default' })

const stateQuery = z.strictObject({
  require_ready: z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: 'Refuse to enable enforcement if the readiness report has blockers' }),
  window: reportWindow,
})

const readinessQuery = z.strictObject({ window: reportWindow })

/** The routes of enforcement, readiness and the audit log. */
export const enforcementRoutes: readonly Route<ManagementContext, OperationName>[] = [
  {
    method: 'GET',
    path: `${PATH}/state`,
    access: 'getState',
    documentation: {
      operationId: 'getState',
      tag,
      summary: 'Get whether ingest tokens are required',
      responses: {
        200: { description: 'The state', body: state, headers: { ETag: 'Its epoch' } },
        ...errorResponses(),
      },
    },
    async handle(_request, context) {
      return stateReply(await getState(context))
    },
  },
  {
    method: 'PUT',
    path: `${PATH}/state`,
    access: 'setState',
    query: stateQuery,
    headers: z.object({ 'If-Match': z.string().optional().meta({ description: 'ETag of the state that was read' }) }),
    body: setStateInput,
    documentation: {
      operationId: 'setState',
      tag,
      summary: 'Require ingest tokens, or stop requiring them',
      description: 'Applies from the next request, without a restart.',
      responses: {
        200: { description: 'The state as it is now', body: state, headers: { ETag: 'Its epoch' } },
        ...errorResponses(
          'invalid_json',
          'invalid_field',
          'unknown_field',
          ...changeRefusals,
          'not_ready',
          'precondition_failed',
          'body_too_large',
          'unsupported_media_type',
        ),
      },
    },
    async handle({ query, body, raw }, context) {
      const { require_ready: requireReady, window } = parseInput(stateQuery, query)
      const windowMs = toMilliseconds(window)
      const readiness = requireReady === 'true' ? () => context.readiness(windowMs) : undefined
      return stateReply(await setState(context, { body, ifMatch: raw.headers['if-match'], readiness }))
    },
  },
  {
    method: 'GET',
    path: `${PATH}/readiness`,
    access: 'getReadiness',
    query: readinessQuery,
    documentation: {
      operationId: 'getReadiness',
      tag,
      summary: 'List the clients that enforcement would refuse',
      responses: {
        200: { description: 'The report', body: readinessResponse },
        ...errorResponses('invalid_field', 'unknown_field', 'answer_too_large'),
      },
    },
    async handle(request, context) {
      const { window } = parseInput(readinessQuery, request.query)
      const report = await context.readiness(toMilliseconds(window))
      return { status: 200, json: visibleReport(report, context.actor.role) }
    },
  },
  {
    method: 'GET',
    path: `${PATH}/processes`,
    access: 'listProcesses',
    documentation: {
      operationId: 'listProcesses',
      tag,
      summary: 'List the processes of all gateways that use the same store',
      description: 'A process that ended in order is not listed; one that crashed is listed for an hour.',
      responses: {
        200: { description: 'The processes by id', body: z.array(gatewayProcess) },
        ...errorResponses('forbidden'),
      },
    },
    async handle(_request, context) {
      return { status: 200, json: await listProcesses(context) }
    },
  },
  {
    method: 'GET',
    path: `${PATH}/audit`,
    access: 'listAudit',
    query: listAuditInput,
    documentation: {
      operationId: 'listAudit',
      tag: 'audit',
      summary: 'List changes and refused requests, newest first',
      description: 'Returns pages of `limit` events, 50 by default.',
      responses: {
        200: {
          description: 'The events',
          body: z.array(auditEvent),
          headers: nextPageHeaders,
        },
        ...errorResponses('invalid_field', 'unknown_field', 'invalid_cursor', 'forbidden', 'answer_too_large'),
      },
    },
    async handle(request, context) {
      const { events, nextCursor } = await listAudit(context, request.query)
      return { status: 200, headers: nextLink(request, nextCursor), json: events }
    },
  },
]

const stateReply = (state: StateJson): Reply => ({ status: 200, headers: { ETag: stateETag(state) }, json: state })

function toMilliseconds(window = '24h'): number {
  const ms = Number.parseInt(window, 10) * (window.endsWith('h') ? 3_600_000 : 60_000)
  if (ms > DAY_MS) throw inputError([{ field: 'window', problem: 'too_big', max: '24h' }])
  return ms
}
