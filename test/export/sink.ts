import { decodeRequest, type Signal, type Span, signalNames } from '@penstock/otlp'
import type { RecordedRequest, ScriptedServer } from '@penstock/testkit'

export const signalOf = ({ path }: RecordedRequest): Signal => path.split('/').at(-1) as Signal

/** `traces with Bearer x`, of all requests, by signal. */
export function bearersOf({ requests }: ScriptedServer): string[] {
  const told = requests.map((request) => `${signalOf(request)} with ${request.headers.authorization ?? 'nothing'}`)
  return told.toSorted((one, other) => place(one) - place(other))
}

const place = (told: string): number => signalNames.findIndex((signal) => told.startsWith(signal))

/** When the record was received: every log record of it says so. */
export function receivedAtNs({ requests }: ScriptedServer): bigint {
  const logs = requests.find((request) => signalOf(request) === 'logs')!
  const { resources } = decodeRequest('logs', logs.body, 'protobuf')
  return resources[0]!.scopes[0]!.items[0]!.observedTimeUnixNano
}

/** ISO 8601 to the nanosecond. */
export function isoOf(ns: bigint): string {
  const fraction = String(ns % 1_000_000_000n).padStart(9, '0')
  return new Date(Number(ns / 1_000_000n)).toISOString().replace(/\.\d+Z$/, `.${fraction}Z`)
}

/** Of all pipelines that are the root of their trace, however many shared a request. */
export function pipelineSpans({ requests }: ScriptedServer): readonly Span[] {
  return requests
    .filter((request) => signalOf(request) === 'traces')
    .flatMap(({ body }) => decodeRequest('traces', body, 'protobuf').resources)
    .flatMap(({ scopes }) => scopes.flatMap(({ items }) => items))
    .filter(({ parentSpanId }) => parentSpanId === '')
}
