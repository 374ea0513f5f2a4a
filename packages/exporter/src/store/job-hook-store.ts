import {
  isFinished,
  type JobEnrichment,
  type JobRecord,
  mergedJobEvents,
  parseRunId,
  type RunId,
  runIdText,
} from '@penstock/forges'
import type { Transaction } from 'kysely'
import type { ExporterTables } from './export-tables.ts'

type Tx = Transaction<ExporterTables>

/** The maximum number of jobs of which a pipeline keeps enrichments. Those of further jobs are not stored. */
const MAX_JOBS = 10_000
/** Limits the parameters of one statement. */
const JOBS_PER_STATEMENT = 1_000

/**
 * Stores enrichments of different jobs of a pipeline, merged with those that are stored already.
 * @param pipeline the key of the pipeline's row in `export_pipelines`
 */
export async function saveJobEnrichments(
  tx: Tx,
  pipeline: string,
  enrichments: readonly JobEnrichment[],
  nowMs: number,
): Promise<void> {
  for (let at = 0; at < enrichments.length; at += JOBS_PER_STATEMENT)
    await saveSome(tx, pipeline, enrichments.slice(at, at + JOBS_PER_STATEMENT), nowMs)
}

async function saveSome(tx: Tx, pipeline: string, enrichments: readonly JobEnrichment[], nowMs: number): Promise<void> {
  const ids = enrichments.map(({ jobId }) => runIdText(jobId))
  const stored = await tx
    .selectFrom('export_job_hooks')
    .select(['job_id', 'news'])
    .where('pipeline', '=', pipeline)
    .where('job_id', 'in', ids)
    .execute()
  const newsByJob = new Map(stored.map(({ job_id, news }) => [job_id, news]))
  let room = newsByJob.size === ids.length ? 0 : await roomFor(tx, pipeline)
  const rows = enrichments.flatMap((enrichment) => {
    const job_id = runIdText(enrichment.jobId)
    const known = newsByJob.get(job_id)
    if (known === undefined && room <= 0) return []
    if (known === undefined) room -= 1
    const [earlier] = known === undefined ? [] : parseJobEnrichments(`[${known}]`, enrichment.pipelineId)
    const news = jobEnrichmentText(earlier === undefined ? enrichment : mergedJobEvents(earlier, enrichment))
    return news === known ? [] : [{ pipeline, job_id, news, seen_at_ms: nowMs }]
  })
  if (rows.length === 0) return
  await tx
    .insertInto('export_job_hooks')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .columns(['pipeline', 'job_id'])
        .doUpdateSet(({ ref }) => ({ news: ref('excluded.news'), seen_at_ms: ref('excluded.seen_at_ms') })),
    )
    .execute()
}

/** Returns how many further jobs of the pipeline may have an enrichment. */
async function roomFor(tx: Tx, pipeline: string): Promise<number> {
  const { count } = await tx
    .selectFrom('export_job_hooks')
    .select(({ fn }) => fn.countAll<number | string>().as('count'))
    .where('pipeline', '=', pipeline)
    .executeTakeFirstOrThrow()
  return MAX_JOBS - Number(count)
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

/** Deletes the enrichments of a pipeline, or only those of some jobs. */
export async function deleteJobEnrichments(tx: Tx, pipeline: string, jobIds?: readonly RunId[]): Promise<void> {
  const all = tx.deleteFrom('export_job_hooks').where('pipeline', '=', pipeline)
  if (jobIds === undefined) {
    await all.execute()
    return
  }
  for (let at = 0; at < jobIds.length; at += JOBS_PER_STATEMENT) {
    await all.where('job_id', 'in', jobIds.slice(at, at + JOBS_PER_STATEMENT).map(runIdText)).execute()
  }
}

/** Returns the enrichments of jobs that have ended, as JSON for `parseJobEnrichments`, and the ids of these jobs. */
export function readFinished(text: string, pipelineId: RunId): { finished: string; jobIds: readonly RunId[] } {
  const finished = parseJobEnrichments(text, pipelineId).filter(({ status }) => isFinished(status ?? ''))
  return { finished: `[${finished.map(jobEnrichmentText).join(',')}]`, jobIds: finished.map(({ jobId }) => jobId) }
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
    jobId: runIdText(enrichment.jobId),
    name: enrichment.name,
    stage: enrichment.stage,
    status: enrichment.status,
    createdAtNs: enrichment.createdAtNs,
    startedAtNs: enrichment.startedAtNs,
    finishedAtNs: enrichment.finishedAtNs,
    durationSeconds: enrichment.durationSeconds,
    queuedSeconds: enrichment.queuedSeconds,
    allowFailure: enrichment.allowFailure,
    user: enrichment.user && { ...enrichment.user, id: idText(enrichment.user.id) },
    failureReason: enrichment.failureReason,
    retriesCount: enrichment.retriesCount,
    runner: enrichment.runner && { ...enrichment.runner, id: idText(enrichment.runner.id) },
    environment: enrichment.environment,
    job: enrichment.job && JSON.stringify(enrichment.job, withMarkedIntegers),
  }
  return JSON.stringify(stored, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
}

/** An enrichment as JSON: ids and nanoseconds are texts of digits, undefined values are missing. */
interface JobEnrichmentJson
  extends Omit<JobEnrichment, 'jobId' | 'createdAtNs' | 'startedAtNs' | 'finishedAtNs' | 'user' | 'runner' | 'job'> {
  readonly jobId: string
  readonly createdAtNs?: string
  readonly startedAtNs?: string
  readonly finishedAtNs?: string
  readonly user?: Omit<NonNullable<JobEnrichment['user']>, 'id'> & { readonly id?: string }
  readonly runner?: Omit<NonNullable<JobEnrichment['runner']>, 'id'> & { readonly id?: string }
  /** The whole job as JSON. Bigints are objects with one member, because ids may be texts of digits. */
  readonly job?: string
}

/**
 * Parses stored enrichments. Those that version 0.1 stored have no status.
 * @param text a JSON list
 */
export function parseJobEnrichments(text: string, pipelineId: RunId): JobEnrichment[] {
  return (JSON.parse(text) as JobEnrichmentJson[]).map((stored) => ({
    pipelineId,
    jobId: parseRunId(stored.jobId),
    name: stored.name,
    stage: stored.stage,
    status: stored.status,
    createdAtNs: toBigInt(stored.createdAtNs),
    startedAtNs: toBigInt(stored.startedAtNs),
    finishedAtNs: toBigInt(stored.finishedAtNs),
    durationSeconds: stored.durationSeconds,
    queuedSeconds: stored.queuedSeconds,
    allowFailure: stored.allowFailure,
    user: stored.user && { id: toRunId(stored.user.id), username: stored.user.username },
    failureReason: stored.failureReason,
    retriesCount: stored.retriesCount,
    runner: stored.runner && { ...stored.runner, id: toRunId(stored.runner.id) },
    environment: stored.environment,
    job: stored.job === undefined ? undefined : (JSON.parse(stored.job, fromMarkedInteger) as JobRecord),
  }))
}

const MARK = 'bigint'

const withMarkedIntegers = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? { [MARK]: String(value) } : value

function fromMarkedInteger(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !(MARK in value)) return value
  return BigInt(String(value[MARK]))
}

const idText = (id: RunId | undefined): string | undefined => (id === undefined ? undefined : runIdText(id))
const toRunId = (text: string | undefined): RunId | undefined => (text === undefined ? undefined : parseRunId(text))
const toBigInt = (text: string | undefined): bigint | undefined => (text === undefined ? undefined : BigInt(text))
