import type { SpanSet, TraceSpan } from './trace-span.ts'

/** A span at its place in the waterfall. */
export interface TraceNode {
  readonly span: TraceSpan
  readonly parent: TraceNode | undefined
  /** In the order of their rows. */
  readonly children: TraceNode[]
  /** 1 for the first level, as `aria-level` counts. */
  readonly level: number
  /** The stage that the job belongs to: the same object for all jobs of one stage of one pipeline. */
  readonly lane: Lane | undefined
  /** Set if the job was tried more than once. */
  readonly attempt: { readonly number: number; readonly of: number } | undefined
  /** The level of the child pipeline that the span belongs to. */
  readonly childLevel: number | undefined
}

export interface Lane {
  readonly stage: string
  readonly jobs: number
  readonly attempts: number
}

export interface TraceTree {
  readonly roots: readonly TraceNode[]
  /** All nodes by the id of their span. */
  readonly nodes: ReadonlyMap<string, TraceNode>
  readonly isPipeline: boolean
  /** The end of the span that ends last, in nanoseconds since the start of the trace. */
  readonly durationNs: number
  readonly baseNs: bigint
}

interface Place {
  readonly span: TraceSpan
  readonly parent: TraceNode | undefined
  readonly lane?: Lane | undefined
  readonly attempt?: TraceNode['attempt']
}

/**
 * Returns the tree of a trace. Spans without a stored parent are roots. If parents form a cycle, its earliest span is a
 * root, so every span has exactly one place.
 */
export function buildTree({ spans, baseNs }: SpanSet): TraceTree {
  const known = new Set(spans.map(({ id }) => id))
  const byParent = new Map<string, TraceSpan[]>()
  const roots: TraceSpan[] = []
  for (const span of spans) {
    if (span.parentId === '' || span.parentId === span.id || !known.has(span.parentId)) roots.push(span)
    else listOf(byParent, span.parentId).push(span)
  }
  const nodes = new Map<string, TraceNode>()
  const rootNodes: TraceNode[] = []
  const grow = (from: readonly TraceSpan[]) => {
    const waiting: Place[] = []
    for (const span of from) rootNodes.push(place({ span, parent: undefined }, nodes, waiting, byParent))
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (!nodes.has(next.span.id)) next.parent!.children.push(place(next, nodes, waiting, byParent))
    }
  }
  grow(roots.sort(byStart))
  if (nodes.size < spans.length) {
    for (const span of spans.toSorted(byStart)) if (!nodes.has(span.id)) grow([span])
  }
  return {
    roots: rootNodes,
    nodes,
    baseNs,
    isPipeline: spans.some(({ kind }) => kind === 'pipeline'),
    durationNs: spans.reduce((end, span) => Math.max(end, span.endNs), 0),
  }
}

/** Makes the node of a span, and puts its children on the stack so that the first one is taken first. */
function place(
  { span, parent, lane, attempt }: Place,
  nodes: Map<string, TraceNode>,
  waiting: Place[],
  byParent: ReadonlyMap<string, TraceSpan[]>,
): TraceNode {
  const level = (parent?.level ?? 0) + 1
  const childLevel = parent !== undefined && span.kind === 'pipeline' ? level : parent?.childLevel
  const node: TraceNode = { span, parent, children: [], level, lane, attempt, childLevel: childLevel ?? undefined }
  nodes.set(span.id, node)
  const children = byParent.get(span.id)
  if (children === undefined) return node
  const places = span.kind === 'pipeline' || span.kind === 'stage' ? lanesOf(span, children) : plain(children)
  for (let index = places.length - 1; index >= 0; index -= 1) waiting.push({ ...places[index]!, parent: node })
  return node
}

type Child = Omit<Place, 'parent'>

const plain = (spans: TraceSpan[]): Child[] => spans.sort(byStart).map((span) => ({ span }))

/** Returns the jobs of a pipeline by stage, in the order that the pipeline declares, then its other spans. */
function lanesOf(pipeline: TraceSpan, children: readonly TraceSpan[]): Child[] {
  const stages = new Map<string, TraceSpan[]>(pipeline.stages.map((stage) => [stage, []]))
  const others: TraceSpan[] = []
  for (const span of children.toSorted(byStart)) {
    const inLane = span.kind === 'job' || span.kind === 'bridge' || span.kind === 'stage'
    if (inLane) listOf(stages, span.stage ?? '').push(span)
    else others.push(span)
  }
  const lanes = [...stages].filter(([, spans]) => spans.length > 0)
  // The jobs of a forge without stages are in no lane.
  const hasCaptions = pipeline.kind === 'pipeline' && lanes.some(([stage]) => stage !== '')
  return [...lanes.flatMap(([stage, spans]) => laneOf(stage, spans, hasCaptions)), ...plain(others)]
}

/** Returns the jobs of one stage by start, those that never ran last, and the attempts of a job next to each other. */
function laneOf(stage: string, spans: readonly TraceSpan[], hasCaption: boolean): Child[] {
  const byName = new Map<string, TraceSpan[]>()
  for (const span of spans.toSorted(ranFirst)) listOf(byName, `${span.kind === 'stage'} ${span.name}`).push(span)
  const jobs = spans.filter(({ kind }) => kind !== 'stage').length
  const children = [...byName.values()].flatMap((attempts) => numbered(attempts))
  // A stage that has a span of its own needs no caption.
  if (!hasCaption || jobs < spans.length) return children
  const lane = { stage, jobs: byName.size, attempts: jobs }
  return children.map((child) => ({ ...child, lane }))
}

function numbered(attempts: TraceSpan[]): Child[] {
  if (attempts.length === 1 && (attempts[0]!.attempt ?? 1) <= 1) return attempts.map((span) => ({ span }))
  attempts.sort((a, b) => (a.attempt ?? 0) - (b.attempt ?? 0) || byStart(a, b))
  const of = Math.max(attempts.length, ...attempts.map(({ attempt }) => attempt ?? 0))
  return attempts.map((span, index) => ({ span, attempt: { number: span.attempt ?? index + 1, of } }))
}

const byStart = (a: TraceSpan, b: TraceSpan): number =>
  a.startNs - b.startNs || b.endNs - a.endNs || (a.id < b.id ? -1 : 1)

const ranFirst = (a: TraceSpan, b: TraceSpan): number => Number(b.executed) - Number(a.executed) || byStart(a, b)

function listOf(map: Map<string, TraceSpan[]>, key: string): TraceSpan[] {
  const known = map.get(key)
  if (known !== undefined) return known
  const made: TraceSpan[] = []
  map.set(key, made)
  return made
}
