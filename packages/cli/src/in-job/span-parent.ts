import { parseResourceAttributes } from '@penstock/converter'
import type { Resource } from '@penstock/otlp'
import type { ReportPlace } from '@penstock/test-reports'
import type { OptionValues } from 'commander'
import { type Environment, UsageError } from '../process/environment.ts'
import { printable } from '../text/wording.ts'
import { readJobContext } from './job-context.ts'

/** The span of the CI job that spans are added to, and the resource of these spans. */
export interface SpanParent {
  readonly place: Omit<ReportPlace, 'reportName'>
  readonly resource: Resource
}

/**
 * Returns the span that `TRACEPARENT` names, else that of the CI job. The resource has the attributes of
 * `OTEL_RESOURCE_ATTRIBUTES`, and those that are computed.
 *
 * @throws {UsageError} if there is no valid `TRACEPARENT`, and the variables are not those of a job
 */
export function spanParent(flags: OptionValues, environment: Environment): SpanParent {
  const { env, stderr } = environment
  const { entries, malformed } = parseResourceAttributes(env.OTEL_RESOURCE_ATTRIBUTES ?? '')
  if (malformed !== undefined) stderr.write(`penstock: OTEL_RESOURCE_ATTRIBUTES is ignored: ${printable(malformed)}\n`)
  if (env.TRACEPARENT) {
    const place = { ...parseTraceparent(env.TRACEPARENT), traceState: env.TRACESTATE ?? '' }
    return { place, resource: resourceFrom(new Map(entries), env) }
  }
  const context = orAdvice(() => readJobContext(flags, env))
  const { traceId, parentSpanId, traceFlags } = parseTraceparent(context.traceparent)
  return {
    place: { traceId, parentSpanId, traceFlags, traceState: context.tracestate },
    resource: resourceFrom(new Map([...entries, ...context.resourceAttributes]), env),
  }
}

/** Returns the parts of a W3C `traceparent`. A later version may have more parts. */
function parseTraceparent(text: string): Pick<ReportPlace, 'traceId' | 'parentSpanId' | 'traceFlags'> {
  const match = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/.exec(text)
  if (match === null) throw new UsageError('TRACEPARENT is malformed; unset it, or set it with penstock trace-context')
  const [, traceId = '', parentSpanId = '', flags = ''] = match
  return { traceId, parentSpanId, traceFlags: Number.parseInt(flags, 16) }
}

function orAdvice<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    throw new UsageError(`TRACEPARENT is not set, and cannot be computed: ${error.message}`)
  }
}

/** The name of a service without a name, as in OpenTelemetry SDKs. */
const UNKNOWN_SERVICE = 'unknown_service'

function resourceFrom(attributes: Map<string, string>, env: Environment['env']): Resource {
  const name = env.OTEL_SERVICE_NAME || attributes.get('service.name') || attributes.get('vcs.repository.name')
  attributes.set('service.name', name || UNKNOWN_SERVICE)
  const list = [...attributes].map(([key, value]) => ({ key, type: 'string' as const, value }))
  return { attributes: list, droppedAttributesCount: 0 }
}
