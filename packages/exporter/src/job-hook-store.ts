import { type JobEnrichment, mergedJobEvents } from '@penstock/forges'
import type { Transaction } from 'kysely'
import type { ExporterTables } from './export-tables.ts'

type Tx = Transaction<ExporterTables>

/**
 * Stores the enrichment of a job, merged with the one that is stored already.
 * @param pipeline the key of the pipeline's row in `export_pipelines`
 */
export async function saveJobEnrichment(
  tx: Tx,
  pipeline: string,
  enrichment: JobEnrichment,
  nowMs: number,
): Promise<void> {
  const id = String(enrichment.jobId)
  const row = await tx
    .selectFrom('export_job_hooks')
    .select('news')
    .where('pipeline', '=', pipeline)
    .where('job_id', '=', id)
    .executeTakeFirst()
  const [earlier] = row === undefined ? [] : parseJobEnrichments(`[${row.news}]`, enrichment.pipelineId)
  const merged = earlier === undefined ? enrichment : mergedJobEvents(earlier, enrichment)
  const latest = { news: jobEnrichmentText(merged), seen_at_ms: nowMs }
  await tx
    .insertInto('export_job_hooks')
    .values({ pipeline, job_id: id, ...latest })
    .onConflict((conflict) => conflict.columns(['pipeline', 'job_id']).doUpdateSet(latest))
    .execute()
}

/** Returns the enrichments of each pipeline as JSON for `parseJobEnrichments`; pipelines without any are left out. */
export async function findJobEnrichments(tx: Tx, pipelines: readonly string[]): Promise<Map<string, string>> {
  if (pipelines.length === 0) return new Map()
  const rows = await tx
    .selectFrom('export_job_hooks')
    .select(['pipeline', 'news'])
    .where('pipeline', 'in', pipelines)
    .execute()
  const byPipeline = new Map<string, string[]>()
  for (const { pipeline, news } of rows) {
    const list = byPipeline.get(pipeline)
    if (list === undefined) byPipeline.set(pipeline, [news])
    else list.push(news)
  }
  return new Map([...byPipeline].map(([pipeline, list]) => [pipeline, `[${list.join(',')}]`]))
}

export async function deleteJobEnrichments(tx: Tx, pipeline: string): Promise<void> {
  await tx.deleteFrom('export_job_hooks').where('pipeline', '=', pipeline).execute()
}

export async function deleteJobEnrichmentsBefore(tx: Tx, beforeMs: number, limit: number): Promise<number> {
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

function jobEnrichmentText(enrichment: JobEnrichment): string {
  const stored: { [Key in keyof JobEnrichment]: unknown } = {
    pipelineId: undefined,
    jobId: enrichment.jobId,
    name: enrichment.name,
    stage: enrichment.stage,
    status: enrichment.status,
    createdAtNs: enrichment.createdAtNs,
    startedAtNs: enrichment.startedAtNs,
    finishedAtNs: enrichment.finishedAtNs,
    durationSeconds: enrichment.durationSeconds,
    queuedSeconds: enrichment.queuedSeconds,
    allowFailure: enrichment.allowFailure,
    user: enrichment.user,
    failureReason: enrichment.failureReason,
    retriesCount: enrichment.retriesCount,
    runner: enrichment.runner,
    environment: enrichment.environment,
  }
  return JSON.stringify(stored, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
}

/** An enrichment as JSON: ids and nanoseconds are texts of digits, undefined values are missing. */
interface JobEnrichmentJson
  extends Omit<JobEnrichment, 'jobId' | 'createdAtNs' | 'startedAtNs' | 'finishedAtNs' | 'user' | 'runner'> {
  readonly jobId: string
  readonly createdAtNs?: string
  readonly startedAtNs?: string
  readonly finishedAtNs?: string
  readonly user?: Omit<NonNullable<JobEnrichment['user']>, 'id'> & { readonly id?: string }
  readonly runner?: Omit<NonNullable<JobEnrichment['runner']>, 'id'> & { readonly id?: string }
}

/**
 * Parses stored enrichments. Those that version 0.1 stored have no status.
 * @param text a JSON list
 */
export function parseJobEnrichments(text: string, pipelineId: bigint): JobEnrichment[] {
  return (JSON.parse(text) as JobEnrichmentJson[]).map((stored) => ({
    pipelineId,
    jobId: BigInt(stored.jobId),
    name: stored.name,
    stage: stored.stage,
    status: stored.status,
    createdAtNs: toBigInt(stored.createdAtNs),
    startedAtNs: toBigInt(stored.startedAtNs),
    finishedAtNs: toBigInt(stored.finishedAtNs),
    durationSeconds: stored.durationSeconds,
    queuedSeconds: stored.queuedSeconds,
    allowFailure: stored.allowFailure,
    user: stored.user && { id: toBigInt(stored.user.id), username: stored.user.username },
    failureReason: stored.failureReason,
    retriesCount: stored.retriesCount,
    runner: stored.runner && { ...stored.runner, id: toBigInt(stored.runner.id) },
    environment: stored.environment,
  }))
}

const toBigInt = (text: string | undefined): bigint | undefined => (text === undefined ? undefined : BigInt(text))
