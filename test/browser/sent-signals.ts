import { expect } from 'vitest'
import type { RunningGateway } from '../gateway/running-gateway.ts'
import type { RawAttribute, RawSpan } from './raw-runs.ts'

type Signal = 'traces' | 'metrics' | 'logs'

/** Sends an OTLP/JSON body, which has to be accepted whole. */
export async function sendOtlp(gateway: Pick<RunningGateway, 'otlpUrl'>, signal: Signal, body: object): Promise<void> {
  const response = await fetch(`${gateway.otlpUrl}/v1/${signal}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect([response.status, await response.json()]).toEqual([200, {}])
}

export const textAttribute = (key: string, stringValue: string): RawAttribute => ({ key, value: { stringValue } })
const resourceOf = (service: string) => ({ attributes: [textAttribute('service.name', service)] })

/** Two hours before now, in nanoseconds: the earliest time of what is sent. */
export const beginsNs = BigInt(Math.floor(Date.now() / 60_000) * 60_000 - 7_200_000) * 1_000_000n
const MS = 1_000_000n

export interface SentTrace {
  readonly traceId: string
  readonly name: string
  readonly route: string
  readonly hasError: boolean
  readonly startNs: bigint
  readonly endNs: bigint
  /** The spans of each service. */
  readonly spans: Readonly<Record<string, readonly RawSpan[]>>
}

/** Returns traces of the service `shop`, in the order of their starts. Every third one calls `billing`, and every tenth one fails there. */
export function makeTraces(count: number): SentTrace[] {
  return Array.from({ length: count }, (_, index) => {
    const traceId = (index + 1).toString(16).padStart(32, 'a')
    const startNs = beginsNs + BigInt(index) * 1_000n * MS
    const endNs = startNs + BigInt(20 + ((index * 37) % 400)) * MS + 123n
    const route = index % 2 === 0 ? '/cart' : '/pay'
    const name = `${index % 2 === 0 ? 'GET' : 'POST'} ${route}`
    const root = span(traceId, 1, '', name, startNs, endNs, [textAttribute('http.route', route)])
    const [callsBilling, hasError] = [index % 3 === 0, index % 30 === 0]
    const call = span(traceId, 2, root.spanId, 'charge', startNs + 2n * MS, endNs - 1n * MS, [])
    return {
      ...{ traceId, name, route, hasError, startNs, endNs },
      spans: {
        shop: [root],
        ...(callsBilling && { billing: [hasError ? { ...call, status: { code: 2 } } : call] }),
      },
    }
  })
}

function span(
  traceId: string,
  number: number,
  parentSpanId: string,
  name: string,
  startNs: bigint,
  endNs: bigint,
  attributes: readonly RawAttribute[],
): RawSpan {
  const times = { startTimeUnixNano: String(startNs), endTimeUnixNano: String(endNs) }
  return { traceId, spanId: number.toString(16).padStart(16, '0'), parentSpanId, name, ...times, attributes }
}

/** Sends traces, one resource for each of their services. */
export function sendTraces(gateway: RunningGateway, traces: readonly SentTrace[]): Promise<void> {
  const resourceSpans = traces.flatMap(({ spans }) =>
    Object.entries(spans).map(([service, each]) => ({ resource: resourceOf(service), scopeSpans: [{ spans: each }] })),
  )
  return sendOtlp(gateway, 'traces', { resourceSpans })
}

export interface SentRecord {
  readonly service: string
  readonly timeNs: bigint
  readonly severity: readonly [number: number, label: string]
  readonly body: string
  readonly trace?: SentTrace | undefined
}

const levels: readonly SentRecord['severity'][] = [
  [5, 'Debug'],
  [9, 'Info'],
  [9, 'Info'],
  [13, 'Warn'],
  [17, 'Error'],
]

/** Returns log records in the order of their times, two of them with the same nanosecond; every fourth one belongs to a trace. */
export function makeRecords(count: number, traces: readonly SentTrace[]): SentRecord[] {
  return Array.from({ length: count }, (_, index) => ({
    service: index % 7 === 0 ? 'billing' : 'shop',
    timeNs: beginsNs + BigInt(index === 1 ? 0 : index) * 700n * MS,
    severity: levels[index % levels.length]!,
    body: index % 5 === 4 ? `card refused, attempt ${index}` : `order ${index} was read`,
    trace: index % 4 === 0 ? traces[index % traces.length] : undefined,
  }))
}

/** Sends log records. */
export function sendRecords(gateway: RunningGateway, records: readonly SentRecord[]): Promise<void> {
  const resourceLogs = [...new Set(records.map(({ service }) => service))].map((service) => ({
    resource: resourceOf(service),
    scopeLogs: [{ logRecords: records.filter((record) => record.service === service).map(logRecord) }],
  }))
  return sendOtlp(gateway, 'logs', { resourceLogs })
}

const logRecord = ({ timeNs, severity: [severityNumber], body, trace }: SentRecord) => ({
  ...{ timeUnixNano: String(timeNs), severityNumber, body: { stringValue: body } },
  attributes: [textAttribute('thread', 'main')],
  ...(trace && { traceId: trace.traceId, spanId: trace.spans.shop![0]!.spanId }),
})

/** The bounds of the histogram, in seconds. */
export const bounds = [0.05, 0.1, 0.2, 0.4]

export interface SentPoint {
  readonly timeNs: bigint
  readonly route: string
  readonly counts: readonly number[]
  readonly sum: number
  readonly exemplar: SentTrace
}

/** Returns points of a histogram of durations, one a minute for each of two routes, from the durations of traces. */
export function makePoints(traces: readonly SentTrace[], minutes: number): SentPoint[] {
  return Array.from({ length: minutes * 2 }, (_, index) => {
    const route = index % 2 === 0 ? '/cart' : '/pay'
    const minute = Math.floor(index / 2)
    const some = traces.filter((trace) => trace.route === route).slice(minute * 5, minute * 5 + 5)
    const durations = some.map(({ startNs, endNs }) => Number(endNs - startNs) / 1e9)
    const bucketOf = (seconds: number) => bounds.filter((bound) => seconds > bound).length
    return {
      ...{ timeNs: beginsNs + BigInt(minute) * 60_000n * MS, route, exemplar: some[0]! },
      counts: Array.from(
        { length: bounds.length + 1 },
        (_, at) => durations.filter((each) => bucketOf(each) === at).length,
      ),
      sum: durations.reduce((sum, each) => sum + each, 0),
    }
  })
}

/** Sends the points as the metric `http.server.request.duration`, and a counter beside it. */
export function sendPoints(gateway: RunningGateway, points: readonly SentPoint[]): Promise<void> {
  const dataPoints = points.map(({ timeNs, route, counts, sum, exemplar }) => ({
    attributes: [textAttribute('http.route', route)],
    ...{ startTimeUnixNano: String(beginsNs), timeUnixNano: String(timeNs), explicitBounds: bounds, sum },
    count: String(counts.reduce((total, count) => total + count, 0)),
    bucketCounts: counts.map(String),
    exemplars: [
      {
        timeUnixNano: String(timeNs),
        asDouble: 0.1,
        traceId: exemplar.traceId,
        spanId: exemplar.spans.shop![0]!.spanId,
      },
    ],
  }))
  const counter = points.map(({ timeNs, route }, index) => ({
    attributes: [textAttribute('http.route', route)],
    ...{ startTimeUnixNano: String(beginsNs), timeUnixNano: String(timeNs), asInt: String(index * 3) },
  }))
  const metrics = [
    {
      ...{ name: 'http.server.request.duration', unit: 's', description: 'How long requests took.' },
      histogram: { aggregationTemporality: 1, dataPoints },
    },
    { name: 'orders', unit: '{order}', sum: { aggregationTemporality: 2, isMonotonic: true, dataPoints: counter } },
  ]
  return sendOtlp(gateway, 'metrics', {
    resourceMetrics: [{ resource: resourceOf('shop'), scopeMetrics: [{ metrics }] }],
  })
}
