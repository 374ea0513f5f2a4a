import { describe, expect, test } from 'vitest'
import { capturedBody } from './forge/foreign-bodies.ts'
import { readInput } from './read-input.ts'
import { expectedBody } from './recognise.ts'
import { OtherHookError, RecordError } from './record/record-error.ts'

const canary = 'canary-2c7b'
const pipeline = { id: 31, status: 'success', sha: 'f'.repeat(40), ref: 'main' }
const restJob = { id: 380, name: 'unit', stage: 'test', status: 'success', pipeline }

function failureOf(body: object): RecordError {
  try {
    readInput(body, { receivedAtNs: undefined })
  } catch (error) {
    if (error instanceof RecordError) return error
    throw error
  }
  throw new Error('was read')
}

describe('bodies that are mistaken for records are refused with advice', () => {
  test.each<[string, object, string]>([
    ['a REST job', restJob, 'is a job of the REST API (job 380 of pipeline 31)'],
    ['a REST bridge', { ...restJob, downstream_pipeline: null }, 'is a job of the REST API (job 380 of pipeline 31)'],
    [
      'a job without its pipeline',
      { id: 380, name: canary, stage: 'test', status: 'success' },
      'is a job (380) that does not',
    ],
    [
      'a REST pipeline',
      pipeline,
      'is a pipeline of the REST API (31) without its jobs: fetch .../pipelines/31/jobs?include_retried=true and .../pipelines/31/bridges',
    ],
    ['a REST pipeline, and the command that fetches jobs', pipeline, 'or use penstock backfill'],
    ['a REST pipeline with an environment', { ...pipeline, environment: canary }, 'is a pipeline of the REST'],
    [
      'a REST deployment',
      { id: 9, iid: 1, sha: 'f', status: 'success', environment: { name: canary }, deployable: restJob },
      'is a deployment of the REST API (9), not a pipeline: give { project, pipeline, jobs, bridges } of pipeline 31, which it belongs to',
    ],
    [
      'a REST deployment without a job',
      { id: 9, iid: 1, sha: 'f', status: 'created', environment: { name: canary }, deployable: null },
      'is a deployment of the REST API (9), not a pipeline: give { project, pipeline, jobs, bridges } of the pipeline',
    ],
    [
      'a REST pipeline schedule',
      { id: 13, ref: 'main', cron: '* * * * *', last_pipeline: { id: 332, status: 'success' } },
      'is a pipeline schedule of the REST API (13), not a pipeline',
    ],
    [
      'a REST test report',
      { total_time: 5, total_count: 1, failed_count: 0, test_suites: [{ name: canary }] },
      'is the test report of a pipeline, which is not read',
    ],
    [
      'a REST test report summary',
      { total: { time: 5, count: 1 }, test_suites: [{ name: canary, build_ids: [380] }] },
      'is the test report of a pipeline, which is not read',
    ],
    ['a list of GitHub check runs', { total_count: 1, check_runs: [{ id: 1 }] }, 'is a list of GitHub'],
    ['a list of GitHub check suites', { total_count: 0, check_suites: [] }, 'is a list of GitHub'],
    ['a REST project', { id: 1, name: canary, path_with_namespace: 'g/p' }, 'is a project of the REST API'],
    [
      'a GitHub run',
      { id: 1, name: canary, run_number: 2, run_attempt: 1, head_sha: 'f' },
      'is a run of GitHub Actions (1) without',
    ],
    ['a GitHub job', { id: 1, name: canary, run_id: 2, head_sha: 'f' }, 'is a job of GitHub Actions (1) without'],
    [
      'a GitHub run in a bundle without jobs',
      { run: { id: 1, run_number: 2, workflow_id: 3, head_sha: 'f' } },
      'as jobs',
    ],
    ['a GitHub check', { check_run: { id: 1, name: canary } }, 'is a check of GitHub'],
    [
      'a Forgejo run',
      { id: 1, title: canary, index_in_repo: 2, commit_sha: 'f' },
      'is a run of Forgejo without its jobs',
    ],
    [
      'a Forgejo job',
      { id: 1, name: canary, status: 'success', task_id: 3, runs_on: [] },
      'is a job of Forgejo without',
    ],
    ['a list of GitHub runs', { total_count: 1, workflow_runs: [{ id: 1 }] }, '{ run, jobs } for each of the runs'],
    ['a list of GitHub jobs', { total_count: 1, jobs: [{ id: 1 }] }, 'with this list as jobs and their run as run'],
    ['a captured request', { headers: { a: canary }, body: { object_kind: 'pipeline' } }, 'is a captured request'],
    ['a captured request as text', { headers: {}, body: canary }, 'is a captured request'],
    ['OTLP', { resourceSpans: [] }, 'is OTLP already'],
    ['a CloudEvent', { specversion: '1.0', data: {} }, 'is an event envelope (CloudEvents)'],
    ['a GraphQL answer', { data: { project: null } }, 'is an answer of a GraphQL API'],
    ['GraphQL errors', { errors: [{ message: canary }] }, 'is an answer of a GraphQL API'],
    ['an API error', { message: '401 Unauthorized' }, 'is an error answer of an API (401), not a record'],
    [
      'an API error of OAuth',
      { error: 'invalid_token', error_description: canary },
      'is an error answer of an API, not',
    ],
    ['an API error in words', { error: '404 Not Found' }, 'is an error answer of an API (404), not a record'],
    ['validation errors', { message: { name: [canary] } }, 'is an error answer of an API, not a record'],
  ])('%s', (_, body, advice) => {
    const failure = failureOf(body)
    expect(failure.message).toContain(advice)
    expect(failure.message).not.toContain(canary)
    expect(failure).not.toBeInstanceOf(OtherHookError)
  })
})

test.each<[string, object]>([
  ['a count alone', { total_count: 1, items: [] }],
  ['a list of jobs without a count', { jobs: [{ id: 1 }] }],
  ['a run that is a name', { workflow_run: 'nightly' }],
  ['a repository of Bitbucket', { actor: {}, repository: { full_name: 'g/p', links: {} } }],
])('%s is not recognised as a payload of GitHub', (_, body) => {
  expect(failureOf(body).reason).toBe(expectedBody)
})

describe('hooks about other events are distinguished from invalid bodies', () => {
  test.each<[object, string]>([
    [{ object_kind: 'push', ref: 'main' }, '"push"'],
    [{ object_kind: 'deployment', status: 'success', deployable_id: 380 }, '"deployment"'],
    [{ object_kind: 'merge_request', object_attributes: { id: 1, state: 'opened' } }, '"merge_request"'],
    [{ event_name: 'project_create', name: canary }, '"project_create"'],
    [{ ref: canary, pusher: {}, repository: { id: 1, full_name: canary }, sender: {} }, 'push'],
    [{ action: 'completed', check_run: {}, repository: { full_name: canary }, sender: {} }, 'check_run'],
    [{ action: canary, repository: { full_name: canary }, sender: {} }, 'another event'],
    [{ zen: canary, hook: {}, sender: {} }, 'ping'],
    [{ object_kind: `${'x'.repeat(50)}\n` }, `"${'x'.repeat(38)}…`],
  ])('%j', (body, event) => {
    const failure = failureOf(body)
    expect(failure).toBeInstanceOf(OtherHookError)
    expect(failure).toMatchObject({ event })
    expect(failure.message).not.toContain(canary)
  })
})

test('a job hook without object_kind, as relays send it, is recognised by its shape', () => {
  const body = { build_id: 380, build_status: 'success', pipeline_id: 31 }
  expect(readInput(body, { receivedAtNs: undefined }).kind).toBe('job')
})

test.each<[object, unknown]>([
  [{ headers: {}, body: { a: 1 } }, { a: 1 }],
  [{ headers: [], body: '{}' }, '{}'],
  [{ headers: {}, payload: { a: 1 } }, { a: 1 }],
  [{ headers: {}, content: '{}' }, '{}'],
  [{ request_headers: {}, request_data: { a: 1 }, response_status: '200' }, { a: 1 }],
  [{ headers: {}, body: 'e30=', isBase64Encoded: true }, '{}'],
  [{ headers: {}, body: null }, undefined],
  [{ headers: 'x', body: {} }, undefined],
  [{ body: {} }, undefined],
])('returns the body captured in %j', (values, body) => expect(capturedBody(values as never)).toEqual(body))
