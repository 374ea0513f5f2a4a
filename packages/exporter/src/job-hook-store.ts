import { type JobEnrichment, mergedJobEvents } from '@penstock/converter'
import type { Transaction } from 'kysely'
import type { ExporterTables } from './export-tables.ts'

type Tx = Transaction<ExporterTables>

/** `pipeline`: key of its row in `export_pipelines`. */
export async function keepJobNews(tx: Tx, pipeline: string, news: JobEnrichment, nowMs: number): Promise<void> {
  const id = String(news.jobId)
  const row = await tx
    .selectFrom('export_job_hooks')
    .select('news')
    .where('pipeline', '=', pipeline)
    .where('job_id', '=', id)
    .executeTakeFirst()
  const [earlier] = row === undefined ? [] : readJobNews(`[${row.news}]`, news.pipelineId)
  const latest = { news: jobNewsText(earlier === undefined ? news : mergedJobEvents(earlier, news)), seen_at_ms: nowMs }
  await tx
    .insertInto('export_job_hooks')
    .values({ pipeline, job_id: id, ...latest })
    .onConflict((conflict) => conflict.columns(['pipeline', 'job_id']).doUpdateSet(latest))
    .execute()
}

/** By pipeline, JSON of all that is known, as `readJobNews` takes it; nothing of those of which nothing is. */
export async function findJobNews(tx: Tx, pipelines: readonly string[]): Promise<Map<string, string>> {
  if (pipelines.length === 0) return new Map()
  const rows = await tx
    .selectFrom('export_job_hooks')
    .select(['pipeline', 'news'])
    .where('pipeline', 'in', pipelines)
    .execute()
  const newsOf = new Map<string, string[]>()
  for (const { pipeline, news } of rows) {
    const list = newsOf.get(pipeline)
    if (list === undefined) newsOf.set(pipeline, [news])
    else list.push(news)
  }
  return new Map([...newsOf].map(([pipeline, list]) => [pipeline, `[${list.join(',')}]`]))
}

export async function forgetJobNews(tx: Tx, pipeline: string): Promise<void> {
  await tx.deleteFrom('export_job_hooks').where('pipeline', '=', pipeline).execute()
}

export async function deleteJobNewsBefore(tx: Tx, beforeMs: number, limit: number): Promise<number> {
  const result = await tx
    .deleteFrom('export_job_hooks')
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('pipeline', 'job_id'),
        'in',
        selectFrom('export_job_hooks')
          .select(['pipeline', 'job_id'])
          .where('seen_at_ms', '<', beforeMs)
          .orderBy('seen_at_ms')
          .limit(limit)
          .$asTuple('pipeline', 'job_id'),
      ),
    )
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}

function jobNewsText({ jobId, failureReason, retriesCount, runner, environment }: JobEnrichment): string {
  const kept = { jobId, failureReason, retriesCount, runner, environment }
  return JSON.stringify(kept, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
}

interface JobNewsJson extends Pick<JobEnrichment, 'failureReason' | 'retriesCount' | 'environment'> {
  readonly jobId: string
  readonly runner?: Omit<NonNullable<JobEnrichment['runner']>, 'id'> & { readonly id?: string }
}

/** @param text JSON, a list */
export function readJobNews(text: string, pipelineId: bigint): JobEnrichment[] {
  return (JSON.parse(text) as JobNewsJson[]).map(({ jobId, runner, failureReason, retriesCount, environment }) => ({
    pipelineId,
    jobId: BigInt(jobId),
    failureReason,
    retriesCount,
    environment,
    runner: runner && { ...runner, id: runner.id === undefined ? undefined : BigInt(runner.id) },
  }))
}
