import { PRODUCT_VERSION } from '@penstock/converter'
import {
  type ChunkLimits,
  defaultChunkLimits,
  type EncodedChunk,
  type InstrumentationScope,
  type RequestEncoder,
  type Signal,
} from '@penstock/otlp'
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

/** Returns the spans of all reports in one encoded request of any length. */
export function testSpanRequest(source: TestReportSource, encoder: RequestEncoder): Uint8Array {
  const limits = { maxItems: Number.POSITIVE_INFINITY, maxBytes: Number.POSITIVE_INFINITY }
  const [chunk] = testReportChunks(source, encoder, ['traces'], limits)
  return chunk?.body ?? encoder.encode('traces', { resources: [] })
}

/** Returns the spans and the metrics of all reports in encoded requests, one at a time. */
export function* testReportChunks(
  source: TestReportSource,
  encoder: RequestEncoder,
  signals: readonly Signal[],
  limits: ChunkLimits = defaultChunkLimits,
): Generator<EncodedChunk> {
  const { resource } = source.parent
  const header = { resource, scope, resourceSchemaUrl: SCHEMA_URL, scopeSchemaUrl: SCHEMA_URL }
  if (signals.includes('traces')) {
    const writer = encoder.chunks('traces', header, limits)
    for (const span of spansOf(source)) yield* present(writer.add(span))
    yield* present(writer.end())
  }
  if (signals.includes('metrics')) {
    const writer = encoder.chunks('metrics', header, limits)
    for (const metric of testMetrics(source.reports, source.vendorNamespace)) yield* present(writer.add(metric))
    yield* present(writer.end())
  }
}

const present = (chunk: EncodedChunk | undefined): EncodedChunk[] => (chunk === undefined ? [] : [chunk])
