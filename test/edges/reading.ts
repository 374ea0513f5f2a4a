import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Conversion,
  type ConvertOptionsInput,
  convert,
  type ExportDecision,
  exportDecision,
  type JobEvent,
  type PipelineRecord,
  parseLossless,
  readInput,
  recordInstance,
  resolveOptions,
  rootKey,
  rootOf,
  type Warnings,
  withJobEvents,
  withRoot,
} from '@penstock/converter'
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

const fixtures = join(import.meta.dirname, '../../fixtures')

/** Every case of `fixtures/pipelines`. */
export const caseNames: readonly string[] = readdirSync(join(fixtures, 'pipelines')).map((file) =>
  file.replace('.json', ''),
)

export interface Variant {
  readonly case: string
  readonly variant: string
  readonly options: ConvertOptionsInput
}

/** The option combinations that the fixtures name. */
export const variants: readonly Variant[] = JSON.parse(readFileSync(join(fixtures, 'variants.json'), 'utf8'))

/** The bodies of a case in order of arrival; most cases are one. */
export function bodiesOf(name: string): unknown[] {
  const body = parseLossless(readFileSync(join(fixtures, 'pipelines', `${name}.json`), 'utf8'))
  return Array.isArray(body) ? body : [body]
}

/** A case that is one pipeline hook, to be changed by a test. */
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

/** One pipeline hook or bundle on its arrival, and what came of it. */
export interface Arrival {
  readonly record: PipelineRecord
  readonly warnings: Warnings
  readonly decision: ExportDecision
  readonly exported: ExportedRun | undefined
}

export interface ExportedRun {
  readonly record: PipelineRecord
  readonly warnings: Warnings
  readonly conversion: Conversion
  readonly pipeline: Span
  readonly spans: readonly Span[]
  /** By name; of several attempts the last. Use `spans` where that matters. */
  readonly jobs: Readonly<Record<string, Span>>
  readonly metrics: Readonly<Record<string, Metric>>
  readonly log: LogRecord
  readonly jobLogs: Readonly<Record<string, LogRecord>>
}

/**
 * Bodies in order of arrival, as an intake would treat them: job hooks enrich later pipelines, every body teaches its
 * root, a pipeline that was exported before is a later completion.
 */
export function arrivalsOf(
  bodies: readonly unknown[],
  input: ConvertOptionsInput = {},
  receivedAtNs?: bigint,
): Arrival[] {
  const options = resolveOptions(input)
  const roots = new Map<string, bigint>()
  const events: JobEvent[] = []
  const sentJobs = new Map<string, ReadonlySet<bigint>>()
  const arrivals: Arrival[] = []
  for (const body of bodies) {
    const read = readInput(body, { receivedAtNs })
    if (read.kind === 'job') {
      events.push(read.event)
      continue
    }
    const instance = recordInstance(read.record, options)
    const key = rootKey(instance, read.record.id)
    const root = rootOf(read.record, roots, instance)
    roots.set(key, root.id)
    const enriched = withRoot(withJobEvents(read.record, events), root)
    const jobIds = sentJobs.get(key)
    const record = jobIds === undefined ? enriched : { ...enriched, previousExport: { jobIds } }
    const decision = exportDecision(record, options)
    const { warnings } = read
    if (decision.kind === 'skip') {
      arrivals.push({ record, warnings, decision, exported: undefined })
      continue
    }
    sentJobs.set(key, new Set([...(jobIds ?? []), ...record.jobs.map((job) => job.id)]))
    arrivals.push({ record, warnings, decision, exported: exportedRun(record, warnings, convert(record, options)) })
  }
  return arrivals
}

export const arrivalsOfFixture = (name: string, options?: ConvertOptionsInput, receivedAtNs?: bigint): Arrival[] =>
  arrivalsOf(bodiesOf(name), options, receivedAtNs)

/** The one run of a case that is exported. */
export const convertFixture = (name: string, options?: ConvertOptionsInput, receivedAtNs?: bigint): ExportedRun =>
  only(arrivalsOfFixture(name, options, receivedAtNs))

export const convertBody = (body: unknown, options?: ConvertOptionsInput, receivedAtNs?: bigint): ExportedRun =>
  only(arrivalsOf([body], options, receivedAtNs))

function only(arrivals: readonly Arrival[]): ExportedRun {
  const [exported, ...others] = arrivals.flatMap((arrival) => arrival.exported ?? [])
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

/** A double is a number here, an integer a bigint: the type on the wire is part of every expectation. */
export type Plain = string | number | bigint | boolean | undefined | Plain[]

export function attribute(owner: Attributed, key: string): Plain {
  const found = owner.attributes.find((candidate) => candidate.key === key)
  return found && plainOf(found)
}

export function attributes(owner: Attributed): Record<string, Plain> {
  return Object.fromEntries(owner.attributes.map((each) => [each.key, plainOf(each)]))
}

export const keysOf = (owner: Attributed): string[] => owner.attributes.map(({ key }) => key)

/** Attributes of a signal's resource. */
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
      throw new Error(`no attribute of ours is ${value.type}`)
  }
}

type Point = NumberDataPoint | HistogramDataPoint

export function pointsOf(metric: Metric | undefined): readonly Point[] {
  const { data } = metric ?? {}
  if (data === undefined) return []
  if (data.type === 'gauge' || data.type === 'sum' || data.type === 'histogram') return data.dataPoints
  throw new Error(`no metric of ours is ${data.type}`)
}

/** Values of a gauge or a counter, in order. */
export function valuesOf(metric: Metric | undefined): (number | bigint | undefined)[] {
  return pointsOf(metric).map((point) => ('value' in point ? point.value?.value : undefined))
}

export function histogramsOf(metric: Metric | undefined): readonly HistogramDataPoint[] {
  return pointsOf(metric).filter((point) => 'bucketCounts' in point)
}

/** Counts of the buckets that are not empty, by upper bound; `more` is the last one. */
export function bucketsOf(point: HistogramDataPoint): Record<string, bigint> {
  return Object.fromEntries(
    point.bucketCounts
      .map((count, i) => [String(point.explicitBounds[i] ?? 'more'), count] as const)
      .filter(([, count]) => count > 0n),
  )
}

/** Nanoseconds since 1970 of a UTC date such as `2026-02-11 09:20:14.318`. */
export const utc = (date: string): bigint => BigInt(Date.parse(`${date.replace(' ', 'T')}Z`)) * 1_000_000n

/** The same on 2026-02-11, the day of most cases. */
export const at = (time: string): bigint => utc(`2026-02-11 ${time}`)

/** Start and end of a span. */
export const timesOf = (span: Span | undefined): (bigint | undefined)[] => [
  span?.startTimeUnixNano,
  span?.endTimeUnixNano,
]
