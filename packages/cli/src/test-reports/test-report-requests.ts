import { PRODUCT_VERSION } from '@penstock/converter'
import type { EncodedChunk, InstrumentationScope, OtlpRequest, RequestEncoder, Signal } from '@penstock/otlp'
import { SCHEMA_URL, testMetrics, testSpans } from '@penstock/test-reports'
import type { SpanParent } from '../in-job/span-parent.ts'
import type { NamedReport } from './read-reports.ts'

export interface TestReportSource {
  readonly reports: readonly NamedReport[]
  readonly parent: SpanParent
  readonly vendorNamespace: string
}

const scope: InstrumentationScope = {
  name: 'penstock.test-reports',
  version: PRODUCT_VERSION,
  attributes: [],
  droppedAttributesCount: 0,
}

function* spansOf({ reports, parent, vendorNamespace }: TestReportSource) {
  for (const { report, reportName, writtenNs } of reports) {
    yield* testSpans(report, { ...parent.place, reportName, writtenNs, vendorNamespace })
  }
}

/** Returns the spans of all reports as one request. */
export function testSpanRequest(source: TestReportSource): OtlpRequest<'traces'> {
  const items = [...spansOf(source)]
  const { resource } = source.parent
  return { resources: [{ resource, scopes: [{ scope, items, schemaUrl: SCHEMA_URL }], schemaUrl: SCHEMA_URL }] }
}

/** Returns the spans and the metrics of all reports in encoded requests, one at a time. */
export function* testReportChunks(
  source: TestReportSource,
  encoder: RequestEncoder,
  signals: readonly Signal[],
): Generator<EncodedChunk> {
  const { resource } = source.parent
  const header = { resource, scope, resourceSchemaUrl: SCHEMA_URL, scopeSchemaUrl: SCHEMA_URL }
  if (signals.includes('traces')) {
    const writer = encoder.chunks('traces', header)
    for (const span of spansOf(source)) yield* present(writer.add(span))
    yield* present(writer.end())
  }
  if (signals.includes('metrics')) {
    const writer = encoder.chunks('metrics', header)
    for (const metric of testMetrics(source.reports, source.vendorNamespace)) yield* present(writer.add(metric))
    yield* present(writer.end())
  }
}

const present = (chunk: EncodedChunk | undefined): EncodedChunk[] => (chunk === undefined ? [] : [chunk])
