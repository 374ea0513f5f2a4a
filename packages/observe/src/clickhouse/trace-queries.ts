import type { Page, Position } from '../paging/cursor.ts'
import { jsonLength } from '../paging/json-bytes.ts'
import { AnswerTooLarge, type ResponseBudget } from '../paging/response-budget.ts'
import type { RunSummary } from '../queries/pipeline-queries.ts'
import type { TraceQuery, TraceRun, TraceSummary } from '../queries/trace-queries.ts'
import type { TraceSpansPage, TraceSpansQuery } from '../queries/trace-spans.ts'
import { backwards } from './backwards.ts'
import { type DerivedPipeline, readPipelines, rootFirst } from './pipeline-spans.ts'
import type { Parameters } from './schema/clickhouse-client.ts'
import { TRACES } from './schema/exporter-schema.ts'
import { attributesPart, spanKinds, statusCodes, type TextMap, withoutDefaults } from './schema/otlp-json.ts'
import { inRange, nanoseconds, readExtent, readTraceTimes, serviceName, storedServiceNames } from './schema/tables.ts'
import type { Source } from './source.ts'
import { LIST_KEYS } from './views/view-tables.ts'

interface TracePlace {
  readonly ns: string
  readonly trace_id: string
}

interface TraceRow {
  readonly trace_id: string
  readonly start_ns: string
  readonly end_ns: string
  readonly service_ns: string
  readonly spans: string
  readonly errors: string
  readonly services: readonly string[]
  readonly roots: string
  readonly root: readonly [name: string, service: string, status: string]
}

const NO_ID = '0'.repeat(32)
const MIN_BATCH = 50
const MAX_BATCH = 250

export async function listTraces(
  source: Source,
  query: TraceQuery,
  budget: ResponseBudget,
): Promise<Page<TraceSummary>> {
  const nothing = { items: [], next: undefined }
  const { db, schema } = source
  if (!schema.has(TRACES)) return nothing
  const { limit, after, service, minDurationNs, hasErrors = false } = query
  const extent = await readExtent(db, TRACES, query)
  if (extent === undefined) return nothing
  const ids = await findByAttributes(source, query, extent)
  if (ids?.length === 0) return nothing
  const { conditions, parameters } = spanConditions(query, ids)
  const batchRows = Math.max(MIN_BATCH, Math.min(limit + 1, MAX_BATCH))
  const places = backwards<TracePlace>(
    { ...extent, after, lowestKey: NO_ID, batchRows, isWhole: ids !== undefined },
    ({ from, to, after }) =>
      db.rows(
        `SELECT TraceId AS trace_id, min(${nanoseconds('Timestamp')}) AS ns FROM ${TRACES}
         WHERE ${[inRange, "TraceId != ''", ...conditions].join(' AND ')}
         GROUP BY TraceId HAVING (ns, trace_id) < ({afterNs:Int64}, {afterId:String})
         ORDER BY ns DESC, trace_id DESC LIMIT {limit:UInt32}`,
        { ...parameters, from: String(from), to: String(to), afterNs: after[0]!, afterId: after[1]!, limit: batchRows },
      ),
    ({ ns, trace_id }) => [ns, trace_id],
  )
  const isLate = source.deadline()
  const items: TraceSummary[] = []
  let last: Position | undefined
  for await (const { rows, next } of places) {
    const traces = await readTraces(source, rows, service)
    const runs = await readRuns(source, rows)
    for (const { ns, trace_id } of rows) {
      const trace = traces.get(trace_id)
      // A trace that began before this window is listed where it began.
      if (trace === undefined || (service === undefined ? trace.start_ns : trace.service_ns) !== ns) continue
      const durationNs = BigInt(trace.end_ns) - BigInt(trace.start_ns)
      if ((minDurationNs !== undefined && durationNs < minDurationNs) || (hasErrors && trace.errors === '0')) continue
      const summary = { ...toSummary(trace), run: toTraceRun(runs.get(trace_id)) }
      if (items.length === limit || !budget.take(summary, [ns, trace_id])) return { items, next: last }
      items.push(summary)
      last = [ns, trace_id]
    }
    if (next !== undefined && isLate()) return { items, next }
  }
  return { items, next: undefined }
}

/** The traces beyond which a search by attributes reads them in windows of time, as other lists. */
const MAX_FOUND = 500

/**
 * Returns the ids of the traces with a span that has all attributes; `undefined` if there are many of them, or if one of the attributes
 * may be a list, which no index of the exporter has the texts of.
 */
async function findByAttributes(
  { db, views }: Source,
  { attributes = [], service }: TraceQuery,
  { oldestNs }: { readonly oldestNs: bigint },
): Promise<readonly string[] | undefined> {
  const [first, ...others] = attributes
  if (first === undefined || !views.hasListKeys) return undefined
  const keys = attributes.map(({ key }) => key)
  const lists = await db.row<{ lists: string }>(
    `SELECT count() AS lists FROM ${LIST_KEYS} WHERE Key IN {keys:Array(String)}`,
    { keys },
  )
  if (lists.lists !== '0') return undefined
  const all = attributeParameters(attributes)
  const isEqual = (map: string, index: number) => `${map}[{key${index}:String}] = {value${index}:String}`
  const ofOthers = others.map((_, at) => `AND (${maps.map((map) => isEqual(map, at + 1)).join(' OR ')})`).join(' ')
  // One statement for each map, because an index is of no use to a condition on either of them.
  const parts = maps.map(
    (map) => `SELECT TraceId FROM ${TRACES} WHERE ${sinceFirstSpan(service)} AND TraceId != ''
      AND has(mapValues(${map}), {value0:String}) AND mapContains(${map}, {key0:String}) AND ${isEqual(map, 0)} ${ofOthers}`,
  )
  const rows = await db.rows<{ id: string }>(
    `SELECT DISTINCT TraceId AS id FROM (${parts.join(' UNION ALL ')}) LIMIT {limit:UInt32}`,
    { ...all, from: String(oldestNs), limit: MAX_FOUND + 1 },
  )
  return rows.length > MAX_FOUND ? undefined : rows.map(({ id }) => id)
}

const maps = ['SpanAttributes', 'ResourceAttributes'] as const

/** Returns the condition of all spans of a trace that is listed: they start after its first one, but perhaps before that of a service. */
const sinceFirstSpan = (service: string | undefined): string =>
  service === undefined ? 'Timestamp >= fromUnixTimestamp64Nano({from:Int64})' : 'true'

const attributeParameters = (attributes: NonNullable<TraceQuery['attributes']>): Parameters =>
  Object.fromEntries(
    attributes.flatMap(({ key, value }, index) => [
      [`key${index}`, key],
      [`value${index}`, value],
    ]),
  )

/**
 * Returns the conditions of the spans from which traces are looked for.
 *
 * @param ids the traces with the attributes, if they are known
 */
function spanConditions(
  { service, attributes = [], hasErrors = false }: TraceQuery,
  ids: readonly string[] | undefined,
): { conditions: string[]; parameters: Parameters } {
  const conditions: string[] = []
  const since = sinceFirstSpan(service)
  if (service !== undefined) conditions.push('ServiceName IN {services:Array(String)}')
  if (hasErrors) conditions.push(`TraceId IN (SELECT TraceId FROM ${TRACES} WHERE ${since} AND StatusCode = 'Error')`)
  if (ids !== undefined) conditions.push('TraceId IN {ids:Array(String)}')
  else if (attributes.length > 0) {
    const all = attributes.map((_, index) => hasAttribute(index)).join(' AND ')
    conditions.push(`TraceId IN (SELECT TraceId FROM ${TRACES} WHERE ${since} AND ${all})`)
  }
  return {
    conditions,
    parameters: {
      ...(service !== undefined && { services: storedServiceNames(service) }),
      ...(ids === undefined ? attributeParameters(attributes) : { ids }),
    },
  }
}

/** Returns the condition that a span or its resource has the attribute with a number among the parameters. */
function hasAttribute(index: number): string {
  const [key, value] = [`{key${index}:String}`, `{value${index}:String}`]
  const inMap = (map: string) =>
    `(mapContains(${map}, ${key}) AND (${map}[${key}] = ${value}
      OR (startsWith(${map}[${key}], '[') AND has(JSONExtract(${map}[${key}], 'Array(String)'), ${value}))))`
  return `(${maps.map(inMap).join(' OR ')})`
}

async function readTraces(
  { db, schema }: Source,
  places: readonly TracePlace[],
  service: string | undefined,
): Promise<ReadonlyMap<string, TraceRow>> {
  const ids = places.map(({ trace_id }) => trace_id)
  const times = ids.length === 0 ? undefined : await readTraceTimes(db, schema, ids)
  if (times === undefined) return new Map()
  const start = nanoseconds('Timestamp')
  const rows = await db.rows<TraceRow>(
    `SELECT TraceId AS trace_id, min(${start}) AS start_ns, max(${start} + toInt64(Duration)) AS end_ns,
       minIf(${start}, ServiceName IN {services:Array(String)}) AS service_ns, count() AS spans,
       countIf(StatusCode = 'Error') AS errors, arraySort(groupUniqArray(${serviceName})) AS services,
       countIf(ParentSpanId = '') AS roots,
       argMinIf((toString(SpanName), ${serviceName}, toString(StatusCode)), ${start}, ParentSpanId = '') AS root
     FROM ${TRACES} WHERE ${inRange} AND TraceId IN {ids:Array(String)} GROUP BY TraceId`,
    { ...times, ids, services: service === undefined ? [] : storedServiceNames(service) },
  )
  return new Map(rows.map((row) => [row.trace_id, row]))
}

/** Returns the pipeline runs at the roots of traces, by the ids of the traces. */
async function readRuns(source: Source, places: readonly TracePlace[]): Promise<ReadonlyMap<string, RunSummary>> {
  const { db, schema, pipelines } = source
  const ids = places.map(({ trace_id }) => trace_id)
  const times = ids.length === 0 ? undefined : await readTraceTimes(db, schema, ids)
  const found: ReadonlyMap<string, DerivedPipeline> =
    times === undefined ? new Map() : await readPipelines(source, pipelines.spans, { ids, ...times })
  const byTrace = new Map<string, RunSummary>()
  for (const { summary } of [...found.values()].sort(rootFirst).reverse()) byTrace.set(summary.trace_id, summary)
  return byTrace
}

const toTraceRun = (run: RunSummary | undefined): TraceRun | null => {
  if (run === undefined || run.is_child) return null
  const { project, name, pipeline_id, ref, status, jobs_failed } = run
  return { project, name, pipeline_id, ref, status, jobs_failed }
}

const toSummary = ({ roots, root, ...row }: TraceRow): Omit<TraceSummary, 'run'> => ({
  trace_id: row.trace_id,
  start_time_unix_nano: row.start_ns,
  end_time_unix_nano: row.end_ns,
  spans: Number(row.spans),
  errors: Number(row.errors),
  services: row.services,
  root: roots === '0' ? null : { name: root[0], service: root[1], status_code: statusCodes[root[2]] ?? 0 },
})

interface SpanRow {
  readonly start_ns: string
  readonly end_ns: string
  readonly key: string
  readonly span_id: string
  readonly parent_span_id: string
  readonly trace_state: string
  readonly span_name: string
  readonly kind: string
  readonly resource: TextMap
  readonly scope: string
  readonly scope_version: string
  readonly attributes: TextMap
  readonly status: string
  readonly status_message: string
  readonly event_times: readonly string[]
  readonly event_names: readonly string[]
  readonly event_attributes: readonly TextMap[]
  readonly link_traces: readonly string[]
  readonly link_spans: readonly string[]
  readonly link_states: readonly string[]
  readonly link_attributes: readonly TextMap[]
}

/** A number that two spans of a trace share only if they are copies of each other. */
const copyKey = `bitShiftRight(cityHash64(SpanId, Duration, StatusCode, ${['SpanAttributes', 'ResourceAttributes'].map((map) => `mapKeys(${map}), mapValues(${map})`).join(', ')}), 1)`

/** Returns the spans of a trace in order of start, and of copies of a span one. */
export async function findTrace(
  source: Source,
  { traceId, maxSpans, after }: TraceSpansQuery,
  budget: ResponseBudget,
): Promise<TraceSpansPage | undefined> {
  const { db, schema } = source
  if (!schema.has(TRACES)) return undefined
  const times = await readTraceTimes(db, schema, [traceId])
  if (times === undefined) return undefined
  const hasScope = schema.hasColumn(TRACES, 'ScopeName')
  const [afterNs, afterKey] = after ?? ['-1', '0']
  const rows = await db.rows<SpanRow>(
    `SELECT ${nanoseconds('Timestamp')} AS start_ns, start_ns + toInt64(Duration) AS end_ns, ${copyKey} AS key,
       SpanId AS span_id, ParentSpanId AS parent_span_id, TraceState AS trace_state, SpanName AS span_name,
       SpanKind AS kind, ResourceAttributes AS resource, ${hasScope ? 'ScopeName' : "''"} AS scope,
       ${hasScope ? 'ScopeVersion' : "''"} AS scope_version, SpanAttributes AS attributes, StatusCode AS status,
       StatusMessage AS status_message,
       arrayMap(t -> toUnixTimestamp64Nano(t), Events.Timestamp) AS event_times, Events.Name AS event_names,
       Events.Attributes AS event_attributes, Links.TraceId AS link_traces, Links.SpanId AS link_spans,
       Links.TraceState AS link_states, Links.Attributes AS link_attributes
     FROM ${TRACES}
     WHERE ${inRange} AND TraceId = {traceId:String} AND (start_ns, key) > ({afterNs:Int64}, {afterKey:UInt64})
     ORDER BY start_ns, key LIMIT 1 BY start_ns, key LIMIT {limit:UInt32}`,
    { ...times, traceId, afterNs: afterNs!, afterKey: afterKey!, limit: maxSpans + 1 },
  )
  if (rows.length === 0) return undefined
  const groups = new Map<string, { group: Record<string, unknown>; scopes: Map<string, { spans: object[] }> }>()
  let last: SpanRow | undefined
  for (const row of rows.slice(0, maxSpans)) {
    const span = toSpan(traceId, row)
    const resourceKey = JSON.stringify(row.resource)
    const scopeKey = JSON.stringify([row.scope, row.scope_version])
    const known = groups.get(resourceKey)
    const resource = known ?? newGroup(row.resource)
    const groupBytes = known?.scopes.has(scopeKey)
      ? 0
      : Buffer.byteLength(scopeKey) + GROUP_BYTES + (known === undefined ? jsonLength(resource.group) + GROUP_BYTES : 0)
    if (!budget.takeBytes(jsonLength(span) + 1 + groupBytes)) {
      if (last !== undefined) break
      throw new AnswerTooLarge('spans', rows.length > 1 ? [row.start_ns, row.key] : undefined)
    }
    groups.set(resourceKey, resource)
    const scope = resource.scopes.get(scopeKey) ?? {
      scope: withoutDefaults({ name: row.scope, version: row.scope_version }),
      spans: [] as object[],
    }
    resource.scopes.set(scopeKey, scope)
    scope.spans.push(span)
    last = row
  }
  const truncated = rows.length > maxSpans || budget.isTruncated
  const resourceSpans = [...groups.values()].map(({ group, scopes }) => ({
    ...group,
    scopeSpans: [...scopes.values()],
  }))
  return {
    json: new TextEncoder().encode(JSON.stringify({ trace_id: traceId, resourceSpans, truncated })),
    next: truncated && last !== undefined ? [last.start_ns, last.key] : undefined,
  }
}

/** The bytes around the spans of a resource or of a scope. */
const GROUP_BYTES = 64

const newGroup = (resource: TextMap) => ({
  group: { resource: attributesPart(resource) },
  scopes: new Map<string, { spans: object[] }>(),
})

function toSpan(traceId: string, row: SpanRow): object {
  const events = row.event_names.map((name, index) => ({
    ...withoutDefaults({ timeUnixNano: row.event_times[index], name }),
    ...attributesPart(row.event_attributes[index]!),
  }))
  const links = row.link_spans.map((spanId, index) => ({
    ...withoutDefaults({ traceId: row.link_traces[index], spanId, traceState: row.link_states[index] }),
    ...attributesPart(row.link_attributes[index]!),
  }))
  const status = withoutDefaults({ message: row.status_message, code: statusCodes[row.status] ?? 0 })
  return {
    ...withoutDefaults({
      traceId,
      spanId: row.span_id,
      traceState: row.trace_state,
      parentSpanId: row.parent_span_id,
      name: row.span_name,
      kind: spanKinds[row.kind] ?? 0,
      startTimeUnixNano: row.start_ns,
      endTimeUnixNano: row.end_ns,
    }),
    ...attributesPart(row.attributes),
    ...(events.length > 0 && { events }),
    ...(links.length > 0 && { links }),
    ...(Object.keys(status).length > 0 && { status }),
  }
}
