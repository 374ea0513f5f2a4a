import { type Kysely, sql } from 'kysely'
import { JobTextCache, toRunFacts, unpackRun } from '../../runs/packed-run.ts'
import type { RunFacts } from '../../runs/run-facts.ts'
import type { ObserveTables } from '../../schema/tables.ts'
import { USUAL_RUNS } from './usual-runs.ts'

/** A run of the store, with its jobs. */
export interface StoredRun {
  readonly id: number
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
  return row && { id: row.id, facts: toRunFacts(unpackRun(row)) }
}

/** Returns the last successful runs of the same kind that started before a run, without child pipelines; the latest first. */
export async function usualRuns(db: Kysely<ObserveTables>, { id }: StoredRun): Promise<RunFacts[]> {
  const rows = await factsOfRuns(db)
    .innerJoin('pipeline_runs as own', (join) =>
      join
        .on('own.id', '=', id)
        .onRef('run.service_id', '=', 'own.service_id')
        .onRef('run.project', 'is', 'own.project')
        .onRef('run.ref_kind', 'is', 'own.ref_kind')
        .onRef('run.name', 'is', 'own.name')
        .onRef('run.trigger_type', 'is', 'own.trigger_type')
        .onRef('run.start_ns', '<', 'own.start_ns'),
    )
    // The condition of the partial index, with its literals: SQLite does not use the index if the values are parameters.
    .where(sql<boolean>`run.status = 'success' and run.is_child = 0`)
    .orderBy('run.start_ns', 'desc')
    .orderBy('run.id', 'desc')
    .limit(USUAL_RUNS)
    .execute()
  const texts = new JobTextCache()
  return rows.map((row) => toRunFacts(unpackRun(row, texts)))
}

const factsOfRuns = (db: Kysely<ObserveTables>) =>
  db
    .selectFrom('pipeline_runs as run')
    .innerJoin('pipeline_facts as facts', 'facts.run_id', 'run.id')
    .select(['run.id', 'facts.facts_json', 'facts.jobs'])
