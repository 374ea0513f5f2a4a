import type { Kysely } from 'kysely'
import { JobTextCache, toRunFacts, unpackRun } from '../packed-run.ts'
import type { RunFacts } from '../run-facts.ts'
import type { ObserveTables } from '../tables.ts'

/** A run of the store, with its jobs. */
export interface StoredRun {
  readonly serviceId: number
  readonly facts: RunFacts
}

/** Returns the root run of a trace; `undefined` if none is stored. */
export async function findStoredRun(db: Kysely<ObserveTables>, traceId: string): Promise<StoredRun | undefined> {
  const row = await factsOfRuns(db)
    .where('run.trace_id', '=', traceId)
    .orderBy('run.is_child')
    .orderBy('run.start_ns')
    .orderBy('run.span_id')
    .limit(1)
    .executeTakeFirst()
  return row && { serviceId: row.service_id, facts: toRunFacts(unpackRun(row)) }
}

/** Returns the last successful runs of the same service, project and ref, without child pipelines; the latest first. */
export async function lastSuccessfulRuns(
  db: Kysely<ObserveTables>,
  { serviceId, facts: { project, ref } }: StoredRun,
  limit: number,
): Promise<RunFacts[]> {
  const rows = await factsOfRuns(db)
    .where('run.service_id', '=', serviceId)
    .where('run.project', 'is', project)
    .where('run.ref', 'is', ref)
    .where('run.status', '=', 'success')
    .where('run.is_child', '=', 0)
    .orderBy('run.start_ns', 'desc')
    .orderBy('run.id', 'desc')
    .limit(limit)
    .execute()
  const texts = new JobTextCache()
  return rows.map((row) => toRunFacts(unpackRun(row, texts)))
}

const factsOfRuns = (db: Kysely<ObserveTables>) =>
  db
    .selectFrom('pipeline_runs as run')
    .innerJoin('pipeline_facts as facts', 'facts.run_id', 'run.id')
    .select(['run.service_id', 'facts.facts_json', 'facts.jobs'])
