import { decodeRequest, type Signal, type Span, signalNames } from '@penstock/otlp'
import type { RecordedRequest, ScriptedServer } from '@penstock/testkit'

export const signalOf = ({ path }: RecordedRequest): Signal => path.split('/').at(-1) as Signal

/** Returns `traces with Bearer x` for each request, sorted by signal. */
export function credentialsBySignal({ requests }: ScriptedServer): string[] {
  const entries = requests.map((request) => `${signalOf(request)} with ${request.headers.authorization ?? 'nothing'}`)
  return entries.toSorted((one, other) => place(one) - place(other))
}

const place = (entry: string): number => signalNames.findIndex((signal) => entry.startsWith(signal))

/** Returns when the record was received, from an exported log record. */
export function receivedAtNs({ requests }: ScriptedServer): bigint {
  const logs = requests.find((request) => signalOf(request) === 'logs')!
  const { resources } = decodeRequest('logs', logs.body, 'protobuf')
  return resources[0]!.scopes[0]!.items[0]!.observedTimeUnixNano
}

/** Returns a time in ISO 8601 with nanoseconds. */
export function isoOf(ns: bigint): string {
  const fraction = String(ns % 1_000_000_000n).padStart(9, '0')
  return new Date(Number(ns / 1_000_000n)).toISOString().replace(/\.\d+Z$/, `.${fraction}Z`)
}

/** Returns the root spans of all received traces. */
export function pipelineSpans({ requests }: ScriptedServer): readonly Span[] {
  return requests
    .filter((request) => signalOf(request) === 'traces')
    .flatMap(({ body }) => decodeRequest('traces', body, 'protobuf').resources)
    .flatMap(({ scopes }) => scopes.flatMap(({ items }) => items))
    .filter(({ parentSpanId }) => parentSpanId === '')
}
