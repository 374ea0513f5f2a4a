import type { Db } from '@penstock/db'
import { sql } from 'kysely'
import { JOBS } from './numbered-pipeline.ts'

/** Returns SQL for the key of a core's pipeline in the exporter's tables: the scope, an instance without blanks, the id. */
const keyOfPipeline = (pipeline: string) =>
  `('project:' || ${pipeline}.project_id || ' ci.example.com ' || ${pipeline}.pipeline_id)`

/**
 * Queries for partially applied changes, if every pipeline is exported in three signals and nothing has been pruned. Each must
 * find nothing, whenever a process was killed.
 */
const inconsistencyQueries: Readonly<Record<string, string>> = {
  'a finished pipeline that the exporter does not know': `select project_id, pipeline_id from pipelines
    where status = 'success' and not exists (
      select 1 from export_pipelines where key = ${keyOfPipeline('pipelines')} and exports = 1)`,
  'an export of a pipeline that the core does not have': `select key from export_pipelines
    where key like 'project:%' and key not in (select ${keyOfPipeline('pipelines')} from pipelines)`,
  'a pipeline exported before it has finished': `select project_id, pipeline_id from pipelines
    where status <> 'success' and exists (
      select 1 from export_records where key = ${keyOfPipeline('pipelines')})`,
  'a pipeline without its jobs': `select id from pipelines where ${JOBS} <>
    (select count(*) from pipeline_jobs where pipeline_key = pipelines.id)`,
  'a pipeline without the one event of its creation': `select pipeline_id from pipelines where 1 <>
    (select count(*) from events where type = 'pipeline.created' and object_id = pipelines.id)`,
  'an export in the history without a record': `select key from export_pipelines
    where exports = 1 and not exists (select 1 from export_records where export_records.key = export_pipelines.key)`,
  'a record without a history': `select key from export_records
    where not exists (select 1 from export_pipelines where export_pipelines.key = export_records.key and exports = 1)`,
  'a pipeline exported more than once': 'select key from export_pipelines where exports > 1',
  'a record without its three deliveries': `select key from export_records where 3 <>
    (select count(*) from deliveries where queue = 'exports' and deliveries.key in
      (export_records.key || ' traces', export_records.key || ' metrics', export_records.key || ' logs'))`,
  'more deliveries than records have': `select 1 from (select count(*) as n from deliveries where queue = 'exports') delivery,
    (select count(*) as n from export_records) record where delivery.n <> 3 * record.n`,
  'a settled delivery that is still claimed, or an open one with a settlement time': `select key from deliveries
    where (state <> 'open' and (claim is not null or settled_at_ms is null))
      or (state = 'open' and settled_at_ms is not null)`,
  'a dead delivery': `select key, reason from deliveries where state = 'dead'`,
}

/** Returns a description of each kind of inconsistency that the database contains. */
export async function findInconsistencies({ read }: Db<object>): Promise<string[]> {
  const faults: string[] = []
  for (const [what, query] of Object.entries(inconsistencyQueries)) {
    const { rows } = await sql.raw(query).execute(read)
    if (rows.length > 0) faults.push(`${what}: ${rows.length}, ${JSON.stringify(rows.slice(0, 3))}`)
  }
  return faults
}
