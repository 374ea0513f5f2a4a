import { notFound } from '../../base/kit/domain-error.ts'
import { fromRow } from '../../base/kit/field-table.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project } from '../../base/model/project.ts'
import type { ActingUser } from '../../base/model/user.ts'
import type { OperationContext } from '../../base/operations/context.ts'
import { jobOf, jobQuery } from '../../ci/pipelines/job-store.ts'
import type { Pipeline, RecordedJob, RecordedVariable } from '../../ci/pipelines/pipeline.ts'
import { findPipelineByKey } from '../../ci/pipelines/pipeline-store.ts'
import { pipelineVariables } from '../../ci/pipelines/pipeline-variable-store.ts'
import type { DescribedSnippet } from '../../code/snippets/snippet.ts'
import { findSnippet } from '../../code/snippets/snippet-store.ts'
import { isInScope } from '../../identity/parents/parent-scope-store.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import { withLabelDetails } from '../../work/issues/issuable-label-store.ts'
import type { DescribedIssue } from '../../work/issues/issue.ts'
import { findDescribedIssueById, issueTables } from '../../work/issues/issue-store.ts'
import { type DescribedLabel, describedLabelFields } from '../../work/labels/label.ts'
import { findHeadPipelines } from '../../work/merge-requests/head-pipelines.ts'
import type { DescribedMergeRequest } from '../../work/merge-requests/merge-request.ts'
import { findMergeRequest, findMergeRequestsById } from '../../work/merge-requests/merge-request-list-store.ts'
import { mergeRequestTables } from '../../work/merge-requests/merge-request-store.ts'
import type { NoteRecord } from '../../work/notes/note.ts'
import { findNote } from '../../work/notes/note-store.ts'

/** The reader of facts for hooks. Everyone who manages the hooks of a project may read all of it. */
const everythingReader: ActingUser = { id: 0, username: '', isAdministrator: true, botHome: undefined }

export interface ProjectFacts {
  readonly project: Project
  /** The name of its group, or of the user that owns it. */
  readonly namespace: string
  /** Its name, after the names of all its groups. */
  readonly nameWithNamespace: string
}

export async function readProjectFacts(context: ReadContext, projectId: number): Promise<ProjectFacts> {
  const project = await getProject(context, projectId)
  const { groupId, ownerId } = project
  const owner =
    groupId === undefined
      ? context.db
          .selectFrom('users')
          .select(['name', 'name as full_name'])
          .where('id', '=', ownerId ?? 0)
      : context.db.selectFrom('groups').select(['name', 'full_name']).where('id', '=', groupId)
  const { name = '', full_name = '' } = (await owner.executeTakeFirst()) ?? {}
  return { project, namespace: name, nameWithNamespace: `${full_name} / ${project.name}` }
}

/** An issue or merge request with its labels, ordered by name. */
export type WithLabels<Item> = Item & { readonly labelDetails: readonly DescribedLabel[] }

/** @throws DomainError `not_found` */
export async function readIssueFacts(context: ReadContext, id: number): Promise<WithLabels<DescribedIssue>> {
  const issue = await findDescribedIssueById(context, everythingReader, id)
  if (issue === undefined) throw notFound()
  const [detailed] = await withLabelDetails(context, issueTables, [issue], { withLabelsDetails: true })
  return { ...detailed!, labelDetails: detailed!.labelDetails ?? [] }
}

/** @throws DomainError `not_found` */
export async function readMergeRequestFacts(
  context: ReadContext,
  projectId: number,
  iid: number,
): Promise<WithLabels<DescribedMergeRequest>> {
  const mergeRequest = await findMergeRequest(context, everythingReader, projectId, iid)
  if (mergeRequest === undefined) throw notFound()
  const [detailed] = await withLabelDetails(context, mergeRequestTables, [mergeRequest], { withLabelsDetails: true })
  return { ...detailed!, labelDetails: detailed!.labelDetails ?? [] }
}

/** The issue, merge request, snippet or commit of a note. */
export type NotedFacts =
  | { readonly kind: 'issue'; readonly issue: WithLabels<DescribedIssue> }
  | {
      readonly kind: 'merge_request'
      readonly mergeRequest: WithLabels<DescribedMergeRequest>
      readonly headPipelineId: number | undefined
    }
  | { readonly kind: 'snippet'; readonly snippet: DescribedSnippet }
  | { readonly kind: 'commit'; readonly sha: string }

export interface NoteFacts {
  readonly note: NoteRecord
  readonly on: NotedFacts
}

/** @throws DomainError `not_found` */
export async function readNoteFacts(context: ReadContext, id: number): Promise<NoteFacts> {
  const note = await findNote(context, id)
  if (note === undefined) throw notFound()
  return { note, on: await readNotedFacts(context, note) }
}

type NotedIds = Pick<NoteRecord, 'projectId' | 'issueId' | 'mergeRequestId' | 'snippetId' | 'commitSha'>

/** Returns the thing that a note, or a reaction, refers to. @throws DomainError `not_found` */
export async function readNotedFacts(context: ReadContext, ids: NotedIds): Promise<NotedFacts> {
  const { projectId, issueId, mergeRequestId, snippetId } = ids
  if (issueId !== undefined) return { kind: 'issue', issue: await readIssueFacts(context, issueId) }
  if (mergeRequestId !== undefined) {
    const found = (await findMergeRequestsById(context, everythingReader, [mergeRequestId])).get(mergeRequestId)
    if (found === undefined) throw notFound()
    const mergeRequest = await readMergeRequestFacts(context, projectId, found.iid)
    return { kind: 'merge_request', mergeRequest, headPipelineId: await findPipelineIdOf(context, mergeRequest) }
  }
  if (snippetId === undefined) return { kind: 'commit', sha: ids.commitSha ?? '' }
  const snippet = await findSnippet(context, snippetId)
  if (snippet === undefined) throw notFound()
  return { kind: 'snippet', snippet }
}

/** Returns the labels of the project and its groups with these names, by name. */
export async function readLabelFacts(
  context: ReadContext,
  project: Project,
  names: readonly string[],
): Promise<ReadonlyMap<string, DescribedLabel>> {
  if (names.length === 0) return new Map()
  const rows = await context.db
    .selectFrom('labels')
    .selectAll()
    .where('name', 'in', [...names])
    .where(isInScope(context, { parent: project, above: true }))
    .orderBy('id')
    .execute()
  return new Map(rows.map((row) => [row.name, fromRow(describedLabelFields, row)]))
}

export interface PipelineFacts {
  readonly pipeline: Pipeline
  /** Builds and bridges, all attempts, ordered by id. */
  readonly jobs: readonly RecordedJob[]
  readonly variables: readonly RecordedVariable[]
}

/** @throws DomainError `not_found` */
export async function readPipelineFacts(context: OperationContext & ReadContext, key: number): Promise<PipelineFacts> {
  const pipeline = await findPipelineByKey(context, key)
  if (pipeline === undefined) throw notFound()
  const rows = await jobQuery(context, {}).where('pipeline_key', '=', key).orderBy('job_id').execute()
  return { pipeline, jobs: rows.map(jobOf), variables: await pipelineVariables(context, pipeline) }
}

/** The limit of merge requests that one push reports as changed. */
const MAX_PUSHED_MERGE_REQUESTS = 100

/** Returns the iids of the open merge requests with this source branch. */
export async function findOpenMergeRequests(
  { db }: ReadContext,
  projectId: number,
  sourceBranch: string,
): Promise<number[]> {
  const rows = await db
    .selectFrom('merge_requests')
    .select('iid')
    .where('project_id', '=', projectId)
    .where('source_branch', '=', sourceBranch)
    .where('state', '=', 'opened')
    .orderBy('id')
    .limit(MAX_PUSHED_MERGE_REQUESTS)
    .execute()
  return rows.map(({ iid }) => iid)
}

/** Returns the id of the pipeline that the APIs show as the head pipeline of the merge request. */
export async function findPipelineIdOf(
  context: ReadContext,
  mergeRequest: DescribedMergeRequest,
): Promise<number | undefined> {
  return (await findHeadPipelines(context, [mergeRequest]))[0]?.id
}

export type SampleKind = 'issue' | 'merge_request' | 'milestone' | 'note' | 'pipeline'

/** Returns the number by which the newest thing of a kind is read: the iid of a merge request, else the id or key. */
export async function findNewest(
  { db }: ReadContext,
  projectId: number,
  kind: SampleKind,
): Promise<number | undefined> {
  if (kind === 'merge_request') {
    const own = db.selectFrom('merge_requests').select('iid').where('project_id', '=', projectId)
    return (await own.orderBy('id', 'desc').limit(1).executeTakeFirst())?.iid
  }
  if (kind === 'note') {
    const own = db.selectFrom('notes').select('id').where('project_id', '=', projectId).where('is_system', '=', 0)
    return (await own.orderBy('id', 'desc').limit(1).executeTakeFirst())?.id
  }
  const table = ({ issue: 'issues', milestone: 'milestones', pipeline: 'pipelines' } as const)[kind]
  const own = db.selectFrom(table).select('id').where('project_id', '=', projectId)
  return (await own.orderBy('id', 'desc').limit(1).executeTakeFirst())?.id
}
