import { describe, expect, test } from 'vitest'
import { readInput } from '../read-input.ts'

const pipeline = { id: 31, status: 'success' }

function hookRecord(bundle: object) {
  const input = readInput(
    { pipeline, ...('builds' in bundle ? {} : { jobs: [] }), ...bundle },
    { receivedAtNs: undefined },
  )
  if (input.kind !== 'pipeline') throw new Error('no pipeline')
  return input.record
}
const hookJob = (fields: object) => hookRecord({ jobs: [{ id: 380, status: 'success', ...fields }] }).jobs[0]!

test('reads the fields that only REST has', () => {
  const record = hookRecord({
    project: { id: 42, name: 'Loom', path_with_namespace: 'g/p', web_url: 'https://ci.example.com/g/p' },
    pipeline: {
      ...pipeline,
      started_at: '2026-01-05T10:00:01.500Z',
      updated_at: '2026-01-05T10:00:09.000Z',
      web_url: 'https://ci.example.com/g/p/-/pipelines/31',
      detailed_status: { text: 'Passed', label: 'passed with warnings', group: 'success-with-warnings' },
      user: { id: 1, username: 'ada' },
    },
    jobs: [{ id: 380, status: 'success', web_url: 'https://ci.example.com/g/p/-/jobs/380?x', tag_list: ['linux'] }],
    bridges: [{ id: 381, status: 'success', downstream_pipeline: { id: 32 } }],
  })
  expect(record).toMatchObject({
    startedAtNs: 1_767_607_201_500_000_000n,
    updatedAtNs: 1_767_607_209_000_000_000n,
    url: 'https://ci.example.com/g/p/-/pipelines/31',
    detailedStatus: 'passed with warnings',
    user: { id: 1n, username: 'ada' },
    bridgesListed: true,
    jobs: [
      { id: 380n, bridge: false, url: 'https://ci.example.com/g/p/-/jobs/380?x', when: undefined, manual: undefined },
      { id: 381n, bridge: true, url: 'https://ci.example.com/g/p/-/jobs/381' },
    ],
  })
})

test('whether the ref is a tag is read from the jobs if the pipeline does not contain it', () => {
  const job = { id: 380, status: 'success' }
  expect(hookRecord({ jobs: [job, { ...job, id: 381, tag: true }] }).tag).toBe(true)
  expect(hookRecord({ jobs: [{ ...job, tag: false }] }).tag).toBe(false)
  expect(hookRecord({ builds: [{ ...job, tag: false }] }).tag).toBe(false)
  expect(hookRecord({ pipeline: { ...pipeline, tag: false }, jobs: [{ ...job, tag: true }] }).tag).toBe(false)
  expect(hookRecord({ jobs: [{ ...job, tag: 'v1' }] }).tag).toBeUndefined()
})

test('detailed_status is read from its label, its text, or a plain text', () => {
  expect(hookRecord({ pipeline: { ...pipeline, detailed_status: { text: 'Passed' } } }).detailedStatus).toBe('Passed')
  expect(hookRecord({ pipeline: { ...pipeline, detailed_status: 'passed' } }).detailedStatus).toBe('passed')
})

test('bridges that were not fetched are not treated as listed', () => {
  expect(hookRecord({ jobs: [] }).bridgesListed).toBe(false)
  expect(hookRecord({ jobs: [], bridges: [] }).bridgesListed).toBe(true)
})

test('id, URL, name and path of a missing project are read from the pipeline', () => {
  const run = { ...pipeline, project_id: 42, web_url: 'https://ci.example.com/g/p/-/pipelines/31' }
  expect(hookRecord({ pipeline: run }).project).toEqual({
    id: 42n,
    name: 'p',
    webUrl: 'https://ci.example.com/g/p',
    path: 'g/p',
  })
})

test('edge 25: the archive is chosen from several artifacts', () => {
  const artifacts = [
    { file_type: 'trace', size: 5, filename: 'job.log' },
    7,
    { file_type: 'archive', size: 9_223_372_036_854_775_807n, filename: 'a.zip' },
  ]
  expect(hookJob({ artifacts }).artifacts).toEqual({ filename: 'a.zip', size: 9_223_372_036_854_775_807n })
  expect(hookJob({ artifacts, artifacts_file: { filename: 'b.zip', size: 1 } }).artifacts?.filename).toBe('b.zip')
  expect(hookJob({ artifacts: [] }).artifacts).toBeUndefined()
})

test("edge 23: a job's tag_list is not read as the tags of its runner", () => {
  const runner = { id: 6, description: 'shared-6', paused: false, online: true, status: 'online' }
  expect(hookJob({ tag_list: ['linux'], runner }).runner).toMatchObject({ tags: [], active: true })
})

describe('edge 33: merge request pipelines', () => {
  test.each([
    ['refs/merge-requests/7/head', 7n],
    ['refs/merge-requests/7/merge', 7n],
    ['refs/merge-requests/0/head', undefined],
    ['refs/heads/merge-requests/7/head', undefined],
  ])('%s', (ref, iid) => {
    expect(hookRecord({ pipeline: { ...pipeline, ref } })).toMatchObject({
      ref,
      mergeRequest: iid && { iid, draft: false },
    })
  })

  test('a merge request in the bundle takes precedence', () => {
    const run = { ...pipeline, ref: 'refs/merge-requests/7/head' }
    expect(hookRecord({ pipeline: run, merge_request: { iid: 8, title: 'x' } }).mergeRequest).toMatchObject({ iid: 8n })
  })
})

test('stages are ordered by their lowest job id', () => {
  const jobs = [
    { id: 9, stage: 'build', status: 'success' },
    { id: 3, stage: 'test', status: 'success' },
    { id: 2, stage: 'build', status: 'failed' },
    { id: 4, status: 'success' },
  ]
  expect(hookRecord({ jobs, bridges: [{ id: 1, stage: '.pre', status: 'success' }] }).stages).toEqual([
    '.pre',
    'build',
    'test',
  ])
})

test('a blank coverage is missing, without a warning', () => {
  const body = { pipeline: { ...pipeline, coverage: '' }, jobs: [{ id: 380, status: 'success', coverage: '' }] }
  const input = readInput(body, { receivedAtNs: undefined })
  expect(input.warnings.items.filter(({ path }) => path.endsWith('coverage'))).toEqual([])
  expect(hookRecord(body).coverage).toBeUndefined()
})

test('the commit is read from the jobs', () => {
  const commit = { id: 'abc', title: 'Fix', message: 'Fix\n' }
  const jobs = [
    { id: 380, status: 'success', commit: { id: 'other' } },
    { id: 381, status: 'success', commit },
  ]
  expect(hookRecord({ pipeline: { ...pipeline, sha: 'abc' }, jobs }).commit).toEqual(commit)
  expect(hookRecord({ jobs }).commit).toBeUndefined()
})

test('edge 55: configuration errors are the failure reason of a failed pipeline', () => {
  const run = { ...pipeline, yaml_errors: 'jobs config should contain at least one visible job' }
  expect(hookRecord({ pipeline: { ...run, status: 'failed' } }).failureReason).toBe('config_error')
  expect(hookRecord({ pipeline: run }).failureReason).toBeUndefined()
})

test('jobs are also read from builds, the name in hooks', () => {
  expect(hookRecord({ builds: [{ id: 380, status: 'success' }] }).jobs).toHaveLength(1)
  expect(hookRecord({ jobs: [], builds: [{ id: 380, status: 'success' }] }).jobs).toEqual([])
})
