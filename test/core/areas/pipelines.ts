import { putPipelineRecord } from '@penstock/core'
import { recordInput } from '@penstock/testkit'
import type { MatrixRow } from '../http-matrix-row.ts'
import { listOf, type Shape } from '../http-matrix-shapes.ts'
import type { MatrixArea } from '../matrix-area.ts'

/** The members that pipelines have on GitLab. Fields that a record leaves out are null. */
export const pipelineMembers = {
  id: 'int',
  iid: 'int?',
  project_id: 'int',
  sha: 'text?',
  ref: 'text?',
  status: 'text',
  source: 'text?',
  created_at: 'time?',
  updated_at: 'time',
  web_url: 'text',
} as const

const listedPipeline: Shape = {
  has: { ...pipelineMembers, name: 'text?' },
  lacks: ['variables', 'payload', 'key', 'digest'],
}
const pipeline: Shape = {
  has: {
    ...pipelineMembers,
    name: 'text?',
    before_sha: 'text?',
    tag: 'flag?',
    yaml_errors: 'text?',
    user: 'map?',
    started_at: 'time?',
    finished_at: 'time?',
    committed_at: 'time?',
    duration: 'int?',
    queued_duration: 'int?',
    coverage: 'text?',
    detailed_status: { has: { icon: 'text', text: 'text', label: 'text', group: 'text', details_path: 'text' } },
  },
  lacks: ['variables', 'payload', 'key', 'digest'],
}
const variable: Shape = {
  exactly: { variable_type: 'text', key: 'text', value: 'text', raw: 'flag' },
}
const testReport: Shape = {
  exactly: {
    total_time: 'int',
    total_count: 'int',
    success_count: 'int',
    failed_count: 'int',
    skipped_count: 'int',
    error_count: 'int',
    test_suites: { listOf: 'map' },
  },
}
const testReportSummary: Shape = { exactly: { total: 'map', test_suites: { listOf: 'map' } } }
const pipelineExport: Shape = {
  exactly: { signals: { listOf: 'text' }, token_set: 'flag', warnings: { listOf: 'text' } },
}

const FIRST_PIPELINE = 1_000_000

const list = '/projects/:id/pipelines'
const one = `${list}/:pipeline_id`
const run = { status: 'success', ref: 'main' }

/** As on GitLab with project-based pipeline visibility. */
export const pipelineReads = { may: { project: 10 }, visitors: 'anyone', job: true, needs: ['pipeline'] } as const

/** Returns the row of a change that recorded pipelines do not allow, for those who might make it. */
export const refused = (path: string): MatrixRow => ({
  call: `POST /projects/:id/${path}`,
  may: { project: 30 },
  needs: ['pipeline'],
  answer: [422, { exactly: { message: 'text' } }],
})

export const area: MatrixArea = {
  access: {
    read_pipeline: {
      rule: 'everyone who sees the project, also Guests of private ones, as public pipelines are enabled',
      project: '---yyyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
    },
    create_pipeline_record: {
      rule: 'Developers and higher',
      project: '---nnnnyyyy -nnnnnnyyyy nnnnnnnyyyy',
    },
    remove_pipeline: {
      rule: 'Owners',
      project: '---nnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
    },
  },

  rows: [
    {
      call: 'PUT /projects/:id/pipeline_records/:pipeline_id',
      may: { project: 30 },
      answer: [201, pipeline],
      at: { pipeline_id: '{id}' },
      send: { object_attributes: { id: '{id}', ...run }, builds: [{ id: 380, status: 'success' }] },
      job: true,
    },
    {
      call: 'PUT /projects/:id/pipeline_records/:pipeline_id : again',
      may: { project: 30 },
      answer: [200, pipeline],
      needs: ['pipeline'],
      send: { object_attributes: { id: '{pipeline_id}', ...run, finished_at: '2026-02-03 04:00:00 UTC' } },
      job: true,
    },
    { call: `GET ${list}`, ...pipelineReads, answer: [200, listOf(listedPipeline)] },
    { call: `GET ${list}/latest`, ...pipelineReads, answer: [200, pipeline], send: { ref: 'main' } },
    { call: `GET ${one}`, ...pipelineReads, answer: [200, pipeline] },
    { call: `GET ${one}/variables`, may: { project: 40 }, needs: ['pipeline'], answer: [200, listOf(variable)] },
    { call: `GET ${one}/test_report`, ...pipelineReads, answer: [200, testReport] },
    { call: `GET ${one}/test_report_summary`, ...pipelineReads, answer: [200, testReportSummary] },
    {
      call: `PUT ${one}/metadata`,
      may: { project: 30 },
      needs: ['pipeline'],
      send: { name: 'Release' },
      answer: [200, pipeline],
      job: true,
    },
    ...['pipeline', 'pipelines/:pipeline_id/retry', 'pipelines/:pipeline_id/cancel'].map(refused),
    { call: `DELETE ${one}`, may: { project: 50 }, answer: [204], needs: ['pipeline'] },
    {
      call: 'GET /projects/:id/pipeline_export',
      may: { project: 40 },
      answer: [200, pipelineExport],
    },
  ],

  things: {
    pipeline: async ({ server: { world, root }, parent }) => {
      // Each project has its own pipeline id.
      const id = FIRST_PIPELINE + parent!.id
      await world.perform(
        root,
        putPipelineRecord,
        recordInput({
          project: parent!.id,
          pipelineId: id,
          objectAttributes: { id, status: 'success', ref: 'main', variables: [{ key: 'STAGE', value: 'poison' }] },
          builds: [{ id: 380, status: 'success' }],
          bridges: [{ id: 381, status: 'success' }],
        }),
      )
      return { pipeline_id: id, job_id: 380 }
    },
  },
}
