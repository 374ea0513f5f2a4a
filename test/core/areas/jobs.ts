import { listOf, type Shape } from '../http-matrix-shapes.ts'
import type { MatrixArea } from '../matrix-area.ts'
import { pipelineMembers, pipelineReads, refused } from './pipelines.ts'

const jobMembers = {
  id: 'int',
  status: 'text',
  stage: 'text?',
  name: 'text?',
  ref: 'text?',
  tag: 'flag?',
  allow_failure: 'flag',
  created_at: 'time?',
  started_at: 'time?',
  finished_at: 'time?',
  duration: 'int?',
  queued_duration: 'int?',
  user: 'map?',
  commit: 'map?',
  pipeline: { has: pipelineMembers },
  web_url: 'text',
} as const
const job: Shape = { has: { ...jobMembers, runner: 'map?', artifacts: { listOf: 'map' } } }
const bridge: Shape = { has: { ...jobMembers, downstream_pipeline: 'map?' } }

const one = '/projects/:id/pipelines/:pipeline_id'

export const area: MatrixArea = {
  access: {},

  rows: [
    { call: `GET ${one}/jobs`, ...pipelineReads, answer: [200, listOf(job)] },
    { call: `GET ${one}/bridges`, ...pipelineReads, answer: [200, listOf(bridge)] },
    { call: 'GET /projects/:id/jobs/:job_id/trace', ...pipelineReads, answer: [200, 'text'], mayBeEmpty: true },
    { call: 'GET /job', may: 'signed in', answer: [404, { exactly: { message: 'text' } }], job: true },
    { call: 'GET /projects/:id/jobs', ...pipelineReads, answer: [200, listOf(job)] },
    { call: 'GET /projects/:id/jobs/:job_id', ...pipelineReads, answer: [200, job] },
    ...['play', 'retry', 'cancel', 'erase'].map((action) => refused(`jobs/:job_id/${action}`)),
  ],

  things: {},
}
