import {
  parseNanoseconds,
  toNumber,
  toTextList,
  toValueText,
  type WireAttribute,
  type WireResourceSpans,
  type WireSpan,
  type WireValue,
} from '../../api/otlp-json.ts'

export type SpanKind = 'pipeline' | 'stage' | 'job' | 'bridge' | 'span'

/** The outcome of a span. `none` is a span of a service that sets no status. */
export type SpanStatus =
  | 'success'
  | 'failed'
  | 'allowed'
  | 'canceled'
  | 'skipped'
  | 'running'
  | 'queued'
  | 'manual'
  | 'none'

/** A span, with what the page computes from its attributes. Times are nanoseconds since the start of the trace. */
export interface TraceSpan {
  readonly id: string
  readonly parentId: string
  readonly name: string
  readonly service: string
  readonly kind: SpanKind
  readonly status: SpanStatus
  readonly startNs: number
  readonly endNs: number
  /** False for a job that is in the trace although it never ran. */
  readonly executed: boolean
  readonly stage: string | undefined
  /** The order of a pipeline's stages, as the pipeline declares them. */
  readonly stages: readonly string[]
  readonly queuedNs: number
  /** Why a span failed, in words: `script failure`. */
  readonly reason: string | undefined
  readonly attempt: number | undefined
  readonly runId: string | undefined
  readonly worker: string | undefined
  /** The page of the run in the forge; only http and https. */
  readonly url: string | undefined
  readonly wire: WireSpan
  readonly resource: readonly WireAttribute[]
}

/** The spans of a trace, and the time that their nanoseconds count from. */
export interface SpanSet {
  readonly spans: readonly TraceSpan[]
  readonly baseNs: bigint
}

/**
 * The attributes that decide how a span is shown. `*` means the configured name of the service, and the short names
 * are those of older exporters.
 */
const read = {
  'cicd.pipeline.run.id': 'pipelineId',
  'cicd.pipeline.name': 'pipelineName',
  'cicd.pipeline.task.run.id': 'taskId',
  'cicd.pipeline.task.name': 'taskName',
  'cicd.pipeline.task.type': 'stage',
  'job.stage': 'stage',
  'job.status': 'status',
  'pipeline.status': 'status',
  'cicd.pipeline.task.run.result': 'result',
  'cicd.pipeline.result': 'result',
  'cicd.pipeline.task.run.state': 'state',
  'cicd.pipeline.run.state': 'state',
  '*.cicd.pipeline.stages': 'stages',
  'pipeline.stages': 'stages',
  '*.cicd.pipeline.task.run.queued_duration': 'queued',
  'job.queued_duration': 'queued',
  '*.cicd.pipeline.task.kind': 'taskKind',
  'job.type': 'taskKind',
  '*.cicd.pipeline.task.allow_failure': 'allowFailure',
  'job.allow_failure': 'allowFailure',
  '*.cicd.pipeline.task.run.failure_reason': 'reason',
  'job.failure_reason': 'reason',
  'error.type': 'errorType',
  '*.cicd.pipeline.task.run.attempt': 'attempt',
  '*.cicd.pipeline.task.run.executed': 'executed',
  'cicd.worker.name': 'worker',
  'job.runner.description': 'worker',
  'cicd.pipeline.task.run.url.full': 'taskUrl',
  'cicd.pipeline.run.url.full': 'runUrl',
} as const

type Read = Partial<Record<(typeof read)[keyof typeof read], WireValue>>
const nameByKey: ReadonlyMap<string, string> = new Map(Object.entries(read))

type NameReader = (key: string) => string | undefined

/** Returns a function that looks up each key once: the spans of a trace share their keys. */
function nameReader(): NameReader {
  const known = new Map<string, string | undefined>()
  return (key) => {
    const name = known.get(key)
    if (name !== undefined || known.has(key)) return name
    const prefix = key.indexOf('.cicd.')
    const found = nameByKey.get(prefix > 0 ? `*${key.slice(prefix)}` : key)
    known.set(key, found)
    return found
  }
}

/** Status words of the service, and results of the semantic conventions. */
const statusByWord: ReadonlyMap<string, SpanStatus> = new Map([
  ['success', 'success'],
  ['failed', 'failed'],
  ['failure', 'failed'],
  ['error', 'failed'],
  ['timeout', 'failed'],
  ['canceled', 'canceled'],
  ['canceling', 'canceled'],
  ['cancellation', 'canceled'],
  ['skipped', 'skipped'],
  ['skip', 'skipped'],
  ['running', 'running'],
  ['executing', 'running'],
  ['manual', 'manual'],
  ['scheduled', 'queued'],
  ['pending', 'queued'],
  ['created', 'queued'],
  ['preparing', 'queued'],
  ['waiting_for_resource', 'queued'],
  ['waiting_for_callback', 'queued'],
])

/** The statuses of jobs that did not run, if their span has no length. */
const neverRan: ReadonlySet<SpanStatus> = new Set(['skipped', 'manual', 'queued'])

const ERROR = 2
const NS_PER_SECOND = 1e9

interface Found {
  readonly wire: WireSpan
  readonly resource: readonly WireAttribute[]
  readonly service: string
  readonly startNs: bigint
  readonly endNs: bigint
}

/**
 * Returns the spans of OTLP/JSON. A span without a start begins at its end, and one that ends before its start has no
 * length. Of spans with the same id, the one that ends last counts, because a trace can be exported twice.
 */
export function readSpans(resourceSpans: readonly WireResourceSpans[]): SpanSet {
  const found = new Map<string, Found>()
  let baseNs: bigint | undefined
  for (const { resource, scopeSpans } of resourceSpans) {
    const attributes = resource?.attributes ?? []
    const service = toValueText(attributes.find(({ key }) => key === 'service.name')?.value)
    for (const scope of scopeSpans ?? []) {
      for (const wire of scope.spans ?? []) {
        const id = wire.spanId
        if (typeof id !== 'string' || id === '') continue
        const given = parseNanoseconds(wire.endTimeUnixNano)
        const startNs = parseNanoseconds(wire.startTimeUnixNano) ?? given ?? 0n
        const endNs = given === undefined || given < startNs ? startNs : given
        const known = found.get(id)
        if (known !== undefined && known.endNs >= endNs) continue
        found.set(id, { wire, resource: attributes, service, startNs, endNs })
        if (startNs > 0n && (baseNs === undefined || startNs < baseNs)) baseNs = startNs
      }
    }
  }
  const base = baseNs ?? 0n
  const readName = nameReader()
  return { baseNs: base, spans: [...found.values()].map((each) => toSpan(each, base, readName)) }
}

function toSpan({ wire, resource, service, startNs, endNs }: Found, baseNs: bigint, readName: NameReader): TraceSpan {
  const values: Record<string, WireValue | undefined> = {}
  for (const { key, value } of wire.attributes ?? []) {
    const name = typeof key === 'string' ? readName(key) : undefined
    if (name !== undefined) values[name] = value
  }
  const found = values as Read
  const kind = kindOf(found)
  const status = statusOf(found, wire, kind)
  const queued = toNumber(found.queued) ?? 0
  const reason = toValueText(found.reason) || toValueText(found.errorType)
  return {
    id: wire.spanId!,
    parentId: typeof wire.parentSpanId === 'string' ? wire.parentSpanId : '',
    name: typeof wire.name === 'string' ? wire.name : '',
    service,
    kind,
    status,
    startNs: startNs === 0n ? 0 : Number(startNs - baseNs),
    endNs: endNs === 0n ? 0 : Number(endNs - baseNs),
    executed: found.executed?.boolValue !== false && !(endNs <= startNs && neverRan.has(status)),
    stage: toValueText(found.stage) || undefined,
    stages: toTextList(found.stages) ?? [],
    queuedNs: queued > 0 ? Math.round(queued * NS_PER_SECOND) : 0,
    reason: reason === '' || reason === '_OTHER' ? undefined : reason.replaceAll('_', ' '),
    attempt: toNumber(found.attempt),
    runId: toValueText(found.taskId) || toValueText(found.pipelineId) || undefined,
    worker: toValueText(found.worker) || undefined,
    // Only the page's head and the selected span have a link, and checking a URL takes long.
    get url() {
      return safeUrl(toValueText(found.taskUrl) || toValueText(found.runUrl))
    },
    wire,
    resource,
  }
}

function kindOf(found: Read): SpanKind {
  if (found.taskId !== undefined || found.taskName !== undefined)
    return toValueText(found.taskKind) === 'bridge' ? 'bridge' : 'job'
  if (found.pipelineId === undefined && found.pipelineName === undefined) return 'span'
  // A stage span names its stage and its pipeline, but no task.
  return found.stage === undefined ? 'pipeline' : 'stage'
}

function statusOf(found: Read, wire: WireSpan, kind: SpanKind): SpanStatus {
  const word = toValueText(found.status) || toValueText(found.result) || toValueText(found.state)
  const known = statusByWord.get(word)
  if (kind === 'stage' || kind === 'span')
    return wire.status?.code === ERROR ? 'failed' : kind === 'stage' ? 'success' : 'none'
  if (known === 'failed' && found.allowFailure?.boolValue === true) return 'allowed'
  return known ?? (wire.status?.code === ERROR ? 'failed' : 'none')
}

/** Returns whether a URL is another one or below it. */
export function isBelow(url: string, base: string): boolean {
  if (!URL.canParse(url) || !URL.canParse(base)) return false
  const root = new URL(base).href.replace(/\/+$/, '')
  const { href } = new URL(url)
  return href === root || href.startsWith(`${root}/`)
}

const MAX_URL = 2_048

/** Returns the URL if it leads to a web page: `http` or `https`, without a password, and of at most 2,048 characters. */
export function safeUrl(text: string): string | undefined {
  if (text === '' || text.length > MAX_URL) return undefined
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return undefined
  return url.username === '' && url.password === '' ? url.href : undefined
}
