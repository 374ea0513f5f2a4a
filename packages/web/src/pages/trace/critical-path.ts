import { type PathSpan, criticalPath as pathOfRoot } from '@penstock/observe/critical-path'
import type { TraceNode, TraceTree } from './trace-tree.ts'

/** The critical path: exclusive nanoseconds by id, in the order of time. A span that is not on the path has no entry. */
export type CriticalPath = ReadonlyMap<string, number>

/** Returns the critical paths of all roots; in a trace of pipelines, of all runs at the root. */
export function criticalPath(tree: TraceTree): CriticalPath {
  const roots = tree.roots.filter(({ span }) => !tree.isPipeline || span.kind === 'pipeline')
  const found = roots.flatMap((root) => [...pathOfRoot(new NodeSpan(root))])
  found.sort(([{ node: a }], [{ node: b }]) => a.span.startNs - b.span.startNs || a.level - b.level)
  const exclusive = new Map<string, number>()
  for (const [{ node }, ownNs] of found) {
    exclusive.set(node.span.id, (exclusive.get(node.span.id) ?? 0) + ownNs)
  }
  return exclusive
}

/** A node as a span of the path. Its children are made only if the path reaches it. */
class NodeSpan implements PathSpan<NodeSpan> {
  readonly node: TraceNode

  constructor(node: TraceNode) {
    this.node = node
  }

  get spanId(): string {
    return this.node.span.id
  }

  get isRun(): boolean {
    return isPipeline(this.node)
  }

  get start(): number {
    return this.node.span.startNs
  }

  get end(): number {
    return this.node.span.endNs
  }

  get children(): NodeSpan[] {
    return stepNodes(this.node).map((node) => new NodeSpan(node))
  }
}

/** Returns the nodes that can follow each other inside a span: jobs that ran, also those below stage spans, and child pipelines. */
function stepNodes({ span, children }: TraceNode): TraceNode[] {
  // A job is one step, whatever its own programs report about themselves.
  if (span.kind === 'job') return []
  if (span.kind !== 'pipeline') return children.filter((child) => span.kind !== 'bridge' || isPipeline(child))
  return children
    .flatMap((child) => (child.span.kind === 'stage' ? child.children : [child]))
    .filter((child) => isPipeline(child) || ((isJob(child) || child.span.kind === 'span') && child.span.executed))
}

const isPipeline = ({ span }: TraceNode): boolean => span.kind === 'pipeline'
const isJob = ({ span }: TraceNode): boolean => span.kind === 'job' || span.kind === 'bridge'
