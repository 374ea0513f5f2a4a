/**
 * Compares the converter with otlp-transformer in one run: `npm run bench`.
 *
 * Our converter turns a normalised record into the bytes of three requests. otlp-transformer, the anchor, encodes the same
 * requests from existing SDK objects. The Go gitlabreceiver is included if its collector has been built.
 */
import { setImmediate } from 'node:timers/promises'
import {
  JsonLogsSerializer,
  JsonMetricsSerializer,
  JsonTraceSerializer,
  ProtobufLogsSerializer,
  ProtobufMetricsSerializer,
  ProtobufTraceSerializer,
} from '@opentelemetry/otlp-transformer'
import {
  convert,
  convertChunks,
  resolveOptions,
  toReadableLogRecords,
  toReadableSpans,
  toResourceMetrics,
} from '@penstock/converter'
import { type PipelineRecord, parseLossless, readInput } from '@penstock/forges'
import { defaultChunkLimits, type Encoding, RequestEncoder, type Signal, signalNames } from '@penstock/otlp'
import { atMost, reportBounds } from './bounds.ts'
import { compareWithGitlabReceiver } from './gitlab-receiver.ts'
import { median, printTable, type Timing, timeInTurns } from './measure.ts'
import { pipelineHook } from './payloads.ts'

const options = resolveOptions()

function recordOf(json: string): PipelineRecord {
  const input = readInput(parseLossless(json), { receivedAtNs: undefined })
  if (input.kind !== 'pipeline') throw new Error('not a pipeline')
  return input.record
}

const encoders = { protobuf: new RequestEncoder('protobuf'), json: new RequestEncoder('json') }

function bytesOf(record: PipelineRecord, encoding: Encoding, signals: readonly Signal[] = signalNames): number {
  let bytes = 0
  for (const chunk of convertChunks(record, options, {
    signals,
    encoder: encoders[encoding],
    limits: defaultChunkLimits,
  })) {
    bytes += chunk.body.byteLength
  }
  return bytes
}

function transformer(record: PipelineRecord) {
  const conversion = convert(record, options)
  const spans = toReadableSpans(conversion.traces)
  const [metrics] = toResourceMetrics(conversion.metrics)
  const logs = toReadableLogRecords(conversion.logs)
  return {
    protobuf: () => [
      ProtobufTraceSerializer.serializeRequest(spans),
      ProtobufMetricsSerializer.serializeRequest(metrics!),
      ProtobufLogsSerializer.serializeRequest(logs),
    ],
    json: () => [
      JsonTraceSerializer.serializeRequest(spans),
      JsonMetricsSerializer.serializeRequest(metrics!),
      JsonLogsSerializer.serializeRequest(logs),
    ],
    traces: () => ProtobufTraceSerializer.serializeRequest(spans),
  }
}

/** The processor time of otlp-transformer as a multiple of ours, at least. */
const LEAST_TIMES_ANCHOR = 2

function throughput(): void {
  const json = JSON.stringify(pipelineHook(31, 20))
  const record = recordOf(json)
  const theirs = transformer(record)
  const timings = timeInTurns({
    'three signals, protobuf': () => bytesOf(record, 'protobuf'),
    'three signals, protobuf: otlp-transformer': theirs.protobuf,
    'three signals, JSON': () => bytesOf(record, 'json'),
    'three signals, JSON: otlp-transformer': theirs.json,
    'traces alone, protobuf': () => bytesOf(record, 'protobuf', ['traces']),
    'traces alone, protobuf: otlp-transformer': theirs.traces,
    'three signals, protobuf, from hook JSON': () => bytesOf(recordOf(json), 'protobuf'),
  })
  const row = ([name, { wallMicros, cpuMicros }]: [string, Timing]): string[] => {
    const anchor = (timings as Record<string, Timing>)[`${name}: otlp-transformer`]
    const ratio = (ours: number, theirs: number | undefined) =>
      theirs === undefined ? '' : `${(theirs / ours).toFixed(2)} ×`
    return [
      name,
      `${(1e6 / wallMicros).toFixed(0)}/s`,
      ratio(wallMicros, anchor?.wallMicros),
      `${cpuMicros.toFixed(0)} µs`,
      ratio(cpuMicros, anchor?.cpuMicros),
    ]
  }
  console.log('\nPipelines of 20 jobs, one core')
  // If other work is running, the ratio of CPU times varies less.
  printTable([['', 'pipelines', 'speed, anchor = 1', 'CPU each', 'CPU, ours = 1'], ...Object.entries(timings).map(row)])
  const shareOf = (ours: Timing, anchor: Timing) => ours.cpuMicros / anchor.cpuMicros
  const bound = (encoding: 'protobuf' | 'JSON') => {
    const name = `three signals, ${encoding}` as const
    return atMost(
      name,
      shareOf(timings[name], timings[`${name}: otlp-transformer`]),
      1 / LEAST_TIMES_ANCHOR,
      'times',
      2,
    )
  }
  reportBounds('CPU beside otlp-transformer', [bound('protobuf'), bound('JSON')])
}

/** Drives the generator as the exporter does: one chunk per turn of the event loop. */
async function driven(
  record: PipelineRecord,
): Promise<{ totalMs: number; longestMs: number; cpuMicros: number; chunks: number }> {
  const cpu = process.cpuUsage()
  const start = performance.now()
  let longestMs = 0
  let chunks = 0
  const generator = convertChunks(record, options, {
    signals: signalNames,
    encoder: encoders.protobuf,
    limits: defaultChunkLimits,
  })
  for (;;) {
    const before = performance.now()
    const { done } = generator.next()
    longestMs = Math.max(longestMs, performance.now() - before)
    if (done) break
    chunks++
    await setImmediate()
  }
  const { user, system } = process.cpuUsage(cpu)
  return { totalMs: performance.now() - start, longestMs, cpuMicros: user + system, chunks }
}

async function largePipeline(): Promise<void> {
  const small = recordOf(JSON.stringify(pipelineHook(32, 100)))
  const large = recordOf(JSON.stringify(pipelineHook(33, 10_000)))
  const { hundred } = timeInTurns({ hundred: () => bytesOf(small, 'protobuf') })
  const runs = []
  for (let i = 0; i < 6; i++) runs.push(await driven(large))
  const [, ...measured] = runs
  const totalMs = median(measured.map((run) => run.totalMs))
  const perJob = median(measured.map((run) => run.cpuMicros)) / 10_000
  console.log('\nA pipeline of 10,000 jobs, three signals, protobuf, one chunk per turn of the event loop')
  printTable([
    ['total', `${totalMs.toFixed(0)} ms`],
    ['longest turn', `${median(measured.map((run) => run.longestMs)).toFixed(1)} ms`],
    ['chunks', String(measured[0]!.chunks)],
    ['CPU per job', `${perJob.toFixed(1)} µs`],
    ['CPU per job, pipeline of 100', `${(hundred.cpuMicros / 100).toFixed(1)} µs`],
    ['ratio', (perJob / (hundred.cpuMicros / 100)).toFixed(2)],
  ])
}

console.log(
  `Node ${process.version}, ${process.platform}-${process.arch}; medians of 5 rounds, garbage collection included`,
)
throughput()
await largePipeline()
await compareWithGitlabReceiver((json) => bytesOf(recordOf(json), 'protobuf', ['traces']))
