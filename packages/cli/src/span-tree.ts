import type { Span } from '@penstock/otlp'

export interface SpanNode {
  readonly span: Span
  readonly children: readonly SpanNode[]
}

export interface Trace {
  readonly traceId: string
  /** Spans whose parent is not at hand, too. */
  readonly roots: readonly SpanNode[]
  readonly startNs: bigint
  readonly endNs: bigint
}

/** Spans by trace, in order of first appearance; siblings by start, then as given. */
export function tracesOf(spans: readonly Span[]): Trace[] {
  const byTrace = new Map<string, Span[]>()
  for (const span of spans) {
    const siblings = byTrace.get(span.traceId)
    if (siblings === undefined) byTrace.set(span.traceId, [span])
    else siblings.push(span)
  }
  return [...byTrace].map(([traceId, members]) => ({
    traceId,
    roots: rootsOf(members),
    startNs: members.map((span) => span.startTimeUnixNano).reduce((a, b) => (b < a ? b : a)),
    endNs: members.map((span) => span.endTimeUnixNano).reduce((a, b) => (b > a ? b : a)),
  }))
}

/** Ids are hashes of what is further up, so parents cannot form a cycle. */
function rootsOf(members: readonly Span[]): SpanNode[] {
  const nodes = new Map<string, { span: Span; children: SpanNode[] }>()
  const ordered = members.toSorted((a, b) => compare(a.startTimeUnixNano, b.startTimeUnixNano))
  for (const span of ordered) nodes.set(span.spanId, { span, children: [] })
  const roots: SpanNode[] = []
  for (const node of nodes.values()) {
    const siblings = nodes.get(node.span.parentSpanId)?.children ?? roots
    siblings.push(node)
  }
  return roots
}

const compare = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0)
