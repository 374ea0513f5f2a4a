/** OTLP/JSON bodies for the tests of this package. */

const NS = 1_000_000_000n
/** Returns the time some seconds after 2026-01-01T00:00:00Z in nanoseconds. */
const at = (seconds: number): string => String(1_767_225_600n * NS + BigInt(Math.round(seconds * 1e9)))

const resourceOf = (service: string) => ({ attributes: [{ key: 'service.name', value: { stringValue: service } }] })
const scope = { name: 'shop', version: '1' }

const encode = (request: object): Uint8Array => Buffer.from(JSON.stringify(request))

export interface SpanSample {
  readonly service?: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name?: string
  readonly start?: number
  readonly end?: number
  readonly failed?: boolean
}

export function traceBody(...samples: readonly SpanSample[]): Uint8Array {
  return encode({
    resourceSpans: samples.map(({ service = 'shop', start = 0, end = 1, failed, name = 'work', ...ids }) => ({
      resource: resourceOf(service),
      scopeSpans: [
        {
          scope,
          spans: [
            {
              ...ids,
              name,
              kind: 2,
              startTimeUnixNano: at(start),
              endTimeUnixNano: at(end),
              ...(failed && { status: { code: 2 } }),
            },
          ],
        },
      ],
    })),
  })
}

/** Returns the body of a trace with one span, identified by a number. */
export const numberedTrace = (number: number, more: Partial<SpanSample> = {}): Uint8Array =>
  traceBody({ traceId: toTraceId(number), spanId: number.toString(16).padStart(16, 'a'), start: number, ...more })

export const toTraceId = (number: number): string => number.toString(16).padStart(32, 'f')

export function logBody(service: string, ...records: readonly object[]): Uint8Array {
  return encode({ resourceLogs: [{ resource: resourceOf(service), scopeLogs: [{ scope, logRecords: records }] }] })
}

export const logRecord = (seconds: number, severityNumber: number, text: string, more: object = {}): object => ({
  timeUnixNano: at(seconds),
  severityNumber,
  body: { stringValue: text },
  ...more,
})

export function metricBody(service: string, ...metrics: readonly object[]): Uint8Array {
  return encode({ resourceMetrics: [{ resource: resourceOf(service), scopeMetrics: [{ scope, metrics }] }] })
}

export const counter = (seconds: number, asInt: string, attributes: readonly object[] = []): object => ({
  name: 'requests',
  unit: '{request}',
  sum: {
    aggregationTemporality: 2,
    isMonotonic: true,
    dataPoints: [{ startTimeUnixNano: at(0), timeUnixNano: at(seconds), asInt, attributes }],
  },
})
