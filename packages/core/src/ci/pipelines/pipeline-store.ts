import { Lookup } from '@penstock/db'
import { type ExpressionBuilder, type SqlBool, sql } from 'kysely'
import { chunked } from '../../base/kit/chunked.ts'
import { notFound } from '../../base/kit/domain-error.ts'
import { type Listing, listingOf, rowsOfEach } from '../../base/kit/listing.ts'
import { mapPage, type Page, type PageRequest, pageOf } from '../../base/kit/page.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { CoreTables } from '../../base/kit/tables.ts'
import type { Project } from '../../base/model/project.ts'
import type { Tx } from '../../base/operations/context.ts'
import { claimGlobalNumbers, FIRST_ASSIGNED_NUMBER, FIRST_POSTED_ID } from './global-number-store.ts'
import type { Pipeline, PipelineFilter } from './pipeline.ts'
import { findSourceSha, isForMergeRequest, type MergeRequestHead, statedSourceSha } from './pipeline-merge-request.ts'
import { columnsOf, type PipelinesTable, pipelineOf } from './pipeline-row.ts'
import type { PipelineHead } from './prepared-record.ts'
import type { RecordVersion } from './record-version.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    pipelines: PipelinesTable
  }
}

export async function pageOfPipelines(
  context: ReadContext,
  { id: projectId }: Project,
  filter: PipelineFilter & { readonly mergeRequest?: MergeRequestHead },
  page: PageRequest,
): Promise<Page<Pipeline>> {
  return mapPage(await pageOf(context, ordered(pipelineQuery(context, projectId, filter), filter), page), pipelineOf)
}

/**
 * Returns the pipeline of a ref with the highest id. Child pipelines do not count, nor do posted ones if there is a recorded
 * one.
 */
export async function findLatestPipeline(
  context: ReadContext,
  { id }: Project,
  ref: string,
): Promise<Pipeline | undefined> {
  return (await newestOfEach(context, [pipelineQuery(context, id, { ref })]))[0]
}

/** Returns the pipeline with the highest id for each query. A recorded pipeline comes before posted ones. */
export async function newestOfEach(
  { db }: ReadContext,
  queries: readonly ReturnType<typeof ofProject>[],
): Promise<(Pipeline | undefined)[]> {
  const lists = await rowsOfEach(
    db,
    queries.flatMap((query) => [newest(query.where(isPosted(false))), newest(query.where(isPosted(true)))]),
  )
  return queries.map((_, index) => {
    const row = lists[2 * index]![0] ?? lists[2 * index + 1]![0]
    return row && pipelineOf(row)
  })
}

/** Lists the pipelines of each query, newest first. */
export const pipelineListing = (
  context: ReadContext,
  queries: readonly ReturnType<typeof ofProject>[],
): Listing<Pipeline> =>
  listingOf(context, queries, {
    order: [
      { column: 'pipelines.pipeline_id', key: 'pipeline_id', direction: 'desc' },
      // Pipelines of different projects may have the same id.
      { column: 'pipelines.id', key: 'id', direction: 'desc' },
    ],
    itemsOf: (rows) => rows.map(pipelineOf),
  })

/** Matches the pipeline with this iid. The id is used for a pipeline that was recorded without an iid. */
export const hasIid = (iid: number) => (eb: ExpressionBuilder<CoreTables, 'pipelines'>) =>
  eb.or([
    eb('pipelines.iid', '=', iid),
    eb.and([eb('pipelines.iid', 'is', null), eb('pipelines.pipeline_id', '=', iid)]),
  ])

/** Matches the pipelines of a project that have one of these Global ID numbers. */
export const hasGlobalNumber =
  (projectId: number, numbers: readonly number[]) => (eb: ExpressionBuilder<CoreTables, 'pipelines'>) =>
    eb(
      'pipelines.pipeline_id',
      'in',
      eb
        .selectFrom('pipeline_numbers')
        .select('own_id')
        .where('pipeline_numbers.project_id', '=', projectId)
        .where('pipeline_numbers.number', 'in', numbers.length === 0 ? [0] : [...numbers]),
    )

/** Matches the ids of posted pipelines, which are higher than those of most recorded ones, or all others. */
const isPosted = (wanted: boolean) => (eb: ExpressionBuilder<CoreTables, 'pipelines'>) => {
  const isInRange = eb.between('pipelines.pipeline_id', FIRST_POSTED_ID, FIRST_ASSIGNED_NUMBER - 1)
  return wanted ? isInRange : eb.not(isInRange)
}

const newest = (query: ReturnType<typeof ofProject>) => query.orderBy('pipelines.pipeline_id', 'desc').limit(1)

/** @throws DomainError `not_found`, also for a pipeline of another project */
export async function getPipelineRow(context: ReadContext, project: Project, id: number): Promise<Pipeline> {
  const row = await ofProject(context, project.id).where('pipelines.pipeline_id', '=', id).executeTakeFirst()
  if (row === undefined) throw notFound()
  return pipelineOf(row)
}

interface RecordedVersion extends RecordVersion {
  /** The key of the pipeline's row. */
  readonly key: number
  /** Whether the pipeline consists of posted statuses. */
  readonly isPosted: boolean
}

/** Returns the stored version of a project's pipeline. */
export async function findRecordedVersion(
  { db }: ReadContext,
  project: Project,
  id: number,
): Promise<RecordedVersion | undefined> {
  const row = await recordedVersion.run(db, project.id, id)
  if (row === undefined) return undefined
  const { id: key, status, as_of_ms, digest, is_posted } = row
  return { key, status, asOfMs: as_of_ms ?? undefined, digest, isPosted: is_posted === 1 }
}

const recordedVersion = new Lookup((db: ReadContext['db'], projectId: number, id: number) =>
  db
    .selectFrom('pipelines')
    .select(['id', 'status', 'as_of_ms', 'digest', 'is_posted'])
    .where('project_id', '=', projectId)
    .where('pipeline_id', '=', id),
)

/** Returns the pipeline with this key; `undefined` if it has been deleted. */
export async function findPipelineByKey({ db }: ReadContext, key: number): Promise<Pipeline | undefined> {
  const row = await pipelineByKey.run(db, key)
  return row && pipelineOf(row)
}

const pipelineByKey = new Lookup((db: ReadContext['db'], key: number) =>
  withPath({ db }).where('pipelines.id', '=', key),
)

/** Returns the pipelines with these keys, by key. */
export async function pipelinesByKey(
  context: ReadContext,
  keys: Iterable<number>,
): Promise<ReadonlyMap<number, Pipeline>> {
  const found = new Map<number, Pipeline>()
  for (const some of chunked([...new Set(keys)])) {
    const rows = await withPath(context).where('pipelines.id', 'in', some).execute()
    for (const row of rows) found.set(row.id, pipelineOf(row))
  }
  return found
}

/** The limit of earlier pipelines that `resultBefore` reads. */
const MAX_EARLIER = 100

/** Returns the status of the newest earlier pipeline of the ref that succeeded or failed; `undefined` if there is none. */
export async function resultBefore(
  { db }: ReadContext,
  { projectId, id, ref }: Pick<Pipeline, 'projectId' | 'id' | 'ref'>,
): Promise<'success' | 'failed' | undefined> {
  const earlier = await db
    .selectFrom('pipelines')
    .select('status')
    .where('project_id', '=', projectId)
    .where('ref', '=', ref ?? '')
    .where('pipeline_id', '<', id)
    .orderBy('pipeline_id', 'desc')
    .limit(MAX_EARLIER)
    .execute()
  return earlier.map(({ status }) => status).find((status) => status === 'success' || status === 'failed')
}

export async function insertPipeline(
  tx: Tx,
  { id, fullPath }: Project,
  draft: PipelineHead,
  version: RecordVersion,
): Promise<Pipeline> {
  const { db, nowMs } = tx
  const columns = columnsOf(draft, version)
  const numbers = await claimGlobalNumbers(tx, 'pipeline_numbers', id, [draft.id])
  const number = numbers.get(draft.id)!
  const { mergeRequestIid: iid } = draft
  const sourceSha = iid === undefined ? undefined : await findSourceSha(tx, id, { ...draft, mergeRequestIid: iid })
  const row = await db
    .insertInto('pipelines')
    .values({
      ...{ project_id: id, pipeline_id: draft.id, number: number === draft.id ? null : number },
      updated_at_ms: nowMs,
      source_sha: sourceSha ?? null,
      ...columns,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return pipelineOf({ ...row, project_path: fullPath })
}

export async function updatePipeline(
  tx: Tx,
  { id, fullPath }: Project,
  key: number,
  draft: PipelineHead,
  version: RecordVersion,
): Promise<Pipeline> {
  const { db, nowMs } = tx
  const { name, ...columns } = columnsOf(draft, version)
  const row = await db
    .updateTable('pipelines')
    // A record without a name keeps the one that a user has given to the pipeline.
    .set({
      updated_at_ms: nowMs,
      source_sha: await sourceShaAfter(tx, id, key, draft),
      ...columns,
      ...(name !== null && { name }),
    })
    .where('id', '=', key)
    .returningAll()
    .executeTakeFirstOrThrow()
  return pipelineOf({ ...row, project_path: fullPath })
}

/**
 * Returns the commit of the source branch that a later record of a pipeline tests. It stays that of the first record, unless the
 * later one states another, or is the first for this merge request or commit.
 */
async function sourceShaAfter(tx: Tx, projectId: number, key: number, draft: PipelineHead): Promise<string | null> {
  const { mergeRequestIid: iid } = draft
  if (iid === undefined) return null
  const stated = statedSourceSha(draft)
  if (stated !== undefined) return stated
  const former = await tx.db
    .selectFrom('pipelines')
    .select(['merge_request_iid', 'sha', 'source_sha'])
    .where('id', '=', key)
    .executeTakeFirstOrThrow()
  if (former.merge_request_iid === iid && former.sha === (draft.sha ?? null)) return former.source_sha
  return (await findSourceSha(tx, projectId, { ...draft, mergeRequestIid: iid })) ?? null
}

export async function renamePipelineRow({ db, nowMs }: Tx, pipeline: Pipeline, name: string): Promise<Pipeline> {
  await db.updateTable('pipelines').set({ name, updated_at_ms: nowMs }).where('id', '=', pipeline.key).execute()
  return { ...pipeline, name, updatedAtMs: nowMs }
}

export async function deletePipeline({ db }: Tx, key: number): Promise<void> {
  await db.deleteFrom('pipelines').where('id', '=', key).execute()
}

export const withPath = ({ db }: Pick<ReadContext, 'db'>) =>
  db
    .selectFrom('pipelines')
    .innerJoin('projects', 'projects.id', 'pipelines.project_id')
    .selectAll('pipelines')
    .select('projects.full_path as project_path')

export const ofProject = (context: ReadContext, projectId: number) =>
  withPath(context).where('pipelines.project_id', '=', projectId)

/** The filters of REST lists, and the further ones of lists for each project or commit. */
type PipelineQueryFilter = Partial<Omit<PipelineFilter, 'orderBy' | 'sort'>> & {
  readonly globalNumbers?: readonly number[] | undefined
  readonly isTag?: boolean | undefined
  readonly mergeRequest?: MergeRequestHead | undefined
}

/** The statuses of each scope that selects by status; the other scopes select by ref. */
const statusesOfScope = {
  running: ['running'],
  pending: ['pending'],
  finished: ['success', 'failed', 'canceled'],
} as const

/** The source of child pipelines: those that a pipeline of the same project started. */
const CHILD_SOURCE = 'parent_pipeline'

/** Matches pipelines that are not child pipelines. `source` names the column, because the table may have an alias. */
const isNoChild = (source: 'pipelines.source' | 'latest.source') =>
  sql<SqlBool>`coalesce(${sql.ref(source)}, '') <> ${sql.lit(CHILD_SOURCE)}`

/** Selects pipelines of a project. Child pipelines are found only by their source or by their Global ID numbers. */
export function pipelineQuery(context: ReadContext, projectId: number, filter: PipelineQueryFilter) {
  const { scope, status, ref, sha, source, username, name, mergeRequest } = filter
  const hidesChildren = source !== CHILD_SOURCE && filter.globalNumbers === undefined
  const all = ofProject(context, projectId)
    .$if(hidesChildren, (query) => query.where(isNoChild('pipelines.source')))
    .$if(status !== undefined, (query) => query.where('pipelines.status', '=', status!))
    .$if(ref !== undefined, (query) => query.where('pipelines.ref', '=', ref!))
    .$if(sha !== undefined, (query) => query.where('pipelines.sha', '=', sha!))
    .$if(mergeRequest !== undefined, (query) => query.where(isForMergeRequest(mergeRequest!)))
    .$if(source !== undefined, (query) => query.where('pipelines.source', '=', source!))
    .$if(username !== undefined, (query) => query.where('pipelines.username', '=', username!))
    .$if(name !== undefined, (query) => query.where('pipelines.name', '=', name!))
    // The record of a pipeline says nothing about errors in its configuration, so that no pipeline is known to have one.
    .$if(filter.yamlErrors === true, (query) => query.where(sql<SqlBool>`1 = 0`))
    .$if(filter.globalNumbers !== undefined, (query) => query.where(hasGlobalNumber(projectId, filter.globalNumbers!)))
    .$if(filter.isTag !== undefined, (query) => query.where('pipelines.is_tag', '=', Number(filter.isTag)))
    .$if(filter.updatedAfter !== undefined, (query) => query.where('updated_at_ms', '>=', filter.updatedAfter!))
    .$if(filter.updatedBefore !== undefined, (query) => query.where('updated_at_ms', '<=', filter.updatedBefore!))
    .$if(filter.createdAfter !== undefined, (query) =>
      query.where('pipelines.created_at_ms', '>=', filter.createdAfter!),
    )
    .$if(filter.createdBefore !== undefined, (query) =>
      query.where('pipelines.created_at_ms', '<=', filter.createdBefore!),
    )
  if (scope === undefined) return all
  if (scope !== 'branches' && scope !== 'tags') return all.where('pipelines.status', 'in', [...statusesOfScope[scope]])
  // The latest pipeline of each ref.
  return all.where('pipelines.pipeline_id', 'in', (eb) =>
    eb
      .selectFrom('pipelines as latest')
      .select((inner) => inner.fn.max('latest.pipeline_id').as('pipeline_id'))
      .where('latest.project_id', '=', projectId)
      .where('latest.is_tag', '=', scope === 'tags' ? 1 : 0)
      .where('latest.ref', 'is not', null)
      .$if(hidesChildren, (query) => query.where(isNoChild('latest.source')))
      .groupBy('latest.ref'),
  )
}

const orderColumns = {
  status: 'pipelines.status',
  ref: 'pipelines.ref',
  updated_at: 'pipelines.updated_at_ms',
  user_id: 'pipelines.user_id',
} as const

function ordered(query: ReturnType<typeof pipelineQuery>, { orderBy, sort }: PipelineFilter) {
  if (orderBy === 'id') return query.orderBy('pipelines.pipeline_id', sort)
  const column = orderColumns[orderBy]
  // SQLite and PostgreSQL sort null differently.
  const valuesFirst =
    orderBy === 'ref' || orderBy === 'user_id'
      ? query.orderBy((eb) => eb.case().when(column, 'is', null).then(1).else(0).end())
      : query
  return valuesFirst.orderBy(column, sort).orderBy('pipelines.pipeline_id', sort)
}
