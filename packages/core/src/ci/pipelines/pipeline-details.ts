import { z } from 'zod'
import { requirePermission } from '../../base/access/subject.ts'
import { invalid, notFound } from '../../base/kit/domain-error.ts'
import { errorTexts } from '../../base/kit/error-texts.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { ProjectRef } from '../../base/model/project.ts'
import { command, query, unscopedQuery } from '../../base/operations/operation.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import { type JobWithCommit, withCommits } from './job-commits.ts'
import { getJobRow } from './job-store.ts'
import { jobInput, type Pipeline, pipelineInput, pipelineMetadataInput, type RecordedVariable } from './pipeline.ts'
import { getPipelineRow, renamePipelineRow } from './pipeline-store.ts'
import { pipelineVariables } from './pipeline-variable-store.ts'

const subject = (context: ReadContext, { project }: { readonly project: ProjectRef }) => getProject(context, project)
const read = { caller: 'anyone', permission: 'read_pipeline', subject } as const

/** Lists the variables that the record of a pipeline contains. Like the variables of a project, they may be secrets. */
export const listPipelineVariables = query(
  { name: 'listPipelineVariables', input: pipelineInput, permission: 'admin_variables', subject },
  async (context, { pipelineId }): Promise<RecordedVariable[]> =>
    pipelineVariables(context, await getPipelineRow(context, context.subject, pipelineId)),
)

/** Returns the pipeline of a test report. Records contain no test results, so that the report is empty. */
export const getPipelineTestReport = query(
  { name: 'getPipelineTestReport', input: pipelineInput, ...read },
  (context, { pipelineId }): Promise<Pipeline> => getPipelineRow(context, context.subject, pipelineId),
)

/** Returns the job of a log. Records contain no logs, so that the log is empty. */
export const getJobTrace = query({ name: 'getJobTrace', input: jobInput, ...read }, (context, { jobId }) =>
  getJobRow(context, context.subject, jobId),
)

const MAX_NAME_LENGTH = 255

/** Sets the name of a pipeline. It is kept until a record contains another name. */
export const renamePipeline = command(
  { name: 'renamePipeline', input: pipelineMetadataInput, permission: 'create_pipeline_record', subject },
  async (tx, { pipelineId, name }): Promise<Pipeline> => {
    const pipeline = await getPipelineRow(tx, tx.subject, pipelineId)
    if (name.length > MAX_NAME_LENGTH) throw invalid({ name: [errorTexts.tooLong(MAX_NAME_LENGTH)] })
    const renamed = await renamePipelineRow(tx, pipeline, name)
    const { key: objectId, projectId } = renamed
    await tx.recordEvent({ type: 'pipeline.renamed', objectId, projectId, details: { pipelineId } })
    return renamed
  },
)

/** Returns the job that owns the job token of the request. */
export const getOwnJob = unscopedQuery(
  { name: 'getOwnJob', input: z.object({}) },
  async (context): Promise<JobWithCommit> => {
    const { jobProjectId, jobId } = context.actor ?? {}
    if (jobProjectId === undefined || jobId === undefined) throw notFound('Job')
    const project = await getProject(context, jobProjectId)
    await requirePermission(context, project, 'read_pipeline')
    const job = await getJobRow(context, project, jobId)
    return (await withCommits(context, project, [job]))[0]!
  },
)
