import { describe, expect, test } from 'vitest'
import { readInput } from '../read-input.ts'
import { groupRestJobs, isRestJob, type RestJob } from './rest-jobs.ts'

const webUrl = (id: number, host = 'ci.example.com') => `https://${host}/g/p/-/pipelines/${id}`
const pipelineOf = (id: number, more: object = {}) => ({
  id,
  project_id: 42,
  status: 'success',
  sha: 'f'.repeat(40),
  web_url: webUrl(id),
  ...more,
})
const hookJob = (id: number, pipeline: object, more: object = {}): RestJob =>
  ({ id, name: `job-${id}`, stage: 'test', status: 'success', pipeline, ...more }) as unknown as RestJob

describe('recognising a REST job', () => {
  test.each<[string, unknown, boolean]>([
    ['a job', hookJob(1, pipelineOf(31)), true],
    ['a bundle', { pipeline: pipelineOf(31), jobs: [] }, false],
    ['a bundle of the pipeline alone', { pipeline: pipelineOf(31) }, false],
    ['a bundle with a name and an id', { id: 1, name: 'x', status: 'y', pipeline: pipelineOf(31), jobs: [] }, false],
    ['a job without its pipeline', { id: 1, name: 'x', status: 'success' }, false],
    ['a package', { id: 1, name: 'x', package_type: 'npm', status: 'default', pipeline: pipelineOf(31) }, false],
    ['a list', [hookJob(1, pipelineOf(31))], false],
    ['null', null, false],
  ])('%s', (_, body, expected) => expect(isRestJob(body)).toBe(expected))
})

test('jobs become one bundle per pipeline, in order of the first job of each', () => {
  const jobs = [hookJob(3, pipelineOf(32)), hookJob(1, pipelineOf(31)), hookJob(4, pipelineOf(32))]
  expect(groupRestJobs(jobs)).toEqual([
    { firstIndex: 0, body: { pipeline: jobs[0]?.pipeline, jobs: [jobs[0], jobs[2]] } },
    { firstIndex: 1, body: { pipeline: jobs[1]?.pipeline, jobs: [jobs[1]] } },
  ])
})

test('bridges are listed as bridges', () => {
  const bridge = hookJob(2, pipelineOf(31), { downstream_pipeline: { id: 40, project_id: 42, web_url: webUrl(40) } })
  const [group] = groupRestJobs([hookJob(1, pipelineOf(31)), bridge])
  const input = readInput(group?.body, { receivedAtNs: undefined })
  expect(input).toMatchObject({
    warnings: { total: 0 },
    record: {
      id: 31n,
      bridgesListed: true,
      project: { id: 42n, webUrl: 'https://ci.example.com/g/p' },
      jobs: [
        { id: 1n, bridge: false },
        {
          id: 2n,
          bridge: true,
          downstream: { pipelineId: 40n, projectId: 42n, projectWebUrl: 'https://ci.example.com/g/p' },
        },
      ],
    },
  })
})

test('the project is read from jobs of a runner if their pipeline has none', () => {
  const pipeline = { id: 31, sha: 'f', ref: 'main', status: 'success' }
  const project = { id: 42, name: 'Loom', path_with_namespace: 'g/p' }
  const [group] = groupRestJobs([hookJob(1, pipeline, { project })])
  expect(readInput(group?.body, { receivedAtNs: undefined })).toMatchObject({
    record: { project: { id: 42n, name: 'Loom', path: 'g/p', webUrl: undefined } },
  })
})

test('a project without a name or an id, as in jobs of newer versions, does not hide other values', () => {
  const job = hookJob(1, pipelineOf(31, { web_url: undefined }), {
    project: { ci_job_token_scope_enabled: false },
    web_url: 'https://ci.example.com/g/p/-/jobs/1',
  })
  const [group] = groupRestJobs([job])
  expect(readInput(group?.body, { receivedAtNs: undefined })).toMatchObject({
    warnings: { total: 0 },
    record: { project: { id: 42n, webUrl: 'https://ci.example.com/g/p' } },
  })
})

test('the latest state of the pipeline is used', () => {
  const jobs = [
    hookJob(2, pipelineOf(31, { status: 'running', updated_at: '2026-01-05T10:00:00.000Z' })),
    hookJob(1, pipelineOf(31, { status: 'success', updated_at: '2026-01-05T10:05:00.000Z' })),
    hookJob(0, pipelineOf(31, { status: 'pending', updated_at: '2026-01-05T09:05:00.000Z' })),
  ]
  expect(groupRestJobs(jobs)).toMatchObject([{ body: { pipeline: { status: 'success' } } }])
})

describe('jobs that disagree on the status of their pipeline', () => {
  const warningsOf = (jobs: readonly RestJob[]) =>
    readInput(groupRestJobs(jobs)[0]?.body, { receivedAtNs: undefined }).warnings.items

  test('cause a warning if updated_at is missing', () => {
    const jobs = [hookJob(2, pipelineOf(31, { status: 'running' })), hookJob(1, pipelineOf(31))]
    const reason = 'is "running", but the pipeline of a job is "success", and no updated_at says which is newer'
    expect(warningsOf(jobs)).toEqual([{ path: 'pipeline.status', reason }])
  })

  test('cause no warning if updated_at decides', () => {
    const running = pipelineOf(31, { status: 'running', updated_at: '2026-01-05T10:00:00.000Z' })
    const success = pipelineOf(31, { updated_at: '2026-01-05T10:05:00.000Z' })
    expect(warningsOf([hookJob(2, running), hookJob(1, success)])).toEqual([])
  })
})

test('the same pipeline id in two instances or projects gives two pipelines', () => {
  const one = hookJob(1, pipelineOf(31))
  const other = hookJob(1, pipelineOf(31, { web_url: webUrl(31, 'other.example.com') }))
  expect(groupRestJobs([one, other])).toHaveLength(2)
  const bare = (project_id: number) => hookJob(1, pipelineOf(31, { project_id, web_url: undefined }))
  expect(groupRestJobs([bare(1), bare(2), bare(1)])).toHaveLength(2)
})

test('the URL of the project is derived from the URL of the job if the pipeline has none', () => {
  const job = hookJob(1, pipelineOf(31, { web_url: null }), { web_url: 'https://ci.example.com/g/p/-/jobs/1' })
  const [group] = groupRestJobs([job])
  expect(readInput(group?.body, { receivedAtNs: undefined })).toMatchObject({
    record: { url: webUrl(31), project: { id: 42n, webUrl: 'https://ci.example.com/g/p' } },
  })
})
