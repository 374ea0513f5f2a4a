import type { Span } from '@penstock/otlp'

export interface SpanNode {
  readonly span: Span
  readonly children: readonly SpanNode[]
}

export interface Trace {
  readonly traceId: string
  /**
   * The spans that have no parent, the spans with a parent that is missing from the trace, and one span of each cycle
   * of parents.
   */
  readonly roots: readonly SpanNode[]
  readonly startNs: bigint
  readonly endNs: bigint
}

/** Groups spans by trace in order of first appearance. Siblings are ordered by start, then as given. */
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

interface OpenNode extends SpanNode {
  readonly children: OpenNode[]
}

function rootsOf(members: readonly Span[]): SpanNode[] {
  const nodes = new Map<string, OpenNode>()
  const ordered = members.toSorted((a, b) => compare(a.startTimeUnixNano, b.startTimeUnixNano))
  for (const span of ordered) nodes.set(span.spanId, { span, children: [] })
  const roots: OpenNode[] = []
  const siblingsOf = ({ span }: SpanNode) => nodes.get(span.parentSpanId)?.children ?? roots
  for (const node of nodes.values()) siblingsOf(node).push(node)
  const reached = new Set<SpanNode>()
  for (const root of roots) reach(root, reached)
  for (const node of nodes.values()) {
    if (reached.has(node)) continue
    const siblings = siblingsOf(node)
    siblings.splice(siblings.indexOf(node), 1)
    roots.push(node)
    reach(node, reached)
  }
  return roots
}

function reach(root: SpanNode, reached: Set<SpanNode>): void {
  const open = [root]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (reached.has(node)) continue
    reached.add(node)
    for (const child of node.children) open.push(child)
  }
}

const compare = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0)
