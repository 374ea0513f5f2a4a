import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Signal, signalNames } from '@penstock/otlp'
import { type PipelineSample, pipelineBody } from './pipeline.harness.ts'
import { counter, logBody, logRecord, metricBody, numberedTrace, toTraceId } from './telemetry.harness.ts'

/** A body in OTLP/JSON. */
export interface Body {
  readonly signal: Signal
  readonly json: string
}

/** The id of the span of `numberedTrace(1)`. */
export const spanId = `${'a'.repeat(15)}1`

const golden = join(import.meta.dirname, '../../../fixtures/golden')

/**
 * Returns the telemetry of the fixtures' pipelines, of those with the same trace the first, and samples with what pipelines do not have: a
 * service without a name, log records at the same time, all types of metrics.
 */
export function suiteBodies(): readonly Body[] {
  const seen = new Set<string>()
  const bodies: Body[] = []
  for (const file of readdirSync(golden)
    .filter((name) => name.endsWith('.traces.json'))
    .sort()) {
    const traces = readFileSync(join(golden, file), 'utf8')
    const ids = new Set(traces.match(/"traceId": ?"[0-9a-f]{32}"/g))
    // Some files have several documents, one per request.
    if (!isJson(traces) || [...ids].some((id) => seen.has(id))) continue
    for (const id of ids) seen.add(id)
    for (const signal of signalNames) {
      const json = readFileSync(join(golden, file.replace('traces', signal)), 'utf8')
      if (isJson(json)) bodies.push({ signal, json })
    }
  }
  const sample = (signal: Signal, body: Uint8Array) => bodies.push({ signal, json: Buffer.from(body).toString() })
  for (let number = 1; number <= 30; number += 1) {
    sample('traces', numberedTrace(number, { service: number % 3 === 0 ? 'bank' : 'shop', failed: number % 5 === 0 }))
  }
  // Same nanosecond, other ids.
  for (let number = 40; number < 50; number += 1) sample('traces', numberedTrace(number, { start: 100 }))
  sample(
    'logs',
    logBody('shop', ...Array.from({ length: 20 }, (_, at) => logRecord(at >> 2, (at % 24) + 1, `Line ${at}`))),
  )
  sample('logs', logBody('', logRecord(3, 9, 'Ärger im Hafen', { traceId: toTraceId(1), spanId })))
  for (let at = 1; at <= 5; at += 1) {
    const attributes = [{ key: 'till', value: { stringValue: at % 2 === 0 ? 'a' : 'b' } }]
    sample('metrics', metricBody('shop', counter(at, String(at), attributes), ...otherMetrics(at)))
  }
  // One request, and the newest series neither first nor last.
  const orders = [20, 40, 1, 30, 10].map((seconds) => counterWith(`till ${seconds}`, seconds))
  sample('metrics', metricBody('shop', ...orders))
  sample('metrics', metricBody('shop', ...intervalMetrics))
  for (const number of kindSamples.keys()) sample('traces', pipelineBody(kindSample(number)))
  return signalNames.map((signal) => joined(signal, bodies))
}

/** Returns one body with everything of a signal. */
function joined(signal: Signal, bodies: readonly Body[]): Body {
  const lists = bodies.filter((body) => body.signal === signal).map(({ json }) => Object.entries(JSON.parse(json)))
  const [key] = lists[0]![0]!
  return { signal, json: JSON.stringify({ [key]: lists.flatMap((entries) => entries.flatMap(([, list]) => list)) }) }
}

const push = { 'svc.cicd.pipeline.trigger.type': 'push' }
const mergeRequest = { 'svc.cicd.pipeline.trigger.type': 'merge_request_event' }
const onRef = (ref: string) => ({ 'vcs.ref.head.name': ref })

/** Successful runs of one project in the order of their start, and the numbers of the earlier ones that each is compared with. */
export const kindSamples: readonly (readonly [
  attributes: Readonly<Record<string, string>>,
  usual: readonly number[],
])[] = [
  [{ ...onRef('main'), ...push }, []],
  [{ ...onRef('main'), ...push, 'cicd.pipeline.result': 'failure' }, [0]],
  [{ ...onRef('main'), 'svc.cicd.pipeline.trigger.type': 'schedule' }, []],
  [{ ...onRef('feature/tide'), ...push }, []],
  [{ ...onRef('fix/mast'), ...push }, [3]],
  [{ ...onRef('v1'), ...push, 'vcs.ref.head.type': 'tag' }, []],
  [{ ...onRef('v2'), ...push, 'vcs.ref.head.type': 'tag' }, [5]],
  [{ ...onRef('feature/tide'), ...mergeRequest, 'vcs.change.id': '5' }, []],
  [{ ...onRef('refs/merge-requests/9/head'), ...mergeRequest }, [7]],
  [{ ...onRef('main'), ...push, 'cicd.pipeline.name': 'nightly' }, []],
  [push, []],
  [{ ...onRef('main'), ...push }, [0]],
  [{ ...onRef('main'), ...push }, [11, 0]],
  [{ ...onRef('main'), 'svc.cicd.pipeline.trigger.type': 'schedule' }, [2]],
  [push, [10]],
]
export const FIRST_KIND_SAMPLE = 500
const kindSample = (index: number): PipelineSample => ({
  number: FIRST_KIND_SAMPLE + index,
  attributes: kindSamples[index]![0],
  seconds: 10 + index,
})

export const at = (seconds: number): string =>
  String(1_767_225_600n * 1_000_000_000n + BigInt(seconds) * 1_000_000_000n)

const counterWith = (till: string, seconds: number): object => ({
  ...counter(seconds, '1', [{ key: 'till', value: { stringValue: till } }]),
  name: 'orders',
})

const otherMetrics = (seconds: number): object[] => {
  const times = { startTimeUnixNano: at(0), timeUnixNano: at(seconds) }
  const exemplars = [{ timeUnixNano: at(seconds), asDouble: 2.5, traceId: toTraceId(1), spanId }]
  return [
    { name: 'weight', unit: 'kg', gauge: { dataPoints: [{ ...times, asDouble: seconds + 0.25 }] } },
    {
      name: 'latency',
      unit: 's',
      description: 'Time to answer',
      histogram: {
        aggregationTemporality: 2,
        dataPoints: [
          {
            ...times,
            count: '3',
            sum: 4.5,
            min: 0.5,
            max: 3,
            bucketCounts: ['1', '2'],
            explicitBounds: [1],
            exemplars,
          },
        ],
      },
    },
    {
      name: 'size',
      unit: 'By',
      exponentialHistogram: {
        aggregationTemporality: 1,
        dataPoints: [
          {
            ...times,
            count: '4',
            sum: 9,
            min: 1,
            max: 4,
            scale: 2,
            zeroCount: '1',
            positive: { offset: 3, bucketCounts: ['1', '2'] },
            negative: { offset: 1, bucketCounts: ['5'] },
          },
        ],
      },
    },
    {
      name: 'age',
      unit: 's',
      summary: { dataPoints: [{ ...times, count: '2', sum: 3, quantileValues: [{ quantile: 0.5, value: 1.5 }] }] },
    },
  ]
}

const cumulative = (seconds: number, value: number, start = -5) => ({
  ...{ startTimeUnixNano: at(start), timeUnixNano: at(seconds), asDouble: value },
})
const observation = (seconds: number, value: number) => ({
  ...{ startTimeUnixNano: at(seconds), timeUnixNano: at(seconds), count: '1', sum: value, min: value, max: value },
  ...{ bucketCounts: ['0', '1', '0'], explicitBounds: [60, 300] },
})

/** Counters that are reset, with delta and with cumulative temporality, and a histogram with bounds far from its values. */
const intervalMetrics: readonly object[] = [
  {
    name: 'restarts',
    sum: {
      aggregationTemporality: 2,
      isMonotonic: true,
      dataPoints: [
        ...[cumulative(1, 100), cumulative(2, 107), cumulative(3, 107)],
        ...[cumulative(4, 3, 3), cumulative(5, 4, 3), cumulative(6, 2, 3)],
      ],
    },
  },
  {
    name: 'changes',
    sum: {
      aggregationTemporality: 1,
      isMonotonic: true,
      dataPoints: [cumulative(1, 3), { ...cumulative(2, 4), attributes: [] }, cumulative(9, 5)],
    },
  },
  { name: 'level', sum: { aggregationTemporality: 2, isMonotonic: false, dataPoints: [cumulative(1, 3)] } },
  { name: 'waits', histogram: { aggregationTemporality: 2, dataPoints: [observation(10, 120), observation(11, 110)] } },
]

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
