import { jobKeys, jobMarks, runMarks } from '../../runs/pipeline-attributes.ts'
import { literal, literals } from './sql-text.ts'

/** The beginning of keys that represents any vendor namespace. */
const VENDOR = 'svc.'

const jobOrStage = [...jobMarks, ...jobKeys.stage]
const hasAny = (keys: readonly string[]) => `hasAny(mapKeys(SpanAttributes), ${literals(keys)})`

/** The conditions of spans that are runs, and of those that are runs, jobs or stages. */
export const isRunSpan = `(${hasAny(runMarks)} AND NOT ${hasAny(jobOrStage)})`
export const isPipelineSpan = hasAny([...runMarks, ...jobOrStage])

/** The keys of attributes from which columns are read, also in a vendor namespace. */
const readKeys = String.raw`^(?:[a-z][a-z0-9_]*\.)?(?:cicd|vcs)\.|^(?:pipeline|job)\.|^error\.type$`

/** Returns the expression for the attributes of a map from which columns are read. */
export const readAttributes = (map: string): string => `mapFilter((k, v) -> match(k, ${literal(readKeys)}), ${map})`

/** The expressions for the attributes of a pipeline span, and for those of its resource, which only runs need. */
export const spanAttributes = readAttributes('SpanAttributes')
export const runResource = `if(${isRunSpan}, ${readAttributes('ResourceAttributes')},
    CAST(map(), 'Map(LowCardinality(String), String)'))`

/** The attributes of jobs from which runs are derived. */
const jobFacts = [
  ...jobKeys.name,
  ...jobKeys.stage,
  ...jobKeys.status,
  ...jobKeys.result,
  ...jobKeys.state,
  ...jobKeys.kind,
  ...jobKeys.executed,
  ...jobKeys.runnerId,
  ...jobKeys.runnerName,
  ...jobKeys.runnerTags,
]

/**
 * Returns the expression for the JSON of the attributes from which runs are derived. It has the key of a job's id, which marks a job, without
 * the id: jobs that differ only in their ids then have the same text.
 */
export const derivedFrom = (attributes: string, isRun: string): string =>
  `toJSONString(if(${isRun}, ${attributes}, CAST(mapApply((k, v) -> (k, if(has(${literals(jobKeys.jobId)}, k), '', v)),
    mapFilter((k, v) -> match(k, ${literal(keyPattern([...jobFacts, ...jobKeys.jobId]))}), SpanAttributes)),
    'Map(LowCardinality(String), String)')))`

/** Returns the expression for the values of a map that have some keys. A key that begins with `svc.` means any vendor namespace. */
export const attributeValues = (map: string, keys: readonly string[]): string =>
  `mapValues(mapFilter((k, v) -> match(k, ${literal(keyPattern(keys))}), ${map}))`

function keyPattern(keys: readonly string[]): string {
  const escaped = (text: string) => text.replaceAll('.', String.raw`\.`)
  const patterns = keys.map((key) =>
    key.startsWith(VENDOR) ? String.raw`[a-z][a-z0-9_]*\.${escaped(key.slice(VENDOR.length))}` : escaped(key),
  )
  return `^(?:${patterns.join('|')})$`
}
