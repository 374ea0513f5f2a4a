/** The parts of OTLP/JSON that are read. */
export interface RawValue {
  readonly stringValue?: string
  readonly boolValue?: boolean
  readonly intValue?: string
  readonly doubleValue?: number
  readonly arrayValue?: { readonly values?: readonly RawValue[] }
}
export interface RawAttribute {
  readonly key: string
  readonly value: RawValue
}
export interface RawSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly status?: { readonly code?: number }
  readonly attributes?: readonly RawAttribute[]
}
export interface RawResourceSpans {
  readonly resource?: { readonly attributes?: readonly RawAttribute[] }
  readonly scopeSpans: readonly { readonly spans: readonly RawSpan[] }[]
}

/** One attempt of a job, read from its span. Times are nanoseconds. */
export interface RawJob {
  readonly spanId: string
  readonly name: string
  readonly stage: string
  readonly status: string
  readonly isBridge: boolean
  readonly runner: string | undefined
  readonly tags: readonly string[]
  readonly start: bigint
  readonly end: bigint
}

/** A pipeline run, read from its span. */
export interface RawRun {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string
  readonly project: string
  readonly ref: string
  readonly sha: string
  readonly trigger: string
  readonly status: string
  readonly queue: number | undefined
  readonly start: bigint
  readonly end: bigint
  readonly jobs: readonly RawJob[]
  /** Whether another run of the trace started it. */
  readonly isChild: boolean
}

type Attributes = ReadonlyMap<string, string | number | boolean | readonly string[]>

/** Returns the runs of one trace as OTLP has them, without code of the product: statistics are computed from them again. */
export function rawRuns(resourceSpans: readonly RawResourceSpans[]): RawRun[] {
  const spans = resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({ span, of: attributesOf([...(resource?.attributes ?? []), ...(span.attributes ?? [])]) })),
    ),
  )
  const isRun = (of: Attributes) => of.has('cicd.pipeline.run.id') && !of.has('cicd.pipeline.task.run.id')
  const runIds = new Set(spans.filter(({ of }) => isRun(of)).map(({ span }) => span.spanId))
  const parents = new Map(spans.map(({ span }) => [span.spanId, span.parentSpanId ?? '']))
  const runAbove = (spanId: string) => {
    let above = parents.get(spanId) ?? ''
    while (above !== '' && !runIds.has(above)) above = parents.get(above) ?? ''
    return above
  }
  return spans.flatMap(({ span, of }) => {
    if (!isRun(of)) return []
    const own = spans.filter((other) => !isRun(other.of) && runAbove(other.span.spanId) === span.spanId)
    return [{ ...runOf(span, of), isChild: runAbove(span.spanId) !== '', jobs: own.map(jobOf) }]
  })
}

function runOf(span: RawSpan, of: Attributes) {
  const repository = new URL(String(of.get('vcs.repository.url.full'))).pathname.split('/').at(-1)
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId ?? '',
    project: `${of.get('vcs.owner.name')}/${repository}`,
    ref: String(of.get('vcs.ref.head.name')),
    sha: String(of.get('vcs.ref.head.revision')),
    trigger: String(of.get('svc.cicd.pipeline.trigger.type')),
    status: String(of.get('pipeline.status')),
    queue: of.get('pipeline.queued_duration') as number | undefined,
    start: BigInt(span.startTimeUnixNano),
    end: BigInt(span.endTimeUnixNano),
  }
}

function jobOf({ span, of }: { readonly span: RawSpan; readonly of: Attributes }): RawJob {
  return {
    spanId: span.spanId,
    name: String(of.get('cicd.pipeline.task.name')),
    stage: String(of.get('cicd.pipeline.task.type')),
    status: String(of.get('job.status')),
    isBridge: of.get('svc.cicd.pipeline.task.kind') === 'bridge',
    runner: of.get('cicd.worker.name') as string | undefined,
    tags: (of.get('svc.cicd.worker.tags') ?? []) as readonly string[],
    start: BigInt(span.startTimeUnixNano),
    end: BigInt(span.endTimeUnixNano),
  }
}

function attributesOf(list: readonly RawAttribute[]): Attributes {
  return new Map(
    list.map(({ key, value }) => {
      const { stringValue, intValue, doubleValue, boolValue, arrayValue } = value
      const single = stringValue ?? doubleValue ?? boolValue ?? (intValue === undefined ? '' : Number(intValue))
      return [key, arrayValue === undefined ? single : (arrayValue.values ?? []).map((item) => item.stringValue ?? '')]
    }),
  )
}

export const secondsOf = ({ start, end }: { readonly start: bigint; readonly end: bigint }): number =>
  Number(end - start) / 1e9

/** Returns the interpolated percentile, as PostgreSQL's `percentile_cont` defines it. */
export function percentile(values: readonly number[], fraction: number): number | null {
  const sorted = values.toSorted((a, b) => a - b)
  const rank = fraction * (sorted.length - 1)
  const [low, high] = [sorted[Math.floor(rank)], sorted[Math.ceil(rank)]]
  return low === undefined || high === undefined ? null : low + (high - low) * (rank % 1)
}

/** Returns the seconds that each job keeps on the critical path of a trace, by the id of its span. */
export function criticalSeconds(runs: readonly RawRun[]): Map<string, number> {
  const found = new Map<string, number>()
  /** Adds the path between two times, and returns the nanoseconds that it covers. */
  const walk = (run: RawRun, from: bigint, to: bigint): bigint => {
    let covered = 0n
    let current: RawJob | undefined
    for (;;) {
      const before = run.jobs.filter(({ start, end }) => end > start && (current === undefined || end <= current.start))
      const last = before.map(({ end }) => end).reduce((a, b) => (a > b ? a : b), 0n)
      // Of those that finished at the same time, the longest.
      current = before
        .filter(({ end }) => end === last)
        .toSorted((a, b) => (a.start === b.start ? (a.spanId < b.spanId ? -1 : 1) : a.start < b.start ? -1 : 1))[0]
      if (current === undefined) return covered
      const [begin, end] = [current.start > from ? current.start : from, current.end < to ? current.end : to]
      if (end <= begin) continue
      const { spanId } = current
      const child = runs.find(({ parentSpanId }) => parentSpanId === spanId)
      const inside = child === undefined ? 0n : walk(child, begin, end)
      found.set(spanId, Number(end - begin - inside) / 1e9)
      covered += end - begin
    }
  }
  for (const run of runs) if (!run.isChild) walk(run, 0n, 1n << 63n)
  return found
}
