import type { MatrixRow } from './http-matrix-row.ts'
import {
  bridge,
  job,
  listedPipeline,
  listOf,
  pipeline,
  pipelineExport,
  testReport,
  testReportSummary,
  pipelineVariable as variable,
} from './http-matrix-shapes.ts'

const list = '/projects/:id/pipelines'
const one = `${list}/:pipeline_id`
const run = { status: 'success', ref: 'main' }

/** As on GitLab with project-based pipeline visibility. */
const reads = { may: { project: 10 }, visitors: 'anyone', needs: ['pipeline'] } as const

/** A change that recorded pipelines do not allow, for those who might make it. */
const refused = (path: string): MatrixRow => ({
  call: `POST /projects/:id/${path}`,
  may: { project: 30 },
  needs: ['pipeline'],
  answer: [422, { exactly: { message: 'text' } }],
})

export const pipelineRows: readonly MatrixRow[] = [
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
  { call: `GET ${list}`, ...reads, answer: [200, listOf(listedPipeline)] },
  { call: `GET ${list}/latest`, ...reads, answer: [200, pipeline], send: { ref: 'main' } },
  { call: `GET ${one}`, ...reads, answer: [200, pipeline] },
  { call: `GET ${one}/jobs`, ...reads, answer: [200, listOf(job)] },
  { call: `GET ${one}/bridges`, ...reads, answer: [200, listOf(bridge)] },
  { call: `GET ${one}/variables`, may: { project: 40 }, needs: ['pipeline'], answer: [200, listOf(variable)] },
  { call: `GET ${one}/test_report`, ...reads, answer: [200, testReport] },
  { call: `GET ${one}/test_report_summary`, ...reads, answer: [200, testReportSummary] },
  {
    call: `PUT ${one}/metadata`,
    may: { project: 30 },
    needs: ['pipeline'],
    send: { name: 'Release' },
    answer: [200, pipeline],
    job: true,
  },
  ...['pipeline', 'pipelines/:pipeline_id/retry', 'pipelines/:pipeline_id/cancel'].map(refused),
  ...['play', 'retry', 'cancel', 'erase'].map((action) => refused(`jobs/:job_id/${action}`)),
  { call: 'GET /projects/:id/jobs/:job_id/trace', ...reads, answer: [200, 'text'], mayBeEmpty: true },
  { call: 'GET /job', may: 'signed in', answer: [404, { exactly: { message: 'text' } }], job: true },
  { call: 'GET /projects/:id/jobs', ...reads, answer: [200, listOf(job)] },
  { call: 'GET /projects/:id/jobs/:job_id', ...reads, answer: [200, job] },
  { call: `DELETE ${one}`, may: { project: 50 }, answer: [204], needs: ['pipeline'] },
  {
    call: 'GET /projects/:id/pipeline_export',
    may: { project: 40 },
    answer: [200, pipelineExport],
  },
]
