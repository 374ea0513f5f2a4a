import { requirePermission } from '../../base/access/subject.ts'
import { DomainError, notFound } from '../../base/kit/domain-error.ts'
import { type KeysetPage, type Page, requireReachableOffset } from '../../base/kit/page.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project, ProjectRef } from '../../base/model/project.ts'
import type { OperationContext, Tx } from '../../base/operations/context.ts'
import type { PreparedPayloads } from '../../base/operations/event.ts'
import { command, query, unscopedSteps } from '../../base/operations/operation.ts'
import { isLargePayload, preparePayload } from '../../base/operations/prepared-payload.ts'
import { changesBetween, comparedMembers } from '../../base/operations/record-change.ts'
import { isSignedIn, rateOf } from '../../base/settings/rate-of.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import { type ExportSettings, loadExportSettings } from './export-settings.ts'
import { type BridgeWithCommit, type JobWithCommit, withCommits } from './job-commits.ts'
import { getJobRow, keysetPageOfProjectJobs, pageOfPipelineJobs, pageOfProjectJobs } from './job-store.ts'
import { insertJobs, setJobs } from './job-write-store.ts'
import { downstreamOfEach } from './linked-pipeline-store.ts'
import {
  jobInput,
  latestPipelineInput,
  listBridgesInput,
  listPipelineJobsInput,
  listPipelinesInput,
  listProjectJobsInput,
  type Pipeline,
  pipelineExportInput,
  pipelineInput,
} from './pipeline.ts'
import {
  deletePipeline,
  findLatestPipeline,
  findRecordedVersion,
  getPipelineRow,
  insertPipeline,
  pageOfPipelines,
  updatePipeline,
} from './pipeline-store.ts'
import { setPipelineVariables } from './pipeline-variable-store.ts'
import { type PreparedRecord, pipelineFor, preparedRecordInput } from './prepared-record.ts'
import { chargeRecord, releaseRecord } from './record-size-store.ts'
import { isNewer } from './record-version.ts'
import { recordDeployments } from './recorded-deployments.ts'

const subject = (context: ReadContext, { project }: { readonly project: ProjectRef }) => getProject(context, project)
const read = { caller: 'anyone', permission: 'read_pipeline', subject } as const

export const listPipelines = query({ name: 'listPipelines', input: listPipelinesInput, ...read }, (context, input) =>
  pageOfPipelines(context, context.subject, input, input),
)

export const getPipeline = query({ name: 'getPipeline', input: pipelineInput, ...read }, (context, { pipelineId }) =>
  getPipelineRow(context, context.subject, pipelineId),
)

/** Returns the latest pipeline of a ref, or of the default branch. */
export const getLatestPipeline = query(
  { name: 'getLatestPipeline', input: latestPipelineInput, ...read },
  async (context, { ref = context.subject.defaultBranch }): Promise<Pipeline> => {
    const pipeline = ref === undefined ? undefined : await findLatestPipeline(context, context.subject, ref)
    if (pipeline === undefined) throw notFound()
    return pipeline
  },
)

export const listPipelineJobs = query(
  { name: 'listPipelineJobs', input: listPipelineJobsInput, ...read },
  async (context, { pipelineId, ...input }): Promise<Page<JobWithCommit>> => {
    const pipeline = await getPipelineRow(context, context.subject, pipelineId)
    const page = await pageOfPipelineJobs(context, pipeline, { ...input, kind: 'build' }, input)
    return { ...page, items: await withCommits(context, context.subject, page.items) }
  },
)

export const listPipelineBridges = query(
  { name: 'listPipelineBridges', input: listBridgesInput, ...read },
  async (context, { pipelineId, ...input }): Promise<Page<BridgeWithCommit>> => {
    const pipeline = await getPipelineRow(context, context.subject, pipelineId)
    const filter = { ...input, kind: 'bridge' } as const
    const bridges = await pageOfPipelineJobs(context, pipeline, filter, input)
    const downstreams = await downstreamOfEach(context, context.actor, bridges.items)
    const items = await withCommits(context, context.subject, bridges.items)
    return { ...bridges, items: items.map((one, index) => ({ ...one, downstream: downstreams[index] })) }
  },
)

export const listProjectJobs = query(
  {
    name: 'listProjectJobs',
    input: listProjectJobsInput,
    ...read,
    limits: [
      {
        name: 'jobs_index',
        per: ['user'],
        periodSeconds: 60,
        count: rateOf('project_jobs_api_rate_limit', isSignedIn),
      },
    ],
  },
  async (context, input): Promise<Page<JobWithCommit> | KeysetPage<JobWithCommit>> => {
    const { subject: project } = context
    if (input.pagination === 'keyset') {
      const page = await keysetPageOfProjectJobs(context, project, input, input)
      return { ...page, items: await withCommits(context, project, page.items) }
    }
    requireReachableOffset(input, 'Job')
    const page = await pageOfProjectJobs(context, project, input, input)
    return { ...page, items: await withCommits(context, project, page.items) }
  },
)

export const getJob = query(
  { name: 'getJob', input: jobInput, ...read },
  async (context, { jobId }): Promise<JobWithCommit> => {
    const job = await getJobRow(context, context.subject, jobId)
    return (await withCommits(context, context.subject, [job]))[0]!
  },
)

export interface RecordedPipeline {
  readonly pipeline: Pipeline
  /** Whether this is the pipeline's first record. */
  readonly isNew: boolean
}

/** Stores a record of a pipeline. A record that changes nothing gets the same response, but is not written. */
export const putPipelineRecord = unscopedSteps(
  { name: 'putPipelineRecord', input: preparedRecordInput },
  async (context, record): Promise<RecordedPipeline> => {
    const { payload } = record
    if (!isLargePayload(payload)) return context.write((tx) => store(tx, record))
    const project = await projectToRecordIn(context, record)
    const prepared = await preparePayload(context.core, RECORDED_FIRST, project, payload)
    return context.write((tx) => store(tx, record, prepared))
  },
)

const comparedStatus = comparedMembers<{ readonly status: string }>()('status')
const RECORDED_FIRST = 'pipeline.created'
const RECORDED_AGAIN = 'pipeline.updated'

/**
 * Returns the project in which the pipeline is recorded.
 * @throws DomainError if the project does not exist, or the actor may not record pipelines in it
 */
async function projectToRecordIn(context: OperationContext & ReadContext, record: PreparedRecord): Promise<Project> {
  const project = await subject(context, record)
  await requirePermission(context, project, 'create_pipeline_record')
  return project
}

async function store(
  tx: OperationContext & Tx,
  record: PreparedRecord,
  prepared?: PreparedPayloads,
): Promise<RecordedPipeline> {
  const project = await projectToRecordIn(tx, record)
  const { head, version } = pipelineFor(record, {
    id: project.id,
    path: project.fullPath,
    webUrl: `${tx.core.settings.externalUrl}/${project.fullPath}`,
  })
  const former = await findRecordedVersion(tx, project, head.id)
  const isNew = former === undefined
  if (former?.isPosted)
    throw new DomainError({ code: 'conflict', reason: 'A pipeline of posted statuses has this id already' })
  if (!isNew && !isNewer(former, version)) return { pipeline: await getPipelineRow(tx, project, head.id), isNew }
  const pipeline = isNew
    ? await insertPipeline(tx, project, head, version)
    : await updatePipeline(tx, project, former.key, head, version)
  const jobStatuses = isNew
    ? await insertJobs(tx, pipeline, record.jobs)
    : await setJobs(tx, pipeline, record.jobs, record.stages)
  if (!isNew || record.variables.length > 0) await setPipelineVariables(tx, pipeline, record.variables)
  await chargeRecord(tx, pipeline)
  await tx.recordEvent({
    type: isNew ? RECORDED_FIRST : RECORDED_AGAIN,
    objectId: pipeline.key,
    projectId: project.id,
    details: { pipelineId: head.id, status: head.status, formerStatus: former?.status },
    changes: { ...changesBetween(comparedStatus, former, head), jobStatuses },
    payload: record.payload,
    ...(prepared && { prepared }),
    written: { project, pipeline },
  })
  await recordDeployments(tx, project, { pipeline, jobs: record.deployingJobs, changed: jobStatuses.current })
  return { pipeline, isNew }
}

export const removePipeline = command(
  {
    name: 'removePipeline',
    input: pipelineInput,
    permission: 'remove_pipeline',
    subject,
    isConditional: true,
    limits: [
      {
        name: 'pipeline_delete',
        per: ['user', 'subject'],
        periodSeconds: 60,
        count: rateOf('pipeline_delete_limit_per_user_project'),
      },
    ],
  },
  async (tx, { pipelineId }) => {
    const { key, status, projectId, updatedAtMs } = await getPipelineRow(tx, tx.subject, pipelineId)
    tx.requireUnmodified(updatedAtMs)
    await releaseRecord(tx, { key, projectId })
    await deletePipeline(tx, key)
    await tx.recordEvent({ type: 'pipeline.removed', objectId: key, projectId, details: { pipelineId, status } })
  },
)

/** Export settings without the token itself. */
export interface ShownExportSettings extends Omit<ExportSettings, 'token'> {
  readonly hasToken: boolean
}

export const getPipelineExport = query(
  { name: 'getPipelineExport', input: pipelineExportInput, permission: 'admin_variables', subject },
  async (context, { environment, refProtected }): Promise<ShownExportSettings> => {
    const { signals, token, warnings } = await loadExportSettings(context, context.core, context.subject, {
      environments: environment === undefined ? [] : [environment],
      isProtectedRef: refProtected,
    })
    return { signals, hasToken: token !== undefined, warnings }
  },
)
