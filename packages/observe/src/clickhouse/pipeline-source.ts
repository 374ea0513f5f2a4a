import { projectKeys, runKeys } from '../runs/pipeline-attributes.ts'
import { TRACES } from './schema/exporter-schema.ts'
import { resourceFacets, spanFacets, statusAttributes } from './schema/facet-attributes.ts'
import { derivedFrom, isPipelineSpan, isRunSpan, runResource, spanAttributes } from './schema/span-conditions.ts'
import { inRange } from './schema/tables.ts'
import { FACETS, PIPELINE_SPANS, RUNS } from './views/view-tables.ts'

/** Where the spans of pipelines are read: from the exporter's table, or from the narrow tables of the views. */
export interface PipelineSource {
  readonly spans: SpanSource
  readonly runs: RunSource
  readonly facets: FacetSource
}

/** A table with at least the spans of pipelines. */
export interface SpanSource {
  readonly table: string
  /** The condition that a row is a span of a pipeline. */
  readonly condition: string
  /** The condition that it starts in the range `{from:Int64}` to `{to:Int64}`. */
  readonly inRange: string
  /** The JSON of its attributes. */
  readonly attributes: string
  readonly resource: string
}

/** A table with at least the spans of runs, and the expressions by which a search is narrowed; the derived run decides. */
export interface RunSource {
  readonly table: string
  /** The condition that a row is the span of a run. */
  readonly condition: string
  /** Whether the latest rows are found without reading all rows. */
  readonly isInOrderOfTime: boolean
  readonly refs: string
  readonly projectNames: string
  readonly projectUrls: string
  readonly forges: string
  readonly statusWords: string
  /** The condition that a text of the run contains `{part:String}`, or may contain it when it is decoded. */
  readonly mayContain: string
}

/** A table with at least the values of filters. */
export interface FacetSource {
  readonly table: string
  readonly condition: string
  readonly attributes: string
  readonly resource: string
}

const entries = (map: string, keys: readonly string[]) => keys.map((key) => `${map}['${key}']`)
const ofBoth = (keys: readonly string[]) =>
  `[${['SpanAttributes', 'ResourceAttributes'].flatMap((map) => entries(map, keys)).join(', ')}]`

const contains = (map: string) => `arrayExists(v -> positionCaseInsensitive(v, {part:String}) > 0, mapValues(${map}))`
const isEncoded = "position(v, '%') > 0"

export const exporterPipelines: PipelineSource = {
  spans: {
    table: TRACES,
    condition: isPipelineSpan,
    inRange,
    attributes: derivedFrom(spanAttributes, isRunSpan),
    resource: runResource,
  },
  runs: {
    table: TRACES,
    condition: isRunSpan,
    isInOrderOfTime: false,
    refs: `[${entries('SpanAttributes', runKeys.ref).join(', ')}]`,
    projectNames: ofBoth(projectKeys.name),
    projectUrls: ofBoth(projectKeys.url),
    forges: ofBoth(projectKeys.forge),
    statusWords: `[${entries('SpanAttributes', statusAttributes).join(', ')}]`,
    mayContain: `(positionCaseInsensitive(SpanName, {part:String}) > 0 OR ${contains('SpanAttributes')}
      OR ${contains('ResourceAttributes')} OR arrayExists(v -> ${isEncoded}, ${ofBoth(projectKeys.url)}))`,
  },
  facets: { table: TRACES, condition: isRunSpan, attributes: spanFacets, resource: resourceFacets },
}

const NS_PER_HOUR = 3_600_000_000_000

export const viewPipelines: PipelineSource = {
  spans: {
    table: PIPELINE_SPANS,
    condition: 'true',
    // The hour is the first column of the order of the table.
    inRange: `Hour >= intDiv({from:Int64}, ${NS_PER_HOUR}) AND Hour <= intDiv({to:Int64}, ${NS_PER_HOUR}) AND ${inRange}`,
    attributes: derivedFrom('SpanAttributes', 'IsRun = 1'),
    resource: 'ResourceAttributes',
  },
  runs: {
    table: RUNS,
    condition: 'true',
    isInOrderOfTime: true,
    refs: 'Refs',
    projectNames: 'ProjectNames',
    projectUrls: 'ProjectUrls',
    forges: 'Forges',
    statusWords: 'StatusWords',
    mayContain: `(positionCaseInsensitive(Texts, {part:String}) > 0 OR arrayExists(v -> ${isEncoded}, ProjectUrls))`,
  },
  facets: { table: FACETS, condition: 'true', attributes: 'SpanAttributes', resource: 'ResourceAttributes' },
}
