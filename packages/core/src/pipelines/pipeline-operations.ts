import { createHash } from 'node:crypto'
import type { Reading } from '../kit/context.ts'
import { notFound } from '../kit/domain-error.ts'
import { command, query } from '../kit/operation.ts'
import { type KeysetPage, type Page, requireNearOffset } from '../kit/page.ts'
import type { ProjectRef } from '../projects/project.ts'
import { getProject } from '../projects/project-store.ts'
import { type ExportSettings, exportSettingsFor } from './export-settings.ts'
import {
  getJobRow,
  insertJobs,
  keysetPageOfProjectJobs,
  pageOfPipelineJobs,
  pageOfProjectJobs,
  setJobs,
} from './job-store.ts'
import { downstreamOfEach } from './linked-pipeline-store.ts'
import {
  type BridgeOfPipeline,
  type JobOfPipeline,
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
import { asOf, pipelineDraftOf, putRecordInput } from './pipeline-record.ts'
import {
  deletePipeline,
  findLatestPipeline,
  findRecordedVersion,
  getPipelineRow,
  insertPipeline,
  pageOfPipelines,
  updatePipeline,
} from './pipeline-store.ts'
import { isNewer, type RecordVersion } from './record-version.ts'

const subject = (reading: Reading, { project }: { readonly project: ProjectRef }) => getProject(reading, project)
const read = { caller: 'anyone', permission: 'read_pipeline', subject } as const

export const listPipelines = query({ name: 'listPipelines', input: listPipelinesInput, ...read }, (context, input) =>
  pageOfPipelines(context, context.subject, input, input),
)

export const getPipeline = query({ name: 'getPipeline', input: pipelineInput, ...read }, (context, { pipelineId }) =>
  getPipelineRow(context, context.subject, pipelineId),
)

/** Of the default branch, if no ref is named. */
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
  async (context, { pipelineId, ...input }): Promise<Page<JobOfPipeline>> => {
    const pipeline = await getPipelineRow(context, context.subject, pipelineId)
    return pageOfPipelineJobs(context, pipeline, { ...input, kind: 'build' }, input)
  },
)

export const listPipelineBridges = query(
  { name: 'listPipelineBridges', input: listBridgesInput, ...read },
  async (context, { pipelineId, ...input }): Promise<Page<BridgeOfPipeline>> => {
    const pipeline = await getPipelineRow(context, context.subject, pipelineId)
    const filter = { ...input, kind: 'bridge', includeRetried: false } as const
    const bridges = await pageOfPipelineJobs(context, pipeline, filter, input)
    const downstreams = await downstreamOfEach(context, context.actor, bridges.items)
    return { ...bridges, items: bridges.items.map((one, index) => ({ ...one, downstream: downstreams[index] })) }
  },
)

export const listProjectJobs = query(
  { name: 'listProjectJobs', input: listProjectJobsInput, ...read },
  async (context, input): Promise<Page<JobOfPipeline> | KeysetPage<JobOfPipeline>> => {
    if (input.pagination === 'keyset') return keysetPageOfProjectJobs(context, context.subject, input, input)
    requireNearOffset(input, 'Job')
    return pageOfProjectJobs(context, context.subject, input, input)
  },
)

export const getJob = query({ name: 'getJob', input: jobInput, ...read }, (context, { jobId }) =>
  getJobRow(context, context.subject, jobId),
)

export interface RecordedPipeline {
  readonly pipeline: Pipeline
  /** This record is the first of it. */
  readonly isNew: boolean
}

/**
 * Stores a record of a pipeline. One that is no news is answered like any other, and changes nothing.
 *
 * @see design.md 6
 */
export const putPipelineRecord = command(
  { name: 'putPipelineRecord', input: putRecordInput, permission: 'create_pipeline_record', subject },
  async (tx, input): Promise<RecordedPipeline> => {
    const { subject: project } = tx
    const draft = pipelineDraftOf(input, {
      id: project.id,
      pathWithNamespace: project.fullPath,
      webUrl: `${tx.core.settings.externalUrl}/${project.fullPath}`,
    })
    const digest = createHash('sha256').update(JSON.stringify(draft)).digest('base64url')
    const version: RecordVersion = { status: draft.status, asOfMs: asOf(draft), digest }
    const former = await findRecordedVersion(tx, project, draft.id)
    const isNew = former === undefined
    if (!isNew && !isNewer(former, version)) return { pipeline: await getPipelineRow(tx, project, draft.id), isNew }
    const pipeline = isNew
      ? await insertPipeline(tx, project, draft, version)
      : await updatePipeline(tx, project, former.key, draft, version)
    await (isNew ? insertJobs(tx, pipeline, draft.jobs) : setJobs(tx, pipeline, draft.jobs))
    await tx.recordEvent({
      type: `pipeline.${isNew ? 'created' : 'updated'}`,
      objectId: pipeline.key,
      projectId: project.id,
      details: { pipelineId: draft.id, status: draft.status, formerStatus: former?.status },
      payload: input.payload,
    })
    return { pipeline, isNew }
  },
)

export const removePipeline = command(
  { name: 'removePipeline', input: pipelineInput, permission: 'remove_pipeline', subject },
  async (tx, { pipelineId }) => {
    const { key, status, projectId } = await getPipelineRow(tx, tx.subject, pipelineId)
    await deletePipeline(tx, key)
    await tx.recordEvent({ type: 'pipeline.removed', objectId: key, projectId, details: { pipelineId, status } })
  },
)

/** What the CI/CD variables say about exporting, without the token itself. */
export interface ShownExportSettings extends Omit<ExportSettings, 'token'> {
  readonly hasToken: boolean
}

export const getPipelineExport = query(
  { name: 'getPipelineExport', input: pipelineExportInput, permission: 'admin_variables', subject },
  async (context, { environment, refProtected }): Promise<ShownExportSettings> => {
    const { signals, token, warnings } = await exportSettingsFor(context, context.core, context.subject, {
      environments: environment === undefined ? [] : [environment],
      isProtectedRef: refProtected,
    })
    return { signals, hasToken: token !== undefined, warnings }
  },
)
