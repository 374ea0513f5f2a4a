import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Conversion, type ConvertOptionsInput, convert, resolveOptions } from '@penstock/converter'
import type { PipelineRecord, Warnings } from '@penstock/forges'
import type {
  AnyValue,
  HistogramDataPoint,
  KeyValue,
  LogRecord,
  Metric,
  NumberDataPoint,
  Signal,
  Span,
} from '@penstock/otlp'
import { Intake } from '../../packages/cli/src/records/intake.ts'
import { bodiesOf, fixtures } from '../fixtures.ts'

/** Returns the body of a case that is one pipeline hook. A test may change it. */
export function hookOf(name: string): PipelineHook {
  return structuredClone(bodiesOf(name)[0]) as PipelineHook
}

export interface PipelineHook {
  readonly object_attributes: Record<string, unknown>
  readonly commit: Record<string, unknown>
  merge_request: Record<string, unknown> | null
  builds: Record<string, unknown>[]
}

export function refusedText(file: string): string {
  return readFileSync(join(fixtures, 'refused', file), 'utf8')
}

/** A body and the result of its conversion. */
export type BodyResult =
  | { readonly exported: ExportedRun }
  /** The reason why it was skipped, without the id of the pipeline. */
  | { readonly exported: undefined; readonly skipped: string }

export interface ExportedRun {
  readonly record: PipelineRecord
  readonly warnings: Warnings
  readonly conversion: Conversion
  readonly pipeline: Span
  readonly spans: readonly Span[]
  /** The job spans by name. If a job has several attempts, this has only the last one; `spans` contains all. */
  readonly jobs: Readonly<Record<string, Span>>
  readonly metrics: Readonly<Record<string, Metric>>
  readonly log: LogRecord
  readonly jobLogs: Readonly<Record<string, LogRecord>>
}

/** The time of reading, which is the time of receipt for records that contain no time. */
const readAtNs = 1_800_000_000_000_000_000n

/** Converts bodies in order of arrival, as one run of the command line does. */
export function convertEach(
  bodies: readonly unknown[],
  input: ConvertOptionsInput = {},
  receivedAtNs?: bigint,
): BodyResult[] {
  const options = resolveOptions(input)
  const intake = new Intake(options, { receivedAtNs }, () => readAtNs)
  return bodies.map((body) => {
    const admission = intake.admit(body)
    if (admission.kind === 'skip') {
      return { exported: undefined, skipped: admission.reason.replace(/^pipeline \d+: /, '') }
    }
    intake.remember(admission)
    const { record, warnings } = admission
    return { exported: exportedRun(record, warnings, convert(record, options)) }
  })
}

export const convertEachOfFixture = (
  name: string,
  options?: ConvertOptionsInput,
  receivedAtNs?: bigint,
): BodyResult[] => convertEach(bodiesOf(name), options, receivedAtNs)

/** Converts a case that exports exactly one run. */
export const convertFixture = (name: string, options?: ConvertOptionsInput, receivedAtNs?: bigint): ExportedRun =>
  onlyExportedRun(convertEachOfFixture(name, options, receivedAtNs))

export const convertBody = (body: unknown, options?: ConvertOptionsInput, receivedAtNs?: bigint): ExportedRun =>
  onlyExportedRun(convertEach([body], options, receivedAtNs))

function onlyExportedRun(results: readonly BodyResult[]): ExportedRun {
  const [exported, ...others] = results.flatMap(({ exported }) => exported ?? [])
  if (exported === undefined || others.length > 0) throw new Error(`${others.length + 1} runs exported, not one`)
  return exported
}

function exportedRun(record: PipelineRecord, warnings: Warnings, conversion: Conversion): ExportedRun {
  const spans = conversion.traces.resources[0]!.scopes[0]!.items
  const [pipeline, ...others] = spans
  const metrics = conversion.metrics.resources[0]!.scopes[0]!.items
  const [log, ...jobLogs] = conversion.logs.resources[0]!.scopes[0]!.items
  const jobName = (owner: Attributed): string => String(attribute(owner, 'job.name'))
  return {
    record,
    warnings,
    conversion,
    pipeline: pipeline!,
    spans,
    jobs: Object.fromEntries(others.map((span) => [jobName(span), span])),
    metrics: Object.fromEntries(metrics.map((metric) => [metric.name, metric])),
    log: log!,
    jobLogs: Object.fromEntries(jobLogs.map((item) => [jobName(item), item])),
  }
}

interface Attributed {
  readonly attributes: readonly KeyValue[]
}

/** A value with its type on the wire: a double is a number and an integer is a bigint. */
export type Plain = string | number | bigint | boolean | undefined | Plain[]

export function attribute(owner: Attributed, key: string): Plain {
  const found = owner.attributes.find((candidate) => candidate.key === key)
  return found && plainOf(found)
}

export function attributes(owner: Attributed): Record<string, Plain> {
  return Object.fromEntries(owner.attributes.map((each) => [each.key, plainOf(each)]))
}

export const keysOf = (owner: Attributed): string[] => owner.attributes.map(({ key }) => key)

/** Returns the attributes of a signal's resource. */
export const resourceOf = (run: ExportedRun, signal: Signal = 'traces'): Record<string, Plain> =>
  attributes(run.conversion[signal].resources[0]!.resource)

function plainOf(value: AnyValue): Plain {
  switch (value.type) {
    case 'array':
      return value.value.map(plainOf)
    case 'string':
    case 'int':
    case 'double':
    case 'bool':
      return value.value
    default:
      throw new Error(`unexpected attribute type: ${value.type}`)
  }
}

type Point = NumberDataPoint | HistogramDataPoint

export function pointsOf(metric: Metric | undefined): readonly Point[] {
  const { data } = metric ?? {}
  if (data === undefined) return []
  if (data.type === 'gauge' || data.type === 'sum' || data.type === 'histogram') return data.dataPoints
  throw new Error(`unexpected metric type: ${data.type}`)
}

/** Returns the values of a gauge or a counter, in order. */
export function valuesOf(metric: Metric | undefined): (number | bigint | undefined)[] {
  return pointsOf(metric).map((point) => ('value' in point ? point.value?.value : undefined))
}

export function histogramsOf(metric: Metric | undefined): readonly HistogramDataPoint[] {
  return pointsOf(metric).filter((point) => 'bucketCounts' in point)
}

/** Returns the counts of the buckets that are not empty, by upper bound. The key of the last bucket is `more`. */
export function bucketsOf(point: HistogramDataPoint): Record<string, bigint> {
  return Object.fromEntries(
    point.bucketCounts
      .map((count, i) => [String(point.explicitBounds[i] ?? 'more'), count] as const)
      .filter(([, count]) => count > 0n),
  )
}

/** Returns the nanoseconds since 1970 of a UTC date such as `2026-02-11 09:20:14.318`. */
export const utc = (date: string): bigint => BigInt(Date.parse(`${date.replace(' ', 'T')}Z`)) * 1_000_000n

/** Returns the nanoseconds of a time on 2026-02-11, the day of most cases. */
export const at = (time: string): bigint => utc(`2026-02-11 ${time}`)

/** Returns start and end of a span. */
export const timesOf = (span: Span | undefined): (bigint | undefined)[] => [
  span?.startTimeUnixNano,
  span?.endTimeUnixNano,
]
