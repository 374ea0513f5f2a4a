import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { derivePipelineTrace, type JobNode, type PipelineTrace, type RunNode } from '../pipeline-trace.ts'
import { criticalPath, type PathSpan } from './critical-path.ts'

interface SpanCase {
  readonly id: string
  readonly parent: string
  readonly kind: 'pipeline' | 'stage' | 'job' | 'bridge'
  readonly from: number
  readonly to: number
  readonly executed?: boolean
}

interface PathCase {
  readonly case: string
  readonly spans: readonly SpanCase[]
  /** Seconds by id; jobs and bridges without exclusive time are left out. */
  readonly exclusive: Readonly<Record<string, number>>
}

const cases: readonly PathCase[] = JSON.parse(
  readFileSync(new URL('../../../../fixtures/critical-path.json', import.meta.url), 'utf8'),
)

const START_NS = 1_767_225_600_000_000_001n
const timesOf = ({ id, parent, from, to }: SpanCase) => ({
  spanId: id,
  parentSpanId: parent,
  startNs: START_NS + BigInt(from) * 1_000_000_000n,
  endNs: START_NS + BigInt(to) * 1_000_000_000n,
})

const facts: RunNode['facts'] = {
  traceId: '',
  service: 'ci',
  project: null,
  projectName: null,
  ref: null,
  sha: null,
  status: 'success',
  queue: null,
}

function traceOf(spans: readonly SpanCase[]): PipelineTrace {
  return {
    runs: spans
      .filter(({ kind }) => kind === 'pipeline')
      .map((span, id): RunNode => ({ id, trigger: null, facts, ...timesOf(span) })),
    stages: spans.filter(({ kind }) => kind === 'stage').map(timesOf),
    jobs: spans
      .filter(({ kind }) => kind === 'job' || kind === 'bridge')
      .map(
        (span): JobNode => ({
          ...timesOf(span),
          name: span.id,
          stage: 'test',
          status: 'success',
          isBridge: span.kind === 'bridge',
          hasRun: span.executed !== false,
          runner: null,
          tags: [],
        }),
      ),
  }
}

function secondsOf(spans: readonly SpanCase[]): Record<string, number> {
  const derived = [...derivePipelineTrace(traceOf(spans)).jobs]
  return Object.fromEntries(
    derived.map(([id, { critical_seconds }]) => [id, critical_seconds]).filter(([, seconds]) => seconds !== 0),
  )
}

describe('the critical path', () => {
  test.each(cases)('$case', ({ spans, exclusive }) => {
    expect(secondsOf(spans)).toEqual(exclusive)
    expect(secondsOf(spans.toReversed())).toEqual(exclusive)
  })
})

const job = (spanId: string, start: number, end: number): PathSpan => ({
  spanId,
  kind: 'job',
  start,
  end,
  children: [],
})
const end = (jobs: readonly PathSpan[]): number => Math.max(0, ...jobs.map((each) => each.end))
const run = (children: readonly PathSpan[]): PathSpan => ({
  spanId: 'run',
  kind: 'run',
  start: 0,
  end: end(children),
  children,
})

/** Follows the definition word for word: for each job, looks through all of them. */
function naivePath(jobs: readonly PathSpan[]): string[] {
  const path: string[] = []
  let before = Infinity
  for (;;) {
    const candidates = jobs.filter(({ start, end }) => end > start && end <= before)
    const lastEnd = Math.max(...candidates.map(({ end }) => end))
    const longest = Math.min(...candidates.filter(({ end }) => end === lastEnd).map(({ start }) => start))
    const ids = candidates.filter(({ start, end }) => end === lastEnd && start === longest).map(({ spanId }) => spanId)
    const found = candidates.find(({ spanId }) => spanId === ids.sort()[0])
    if (found === undefined) return path.sort()
    path.push(found.spanId)
    before = found.start
  }
}

const someJobs = fc
  .array(fc.tuple(fc.nat(60), fc.nat(20)), { maxLength: 30 })
  .map((times) => times.map(([start, length], index) => job(String(index), start, start + length)))

const idsOf = (path: Map<PathSpan, number>) =>
  [...path].flatMap(([{ spanId }, exclusive]) => (exclusive > 0 ? [spanId] : [])).sort()

test('equals the path by definition', () => {
  fc.assert(
    fc.property(someJobs, (jobs) => {
      expect(idsOf(criticalPath(run(jobs)))).toEqual(naivePath(jobs))
    }),
  )
})

test('never takes longer than the pipeline, and does not depend on the order of jobs', () => {
  fc.assert(
    fc.property(someJobs, (jobs) => {
      const path = criticalPath(run(jobs))
      const exclusive = [...path.values()].reduce((sum, one) => sum + one, 0)
      expect(exclusive).toBeLessThanOrEqual(end(jobs))
      expect(idsOf(criticalPath(run(jobs.toReversed())))).toEqual(idsOf(path))
    }),
  )
})
