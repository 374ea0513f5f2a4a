/** Spans of pipelines as OTLP/JSON, for the tests of this package. */
import { readFileSync } from 'node:fs'

interface GoldenSpan {
  readonly traceId: string
  readonly spanId: string
  readonly name: string
}

interface GoldenGroup {
  readonly resource: object
  readonly scopeSpans: readonly { readonly scope: object; readonly spans: readonly GoldenSpan[] }[]
}

/** Returns a request with a single span for each span of a golden file. */
export function goldenRequests(name: string): Uint8Array[] {
  const text = readFileSync(new URL(`../../../fixtures/golden/${name}.traces.json`, import.meta.url), 'utf8')
  const groups = documentsIn(text).flatMap(({ resourceSpans }) => resourceSpans)
  return groups.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ scope, spans }) =>
      spans.map((span) =>
        Buffer.from(JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ scope, spans: [span] }] }] })),
      ),
    ),
  )
}

/** A golden file has one request after another, each beginning with `{` on a line of its own. */
function documentsIn(text: string): { readonly resourceSpans: readonly GoldenGroup[] }[] {
  return text.split(/^(?=\{$)/m).map((part) => JSON.parse(part))
}

export interface PipelineSample {
  readonly number: number
  readonly service?: string
  readonly start?: bigint
  readonly seconds?: number
  readonly attributes?: Readonly<Record<string, string>>
  readonly jobs?: readonly JobSample[]
}

export interface JobSample {
  readonly name: string
  readonly start: number
  readonly end: number
  readonly status?: string
  readonly bridge?: boolean
  readonly parentSpanId?: string
}

export const startNs = 1_767_225_600_000_000_000n
export const pipelineTraceId = (number: number): string => number.toString(16).padStart(32, 'e')
export const runSpanId = (number: number): string => number.toString(16).padStart(16, 'e')
export const jobSpanId = (number: number, index: number): string =>
  `${number.toString(16).padStart(12, 'd')}${index.toString(16).padStart(4, '0')}`

const attributesOf = (values: Readonly<Record<string, string>>) =>
  Object.entries(values).map(([key, stringValue]) => ({ key, value: { stringValue } }))

/** Returns a request with the spans of one pipeline. */
export function pipelineBody({
  number,
  service = 'ci',
  start = startNs + BigInt(number) * 1_000_000_000n,
  seconds = 60,
  attributes = {},
  jobs = [],
}: PipelineSample): Uint8Array {
  const traceId = pipelineTraceId(number)
  const at = (offset: number) => String(start + BigInt(Math.round(offset * 1e9)))
  const run = {
    traceId,
    spanId: runSpanId(number),
    name: 'RUN shop',
    startTimeUnixNano: at(0),
    endTimeUnixNano: at(seconds),
    attributes: attributesOf({
      'cicd.pipeline.name': 'shop',
      'cicd.pipeline.run.id': String(number),
      'cicd.pipeline.result': 'success',
      ...attributes,
    }),
  }
  const spans = jobs.map(({ name, start, end, status = 'success', bridge, parentSpanId }, index) => ({
    traceId,
    spanId: jobSpanId(number, index),
    parentSpanId: parentSpanId ?? runSpanId(number),
    name: `job: ${name}`,
    startTimeUnixNano: at(start),
    endTimeUnixNano: at(end),
    attributes: attributesOf({
      'cicd.pipeline.task.name': name,
      'cicd.pipeline.task.type': 'test',
      'job.status': status,
      ...(bridge && { 'job.type': 'bridge' }),
    }),
  }))
  const resource = {
    attributes: attributesOf({
      'service.name': service,
      'vcs.repository.name': 'Shop',
      'vcs.owner.name': 'moss',
      'vcs.repository.url.full': 'https://forge.example/moss/shop',
    }),
  }
  return Buffer.from(
    JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'ci' }, spans: [run, ...spans] }] }] }),
  )
}
