import type { TraceNode, TraceTree } from './trace-tree.ts'

/** The critical path: exclusive nanoseconds by id, in the order of time. A span that is not on the path has no entry. */
export type CriticalPath = ReadonlyMap<string, number>

/**
 * Returns the critical path of each root: from the end, each time the job that finished last before the current one
 * started. Inside a bridge it goes on in its child pipeline, so the bridge keeps only the time that no job of the child
 * covers. Spans of other services are walked in the same way, and each keeps the time that no child on the path covers.
 */
export function criticalPath(tree: TraceTree): CriticalPath {
  const exclusive = new Map<string, number>()
  const found: [TraceNode, number][] = []
  const waiting: Part[] = tree.roots
    .filter(({ span }) => !tree.isPipeline || span.kind === 'pipeline')
    .map((node) => ({ node, fromNs: node.span.startNs, toNs: node.span.endNs, owner: node }))
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    const { node, fromNs, toNs, owner } = part
    let ownNs = toNs - fromNs
    for (const step of stepsOf(node, fromNs, toNs)) {
      ownNs -= step.toNs - step.fromNs
      // The time between the jobs of a child pipeline is that of its bridge.
      waiting.push({ ...step, owner: step.node.span.kind === 'pipeline' ? owner : step.node })
    }
    found.push([owner, ownNs])
    if (owner !== node) found.push([node, 0])
  }
  for (const [{ span }, ownNs] of found.sort(([a], [b]) => a.span.startNs - b.span.startNs || a.level - b.level)) {
    // The time between the jobs of a pipeline is queue and set-up, and belongs to no row.
    if (span.kind !== 'pipeline') exclusive.set(span.id, (exclusive.get(span.id) ?? 0) + ownNs)
    else exclusive.set(span.id, 0)
  }
  return exclusive
}

interface Step {
  readonly node: TraceNode
  readonly fromNs: number
  readonly toNs: number
}

interface Part extends Step {
  /** The node that the exclusive time counts for. */
  readonly owner: TraceNode
}

/** Returns the children on the path between two times, the last one first, each cut to these times. */
function stepsOf(node: TraceNode, fromNs: number, toNs: number): Step[] {
  const units = unitsOf(node).sort(lastFirst)
  const steps: Step[] = []
  let cursorNs = toNs
  for (const unit of units) {
    const { startNs, endNs } = unit.span
    // The first step may end after its parent, because clocks differ; the others end before the next one starts.
    const isBefore = steps.length === 0 ? startNs < toNs : endNs <= cursorNs
    if (!isBefore || endNs <= fromNs) continue
    const step = { node: unit, fromNs: Math.max(fromNs, startNs), toNs: Math.min(cursorNs, endNs) }
    steps.push(step)
    cursorNs = step.fromNs
  }
  return steps
}

/** The order in which the path goes back. The longest of spans that ended at the same time comes first. */
const lastFirst = ({ span: a }: TraceNode, { span: b }: TraceNode): number =>
  b.endNs - a.endNs || a.startNs - b.startNs || (a.id < b.id ? -1 : 1)

/** Returns the steps that can follow each other inside a span: jobs that ran, also those below stage spans, and child pipelines. */
function unitsOf({ span, children }: TraceNode): TraceNode[] {
  // A job is one step, whatever its own programs report about themselves.
  if (span.kind === 'job') return []
  if (span.kind !== 'pipeline') return children.filter((child) => span.kind !== 'bridge' || isPipeline(child))
  return children
    .flatMap((child) => (child.span.kind === 'stage' ? child.children : [child]))
    .filter((child) => isPipeline(child) || ((isJob(child) || child.span.kind === 'span') && child.span.executed))
    .filter((child) => !isPipeline(child) || child.span.endNs <= span.endNs)
}

const isPipeline = ({ span }: TraceNode): boolean => span.kind === 'pipeline'
const isJob = ({ span }: TraceNode): boolean => span.kind === 'job' || span.kind === 'bridge'
