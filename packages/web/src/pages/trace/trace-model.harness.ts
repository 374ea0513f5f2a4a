import { readFileSync } from 'node:fs'
import type { WireAttribute, WireResourceSpans, WireSpan } from '../../api/otlp-json.ts'
import { readSpans } from './trace-span.ts'
import { buildTree, type TraceTree } from './trace-tree.ts'

const golden = new URL('../../../../../fixtures/golden/', import.meta.url)

/** Returns the tree of what the converter wrote for some fixtures. */
export function readFixtureTree(...names: readonly string[]): TraceTree {
  const files = names.map((name) => JSON.parse(readFileSync(new URL(`${name}.traces.json`, golden), 'utf8')))
  return createTree(files.flatMap(({ resourceSpans }): WireResourceSpans[] => resourceSpans))
}

export const createTree = (resourceSpans: readonly WireResourceSpans[]): TraceTree =>
  buildTree(readSpans(resourceSpans))

export const createSpanTree = (spans: readonly WireSpan[]): TraceTree => createTree([{ scopeSpans: [{ spans }] }])

/** Returns a span that lasts from one second to another, counted from a time in 2025. */
export function wireSpan(id: string, parentSpanId: string, fromS: number, toS: number, attributes = {}): WireSpan {
  const at = (seconds: number) => String(1_750_000_000_000_000_000n + BigInt(Math.round(seconds * 1e9)))
  return {
    spanId: id,
    parentSpanId,
    name: id,
    startTimeUnixNano: at(fromS),
    endTimeUnixNano: at(toS),
    attributes: Object.entries(attributes).map(([key, value]): WireAttribute => ({ key, value: toValue(value) })),
  }
}

function toValue(value: unknown): NonNullable<WireAttribute['value']> {
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'number') return { doubleValue: value }
  return Array.isArray(value) ? { arrayValue: { values: value.map(toValue) } } : { stringValue: String(value) }
}

export const pipelineSpan = (id: string, parent: string, fromS: number, toS: number, more = {}): WireSpan =>
  wireSpan(id, parent, fromS, toS, { 'cicd.pipeline.run.id': id, ...more })

export const jobSpan = (id: string, parent: string, fromS: number, toS: number, more = {}): WireSpan =>
  wireSpan(id, parent, fromS, toS, { 'cicd.pipeline.task.run.id': id, 'cicd.pipeline.task.type': 'test', ...more })

/** Returns a pipeline of 100 stages with jobs of 40 attributes each, as large pipelines have them. */
export function largePipeline(jobs: number): WireSpan[] {
  const stages = Array.from({ length: 100 }, (_, index) => `stage ${index}`)
  const perStage = jobs / stages.length
  const filler = Object.fromEntries(Array.from({ length: 32 }, (_, index) => [`svc.attribute.${index}`, index]))
  const spans = [pipelineSpan('run', '', 0, stages.length * 10, { 'svc.cicd.pipeline.stages': stages })]
  for (let index = 0; index < jobs; index += 1) {
    const stage = Math.floor(index / perStage)
    spans.push(
      jobSpan(`job ${index}`, 'run', stage * 10 + 1, stage * 10 + 2 + ((index * 7) % 80) / 10, {
        ...filler,
        'cicd.pipeline.task.type': stages[stage],
        'job.status': index % 97 === 0 ? 'failed' : 'success',
        'svc.cicd.pipeline.task.run.queued_duration': 0.5,
      }),
    )
  }
  return spans
}
