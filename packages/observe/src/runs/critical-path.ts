/**
 * A span at its place in a trace, with children of its own type. `start` and `end` may have any unit and origin, but the same for a whole
 * trace.
 */
export interface PathSpan<Span> {
  readonly spanId: string
  /** Whether the span is that of a pipeline run. */
  readonly isRun: boolean
  readonly start: number
  readonly end: number
  /**
   * The spans that can follow each other inside this one: for a run, its jobs that ran and the runs directly below it; for a
   * bridge, the runs that it started.
   */
  readonly children: readonly Span[]
}

interface Step<Span> {
  readonly span: Span
  readonly start: number
  readonly end: number
}

interface Part<Span> extends Step<Span> {
  /** The span that the exclusive time belongs to. */
  readonly owner: Span
}

/**
 * Returns the spans on the critical path of a run, each with its exclusive time. Exclusive times never overlap. The time of runs is 0: what
 * lies between the jobs of the root is queue and set-up, and belongs to no span.
 *
 * The path starts at the job that finished last, and continues each time with the job that finished last before the current one
 * started. Of jobs that finished at the same time, the longest is chosen. Inside a bridge, the path goes on in its child
 * pipeline, as far as the bridge waited for it: the bridge keeps the time that no job on the path of the child covers. A run
 * directly below another one is a step if it did not outlive that one. Other spans are walked in the same way.
 */
export function criticalPath<Span extends PathSpan<Span>>(root: Span): Map<Span, number> {
  const exclusive = new Map<Span, number>()
  const waiting: Part<Span>[] = [{ span: root, start: root.start, end: root.end, owner: root }]
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    const { span, owner } = part
    let own = part.end - part.start
    for (const step of stepsWithin(part)) {
      own -= step.end - step.start
      // The time between the jobs of a child pipeline is that of its bridge.
      waiting.push({ ...step, owner: step.span.isRun ? owner : step.span })
    }
    exclusive.set(owner, owner.isRun ? 0 : (exclusive.get(owner) ?? 0) + own)
    if (span.isRun) exclusive.set(span, 0)
  }
  return exclusive
}

/** Returns the steps on the path inside a part, the last one first, each cut to it. */
function stepsWithin<Span extends PathSpan<Span>>({ span, start, end }: Step<Span>): Step<Span>[] {
  const steps: Step<Span>[] = []
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

const lastFirst = <Span extends PathSpan<Span>>({ isRun, end, children }: Span): Span[] =>
  children
    .filter((child) => !isRun || !child.isRun || child.end <= end)
    .sort((a, b) => b.end - a.end || a.start - b.start || (a.spanId < b.spanId ? -1 : 1))
