/** A run, bridge or job at its place in a trace. `start` and `end` may have any unit and origin, but the same for a whole trace. */
export interface PathSpan {
  readonly spanId: string
  readonly kind: 'run' | 'bridge' | 'job'
  readonly start: number
  readonly end: number
  /**
   * The spans that can follow each other inside this one: for a run, its jobs that ran and the runs directly below it; for a
   * bridge, the runs that it started.
   */
  readonly children: readonly PathSpan[]
}

interface Step {
  readonly span: PathSpan
  readonly start: number
  readonly end: number
}

interface Part extends Step {
  /** The span that the exclusive time counts for. */
  readonly owner: PathSpan
}

/**
 * Returns the jobs and bridges on the critical path of a run, each with its exclusive time. Exclusive times never overlap.
 *
 * The path starts at the job that finished last, and continues each time with the job that finished last before the current one
 * started. Of jobs that finished at the same time, the longest is chosen. Inside a bridge, the path goes on in its child
 * pipeline, as far as the bridge waited for it: the bridge keeps the time that no job on the path of the child covers. A run
 * directly below another one is a step if it did not outlive that one.
 */
export function criticalPath(root: PathSpan): Map<PathSpan, number> {
  const exclusive = new Map<PathSpan, number>()
  const waiting: Part[] = [{ span: root, start: root.start, end: root.end, owner: root }]
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    const { owner } = part
    let own = part.end - part.start
    for (const step of stepsWithin(part)) {
      own -= step.end - step.start
      // The time between the jobs of a child pipeline is that of its bridge.
      waiting.push({ ...step, owner: step.span.kind === 'run' ? owner : step.span })
    }
    // The time between the jobs of the root is queue and set-up, and belongs to no job.
    if (owner.kind !== 'run') exclusive.set(owner, (exclusive.get(owner) ?? 0) + own)
  }
  return exclusive
}

/** Returns the steps on the path inside a part, the last one first, each cut to it. */
function stepsWithin({ span, start, end }: Step): Step[] {
  const steps: Step[] = []
  let cursor = end
  for (const child of lastFirst(span)) {
    // The first step may end after its parent, because clocks differ; the others end before the next one starts.
    const isBefore = steps.length === 0 ? child.start < end : child.end <= cursor
    if (!isBefore || child.end <= start) continue
    const step = { span: child, start: Math.max(start, child.start), end: Math.min(cursor, child.end) }
    steps.push(step)
    cursor = step.start
  }
  return steps
}

const lastFirst = ({ kind, end, children }: PathSpan): PathSpan[] =>
  children
    .filter((child) => kind !== 'run' || child.kind !== 'run' || child.end <= end)
    .sort((a, b) => b.end - a.end || a.start - b.start || (a.spanId < b.spanId ? -1 : 1))
