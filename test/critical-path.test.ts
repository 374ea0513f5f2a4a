import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  derivePipelineTrace,
  type JobNode,
  type PipelineTrace,
  type RunNode,
} from '../packages/observe/src/runs/pipeline-trace.ts'
import type { WireSpan } from '../packages/web/src/api/otlp-json.ts'
import { criticalPath } from '../packages/web/src/pages/trace/critical-path.ts'
import { createSpanTree, jobSpan, pipelineSpan, wireSpan } from '../packages/web/src/pages/trace/trace-model.harness.ts'

// The trace page computes the critical path of the spans that it has, and the embedded store that of the rows that it derives. Both have to find
// what fixtures/critical-path.json says.

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
  /** Seconds by id; spans without exclusive time are left out. */
  readonly exclusive: Readonly<Record<string, number>>
}

const cases: readonly PathCase[] = JSON.parse(
  readFileSync(new URL('../fixtures/critical-path.json', import.meta.url), 'utf8'),
)

const withTime = (seconds: Iterable<readonly [id: string, seconds: number]>): Record<string, number> =>
  Object.fromEntries([...seconds].filter(([, own]) => own !== 0))

function wireSpanOf({ id, parent, kind, from, to, executed = true }: SpanCase): WireSpan {
  if (kind === 'pipeline') return pipelineSpan(id, parent, from, to)
  if (kind === 'stage') return wireSpan(id, parent, from, to, { 'cicd.pipeline.task.type': 'test' })
  return jobSpan(id, parent, from, to, {
    'svc.cicd.pipeline.task.run.executed': executed,
    ...(kind === 'bridge' && { 'svc.cicd.pipeline.task.kind': 'bridge' }),
  })
}

function secondsOfPage(spans: readonly SpanCase[]): Record<string, number> {
  return withTime([...criticalPath(createSpanTree(spans.map(wireSpanOf)))].map(([id, ns]) => [id, ns / 1e9]))
}

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
  refKind: null,
  name: null,
  trigger: null,
  sha: null,
  status: 'success',
  queue: null,
}

const jobOf = (span: SpanCase): JobNode => ({
  ...timesOf(span),
  name: span.id,
  stage: 'test',
  status: 'success',
  isBridge: span.kind === 'bridge',
  hasRun: span.executed !== false,
  runner: null,
  tags: [],
})

function secondsOfStore(spans: readonly SpanCase[]): Record<string, number> {
  const ofKind = (...kinds: readonly SpanCase['kind'][]) => spans.filter(({ kind }) => kinds.includes(kind))
  const trace: PipelineTrace = {
    runs: ofKind('pipeline').map((span, id) => ({ id, trigger: null, facts, ...timesOf(span) })),
    stages: ofKind('stage').map(timesOf),
    jobs: ofKind('job', 'bridge').map(jobOf),
  }
  return withTime([...derivePipelineTrace(trace).jobs].map(([id, job]) => [id, job.critical_seconds]))
}

test.each(cases)('the critical path $case', ({ spans, exclusive }) => {
  expect(secondsOfPage(spans)).toEqual(exclusive)
  expect(secondsOfStore(spans)).toEqual(exclusive)
  expect(secondsOfStore(spans.toReversed())).toEqual(exclusive)
})
