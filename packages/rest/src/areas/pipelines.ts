import {
  exportSignals,
  getJob,
  getJobTrace,
  getLatestPipeline,
  getOwnJob,
  getPipeline,
  getPipelineExport,
  getPipelineTestReport,
  listPipelineBridges,
  listPipelineJobs,
  listPipelines,
  listPipelineVariables,
  listProjectJobs,
  putPipelineRecord,
  type RecordedPipeline,
  type RecordedVariable,
  removePipeline,
  renamePipeline,
  type ShownExportSettings,
} from '@penstock/core'
import { recordJsonLimits } from '@penstock/json'
import { z } from 'zod'
import { type Area, route, type Shape } from '../routing/route.ts'
import { orderedList, pagedList, pageOfAll } from './parameters/lists.ts'
import { projectJobList } from './parameters/pipelines.ts'
import { bridgeShape, jobShape } from './shapes/job-shape.ts'
import { listedPipelineShape, pipelineShape } from './shapes/pipeline-shape.ts'
import { testReportShape, testReportSummaryShape } from './shapes/test-report-shape.ts'

const recordedShape: Shape<RecordedPipeline> = {
  schema: pipelineShape.schema,
  of: ({ pipeline }, context) => pipelineShape.of(pipeline, context),
}

/** A variable of a pipeline. Records do not say whether its value is the name of a file. */
const variableShape: Shape<RecordedVariable> = {
  schema: z
    .object({ variable_type: z.literal('env_var'), key: z.string(), value: z.string(), raw: z.literal(false) })
    .meta({ id: 'PipelineVariable' }),
  of: ({ key, value }) => ({ variable_type: 'env_var', key, value, raw: false }),
}

const exportShape: Shape<ShownExportSettings> = {
  schema: z
    .object({
      signals: z.array(z.enum(exportSignals)),
      token_set: z.boolean(),
      warnings: z.array(z.string()),
    })
    .meta({ id: 'PipelineExport' }),
  of: ({ signals, hasToken, warnings }) => ({ signals, token_set: hasToken, warnings }),
}

/** The maximum size of a pipeline record; enough for a pipeline with thousands of jobs. */
const RECORD_LIMIT_BYTES = 16 * 1024 * 1024

const names = { project: 'id' }
const list = '/projects/:id/pipelines'
const one = `${list}/:pipeline_id`

export const pipelinesArea: Area = {
  tag: 'Pipelines',
  routes: [
    route({
      method: 'PUT',
      path: '/projects/:id/pipeline_records/:pipeline_id',
      operation: putPipelineRecord,
      names: { project: 'id', hookProject: 'project' },
      shape: recordedShape,
      isCreated: ({ isNew }) => isNew,
      bodyTextAs: 'payload',
      bodyLimitBytes: RECORD_LIMIT_BYTES,
      jsonLimits: recordJsonLimits,
      takesJobTokens: true,
      summary:
        'Create or replace the record of a pipeline from the body of a pipeline hook. Ids are unique within a project.',
    }),
    route({
      method: 'GET',
      path: list,
      operation: listPipelines,
      parameters: pagedList,
      names,
      shape: listedPipelineShape,
      summary: 'List the pipelines of a project.',
      takesJobTokens: true,
    }),
    route({
      method: 'GET',
      path: `${list}/latest`,
      operation: getLatestPipeline,
      names,
      shape: pipelineShape,
      summary: 'Get the latest pipeline of a ref.',
      takesJobTokens: true,
    }),
    route({
      method: 'GET',
      path: one,
      operation: getPipeline,
      names,
      shape: pipelineShape,
      summary: 'Get a pipeline.',
      takesJobTokens: true,
    }),
    route({
      method: 'DELETE',
      path: one,
      operation: removePipeline,
      names,
      summary: 'Delete a pipeline and its jobs.',
    }),
    route({
      method: 'GET',
      path: `${one}/variables`,
      operation: listPipelineVariables,
      parameters: pageOfAll,
      names,
      shape: variableShape,
      isList: true,
      summary: 'List the variables of a pipeline.',
    }),
    route({
      method: 'GET',
      path: `${one}/test_report`,
      operation: getPipelineTestReport,
      names,
      shape: testReportShape,
      summary: 'Get the test report of a pipeline, which is empty, because records contain no test results.',
      takesJobTokens: true,
    }),
    route({
      method: 'GET',
      path: `${one}/test_report_summary`,
      operation: getPipelineTestReport,
      names,
      shape: testReportSummaryShape,
      summary: 'Get the summary of the test report of a pipeline, which is empty.',
      takesJobTokens: true,
    }),
    route({
      method: 'PUT',
      path: `${one}/metadata`,
      operation: renamePipeline,
      names,
      shape: pipelineShape,
      takesJobTokens: true,
      summary: 'Name a pipeline. The name lasts until a record has another one.',
    }),
    route({
      method: 'GET',
      path: `${one}/jobs`,
      operation: listPipelineJobs,
      parameters: orderedList,
      names,
      shape: jobShape,
      summary: 'List the jobs of a pipeline, without bridges.',
      takesJobTokens: true,
    }),
    route({
      method: 'GET',
      path: `${one}/bridges`,
      operation: listPipelineBridges,
      parameters: orderedList,
      names,
      shape: bridgeShape,
      summary: 'List the bridges of a pipeline.',
      takesJobTokens: true,
    }),
    route({
      method: 'GET',
      path: '/projects/:id/jobs',
      operation: listProjectJobs,
      parameters: projectJobList,
      names,
      shape: jobShape,
      summary: 'List the jobs of a project, without bridges.',
      takesJobTokens: true,
    }),
    route({
      method: 'GET',
      path: '/projects/:id/jobs/:job_id',
      operation: getJob,
      names,
      shape: jobShape,
      summary: 'Get a job.',
      takesJobTokens: true,
    }),
    route({
      method: 'GET',
      path: '/projects/:id/jobs/:job_id/trace',
      operation: getJobTrace,
      names,
      content: () => ({ type: 'text/plain', body: '' }),
      headers: ({ id }) => ({ 'Content-Disposition': `infile; filename="${id}.log"` }),
      summary: 'Get the log of a job, which is empty, because records contain no logs.',
      takesJobTokens: true,
    }),
    route({
      method: 'GET',
      path: '/job',
      operation: getOwnJob,
      shape: jobShape,
      takesJobTokens: true,
      summary: 'Get the job that owns the job token of the request.',
    }),
    route({
      method: 'GET',
      path: '/projects/:id/pipeline_export',
      operation: getPipelineExport,
      names,
      shape: exportShape,
      summary: 'Get the telemetry export settings of a project, which its CI/CD variables define.',
    }),
  ],
}
