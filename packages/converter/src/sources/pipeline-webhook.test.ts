import { describe, expect, test } from 'vitest'
import type { JobRecord, PipelineRecord } from '../record.ts'
import { readInput } from './input.ts'

const attributes = { id: 31, status: 'success' }

function read(hook: object, receivedAtNs?: bigint) {
  const input = readInput({ object_kind: 'pipeline', object_attributes: attributes, ...hook }, { receivedAtNs })
  if (input.kind !== 'pipeline') throw new Error('no pipeline')
  return { record: input.record, warned: input.warnings.items.map((warning) => warning.path) }
}

const recordOf = (hook: object): PipelineRecord => read(hook).record
const runOf = (fields: object): PipelineRecord => recordOf({ object_attributes: { ...attributes, ...fields } })
const jobOf = (fields: object): JobRecord => recordOf({ builds: [{ id: 380, status: 'success', ...fields }] }).jobs[0]!

test('reads every field of a hook', () => {
  const { record, warned } = read(
    {
      object_attributes: {
        id: 31,
        iid: 3,
        name: 'Nightly',
        ref: 'main',
        tag: false,
        sha: 'bcbb5ec396a2c0f828686f14fac9b80b780504f2',
        before_sha: 'a61c264c5dee1086abf9dc809f1c6971d07ceeba',
        source: 'schedule',
        status: 'success',
        detailed_status: 'passed with warnings',
        stages: ['build', 'test'],
        created_at: '2016-08-12 15:23:28 UTC',
        finished_at: '2016-08-12 15:26:29 UTC',
        duration: 63,
        queued_duration: 10,
        protected_ref: true,
        variables: [{ key: 'TOKEN', value: 'canary' }],
        url: 'https://ci.example.com/g/p/-/pipelines/31',
        root_pipeline_id: 30,
      },
      merge_request: { id: 9, iid: 7, title: 'Faster', state: 'opened', target_branch: 'main', source_branch: 'fast' },
      user: { id: 1, name: 'Ada', username: 'ada', email: 'ada@example.com' },
      project: {
        id: 42,
        name: 'Loom',
        web_url: 'https://ci.example.com/g/p',
        namespace: 'Group',
        path_with_namespace: 'g/p',
      },
      commit: { id: 'bcbb5ec396a2c0f828686f14fac9b80b780504f2', message: 'Fix\n\nMore\n', title: 'Fix' },
      source_pipeline: { project: { id: 42, web_url: 'https://ci.example.com/g/p' }, pipeline_id: 30, job_id: 300 },
      builds: [
        {
          id: 380,
          stage: 'test',
          name: 'unit',
          status: 'failed',
          created_at: '2016-08-12 15:23:28 UTC',
          started_at: '2016-08-12 15:26:12 UTC',
          finished_at: '2016-08-12 15:26:29 UTC',
          duration: 17.5,
          queued_duration: 0.25,
          failure_reason: 'script_failure',
          when: 'on_success',
          manual: false,
          allow_failure: true,
          user: { id: 1, username: 'ada' },
          runner: {
            id: 6,
            description: 'shared-6',
            active: true,
            is_shared: true,
            runner_type: 'instance_type',
            tags: ['linux'],
          },
          artifacts_file: { filename: 'a.zip', size: 1000 },
          environment: { name: 'staging', action: 'start', deployment_tier: 'staging' },
        },
      ],
      bridges: [{ id: 381, stage: 'test', name: 'child', status: 'running' }],
    },
    1_471_015_590_000_000_000n,
  )
  expect(warned).toEqual([])
  expect(record).toEqual({
    id: 31n,
    iid: 3n,
    name: 'Nightly',
    status: 'success',
    detailedStatus: 'passed with warnings',
    ref: 'main',
    tag: false,
    sha: 'bcbb5ec396a2c0f828686f14fac9b80b780504f2',
    beforeSha: 'a61c264c5dee1086abf9dc809f1c6971d07ceeba',
    source: 'schedule',
    stages: ['build', 'test'],
    createdAtNs: 1_471_015_408_000_000_000n,
    startedAtNs: undefined,
    updatedAtNs: undefined,
    finishedAtNs: 1_471_015_589_000_000_000n,
    durationSeconds: 63,
    queuedSeconds: 10,
    protectedRef: true,
    url: 'https://ci.example.com/g/p/-/pipelines/31',
    failureReason: undefined,
    rootPipelineId: 30n,
    upstream: {
      pipelineId: 30n,
      bridgeId: 300n,
      otherProject: false,
      projectWebUrl: 'https://ci.example.com/g/p',
      projectId: 42n,
    },
    mergeRequest: { id: 9n, iid: 7n, title: 'Faster', state: 'opened', draft: false, targetBranch: 'main' },
    user: { id: 1n, username: 'ada' },
    commit: { id: 'bcbb5ec396a2c0f828686f14fac9b80b780504f2', title: 'Fix', message: 'Fix\n\nMore\n' },
    project: { id: 42n, name: 'Loom', webUrl: 'https://ci.example.com/g/p', path: 'g/p' },
    jobs: [
      {
        id: 380n,
        bridge: false,
        name: 'unit',
        stage: 'test',
        status: 'failed',
        createdAtNs: 1_471_015_408_000_000_000n,
        startedAtNs: 1_471_015_572_000_000_000n,
        finishedAtNs: 1_471_015_589_000_000_000n,
        durationSeconds: 17.5,
        queuedSeconds: 0.25,
        failureReason: 'script_failure',
        when: 'on_success',
        manual: false,
        allowFailure: true,
        url: 'https://ci.example.com/g/p/-/jobs/380',
        user: { id: 1n, username: 'ada' },
        runner: {
          id: 6n,
          description: 'shared-6',
          tags: ['linux'],
          type: 'instance_type',
          active: true,
          isShared: true,
        },
        artifacts: { filename: 'a.zip', size: 1000n },
        environment: { name: 'staging', action: 'start', deploymentTier: 'staging' },
        attempt: undefined,
        previousAttemptId: undefined,
        effective: true,
      },
      {
        id: 381n,
        bridge: true,
        name: 'child',
        stage: 'test',
        status: 'running',
        createdAtNs: undefined,
        startedAtNs: undefined,
        finishedAtNs: undefined,
        durationSeconds: undefined,
        queuedSeconds: undefined,
        failureReason: undefined,
        when: undefined,
        manual: undefined,
        allowFailure: false,
        url: 'https://ci.example.com/g/p/-/jobs/381',
        user: undefined,
        runner: undefined,
        artifacts: undefined,
        environment: undefined,
        attempt: undefined,
        previousAttemptId: undefined,
        effective: true,
      },
    ],
    bridgesListed: true,
    receivedAtNs: 1_471_015_590_000_000_000n,
  })
})

test('the record of a minimal hook has every key', () => {
  const record = recordOf({})
  expect(Object.keys(record)).toEqual(Object.keys(runOf({ iid: 3, ref: 'main' })))
  expect(record).toMatchObject({
    id: 31n,
    status: 'success',
    stages: [],
    jobs: [],
    bridgesListed: false,
    url: undefined,
    project: { id: undefined, name: undefined, webUrl: undefined, path: undefined },
  })
})

describe('pipeline fields', () => {
  test('edge 3: an alias becomes the canonical status', () => {
    expect(runOf({ status: 'Failure' }).status).toBe('failed')
    expect(runOf({ status: 'cancelled' }).status).toBe('canceled')
  })

  test('edge 4: an unknown status is unchanged', () => expect(runOf({ status: 'shelved' }).status).toBe('shelved'))

  test('edge 11: an impossible date is absent, with a warning', () => {
    const { record, warned } = read({
      object_attributes: { ...attributes, created_at: '2021-13-40 00:00:00 UTC', finished_at: '' },
    })
    expect(record).toMatchObject({ createdAtNs: undefined, finishedAtNs: undefined })
    expect(warned).toEqual(['object_attributes.created_at'])
  })

  test('edge 18: duration 0 is kept', () => expect(runOf({ duration: 0 }).durationSeconds).toBe(0))

  test('edge 22: a queue time of null is absent', () => {
    expect(runOf({ queued_duration: null }).queuedSeconds).toBeUndefined()
  })

  test('edges 26, 27: null and blank names are absent', () => {
    expect(runOf({ name: null, ref: ' ' })).toMatchObject({ name: undefined, ref: undefined })
  })

  test('edge 28: commit and user null, user without id', () => {
    expect(recordOf({ commit: null, user: null })).toMatchObject({ commit: undefined, user: undefined })
    expect(recordOf({ user: { username: 'ada' } }).user).toEqual({ id: undefined, username: 'ada' })
    expect(recordOf({ commit: {}, user: {} })).toMatchObject({ commit: undefined, user: undefined })
  })

  test.each([
    [{ tag: true, ref: 'v1' }, true],
    [{ tag: false, ref: 'refs/tags/v1' }, false],
    [{ ref: 'refs/tags/v1' }, true],
    [{ ref: 'refs/heads/main' }, false],
    [{ ref: 'main' }, undefined],
  ])('edge 32: %j is a tag: %s', (fields, expected) => {
    expect(runOf(fields)).toMatchObject({ tag: expected, ref: fields.ref })
  })

  test.each([
    [{ title: 'Draft: x' }, true],
    [{ title: '[Draft] x' }, true],
    [{ title: '(draft) x' }, true],
    [{ title: 'WIP: x' }, true],
    [{ title: 'x', draft: true }, true],
    [{ title: 'x', work_in_progress: true }, true],
    [{ title: 'Drafting rules' }, false],
    [{ title: 'x', draft: false }, false],
  ])('edge 35: %j is a draft: %s', (request, expected) => {
    expect(recordOf({ merge_request: request }).mergeRequest).toMatchObject({ draft: expected, title: request.title })
  })

  test('edge 34: a merge request with only an iid and branches', () => {
    expect(recordOf({ merge_request: { iid: 7, source_branch: 'a', target_branch: 'main' } }).mergeRequest).toEqual({
      id: undefined,
      iid: 7n,
      title: undefined,
      state: undefined,
      draft: false,
      targetBranch: 'main',
    })
    expect(recordOf({ merge_request: {} }).mergeRequest).toBeUndefined()
  })

  test('edge 36: a before_sha of zeros is absent', () => {
    expect(runOf({ before_sha: '0'.repeat(40) }).beforeSha).toBeUndefined()
    expect(runOf({ before_sha: '0'.repeat(64) }).beforeSha).toBeUndefined()
    expect(runOf({ before_sha: '0a' }).beforeSha).toBe('0a')
  })

  test('edge 37: no builds, null or empty', () => {
    for (const builds of [undefined, null, []]) expect(recordOf({ builds }).jobs).toEqual([])
  })

  test('edge 50: a project without id or path', () => {
    expect(recordOf({ project: { name: 'Loom' } }).project).toEqual({
      id: undefined,
      name: 'Loom',
      webUrl: undefined,
      path: undefined,
    })
    expect(recordOf({ project: null }).project.name).toBeUndefined()
  })

  test('edge 50: without a project, its URL is derived from the URL of the pipeline', () => {
    const url = 'https://ci.example.com/g/p/-/pipelines/31'
    expect(runOf({ url })).toMatchObject({ url, project: { webUrl: 'https://ci.example.com/g/p' } })
  })

  test('edge 51: the URL of the pipeline is derived from the normalised URL of the project', () => {
    const project = { web_url: ' https://ci.example.com/gitlab/g/p.git/ ' }
    const { record } = read({ project, builds: [{ id: 380, status: 'success' }] })
    expect(record.project.webUrl).toBe('https://ci.example.com/gitlab/g/p')
    expect(record.url).toBe('https://ci.example.com/gitlab/g/p/-/pipelines/31')
    expect(record.jobs[0]?.url).toBe('https://ci.example.com/gitlab/g/p/-/jobs/380')
  })

  test('edge 55: only a failed pipeline keeps its failure reason', () => {
    expect(runOf({ status: 'failed', failure_reason: 'config_error' }).failureReason).toBe('config_error')
    expect(runOf({ status: 'success', failure_reason: 'config_error' }).failureReason).toBeUndefined()
  })

  test('edge 57: an end far from the time of receipt is kept, with a warning', () => {
    const hook = { object_attributes: { ...attributes, finished_at: '2016-08-12 15:23:28 UTC' } }
    const endNs = 1_471_015_408_000_000_000n
    const dayNs = 86_400_000_000_000n
    expect(read(hook).warned).toEqual([])
    expect(read(hook, endNs + dayNs).warned).toEqual([])
    for (const receivedAtNs of [endNs - dayNs, endNs + 8n * dayNs]) {
      const { record, warned } = read(hook, receivedAtNs)
      expect(record.finishedAtNs).toBe(endNs)
      expect(warned).toEqual(['object_attributes.finished_at'])
    }
  })
})

describe('job fields', () => {
  test('edge 12: null times are absent', () => {
    expect(jobOf({ status: 'skipped', started_at: null, finished_at: null, duration: null })).toMatchObject({
      startedAtNs: undefined,
      finishedAtNs: undefined,
      durationSeconds: undefined,
    })
  })

  test('edge 13: a skipped job keeps its duration and its runner', () => {
    expect(jobOf({ status: 'skipped', duration: 4.5, runner: { id: 6 } })).toMatchObject({
      status: 'skipped',
      durationSeconds: 4.5,
      runner: { id: 6n },
    })
  })

  test('edge 16: a finish before the start is kept', () => {
    const job = jobOf({ started_at: '2026-01-05T10:00:01Z', finished_at: '2026-01-05T10:00:00Z' })
    expect(job.startedAtNs! - job.finishedAtNs!).toBe(1_000_000_000n)
  })

  test.each([
    [0.173, 0.173],
    [17.0, 17],
    [0, 0],
    [-1, undefined],
    ['17', undefined],
  ])('edges 18 to 21: a duration of %s', (duration, expected) => {
    expect(jobOf({ duration }).durationSeconds).toBe(expected)
  })

  test('edge 23: runners with few fields', () => {
    expect(jobOf({ runner: null }).runner).toBeUndefined()
    expect(jobOf({ runner: { id: 0, description: '', active: false } }).runner).toBeUndefined()
    expect(jobOf({ runner: { id: 6 } }).runner).toEqual({
      id: 6n,
      description: undefined,
      tags: [],
      type: undefined,
      active: undefined,
      isShared: undefined,
    })
    expect(jobOf({ runner: { id: 6, paused: true } }).runner?.active).toBe(false)
    expect(jobOf({ runner: { id: 6, paused: true, active: true } }).runner?.active).toBe(true)
  })

  test('edge 24: artifacts and environments with few fields', () => {
    expect(jobOf({ artifacts_file: { filename: null, size: null }, environment: {} })).toMatchObject({
      artifacts: undefined,
      environment: undefined,
    })
    expect(jobOf({ artifacts_file: { filename: null, size: 0 } }).artifacts).toBeUndefined()
    expect(jobOf({ artifacts_file: { filename: '', size: '0' } }).artifacts).toBeUndefined()
    expect(jobOf({ artifacts_file: { filename: 'a.zip', size: 0 } }).artifacts).toMatchObject({ size: 0n })
    expect(jobOf({ artifacts_file: { size: 2048 }, environment: { name: 'staging' } })).toMatchObject({
      artifacts: { filename: undefined, size: 2048n },
      environment: { name: 'staging', action: undefined, deploymentTier: undefined },
    })
  })

  test('edge 25: the largest artifact', () => {
    expect(jobOf({ artifacts_file: { filename: 'a.zip', size: 9_223_372_036_854_775_807n } }).artifacts?.size).toBe(
      9_223_372_036_854_775_807n,
    )
  })

  test('edge 53: a job without a stage', () => expect(jobOf({ stage: '' }).stage).toBeUndefined())

  test('edge 56: the failure reason of a job that did not fail is ignored', () => {
    expect(jobOf({ status: 'success', failure_reason: 'unknown_failure' }).failureReason).toBeUndefined()
    expect(jobOf({ status: 'failure', failure_reason: 'unknown_failure' }).failureReason).toBe('unknown_failure')
  })

  test('a bridge among the builds is recognised by its flag', () => {
    const record = recordOf({ builds: [{ id: 380, status: 'success', bridge: true }] })
    expect(record.jobs[0]?.bridge).toBe(true)
    expect(record.bridgesListed).toBe(true)
  })

  test('edge 38: an empty list of bridges counts as listed', () => {
    expect(recordOf({ bridges: [] }).bridgesListed).toBe(true)
    expect(recordOf({ bridges: null }).bridgesListed).toBe(false)
  })

  test('edge 48: ids above 2^53 are exact', () => {
    const id = 9_007_199_254_740_993n
    expect(jobOf({ id })).toMatchObject({ id })
    expect(runOf({ id })).toMatchObject({ id })
  })
})

describe('upstream', () => {
  const upstreamOf = (source_pipeline: object, hook: object = {}) => read({ source_pipeline, ...hook })

  test('the id of the bridge is bridge_id, else job_id', () => {
    expect(upstreamOf({ pipeline_id: 30, job_id: 300, bridge_id: 301 }).record.upstream?.bridgeId).toBe(301n)
    expect(upstreamOf({ pipeline_id: 30, job_id: 300 }).record.upstream?.bridgeId).toBe(300n)
    expect(upstreamOf({ pipeline_id: 30 }).record.upstream?.bridgeId).toBeUndefined()
  })

  test.each([
    ['the ids', { id: 7 }, { id: 42 }, 'push', true],
    ['the ids', { id: 42, path_with_namespace: 'a/b' }, { id: 42, path_with_namespace: 'c/d' }, 'pipeline', false],
    ['the paths', { path_with_namespace: 'a/b' }, { id: 42, path_with_namespace: 'c/d' }, 'push', true],
    ['the addresses', { web_url: 'https://x.example/a/b/' }, { web_url: 'https://x.example/a/b' }, 'pipeline', false],
    ['the trigger types', {}, { id: 42 }, 'pipeline', true],
    ['the trigger types', {}, { id: 42 }, 'parent_pipeline', false],
  ])('edge 46: %s decide whether it belongs to another project', (_, theirs, ours, source, expected) => {
    const { record } = upstreamOf(
      { project: theirs, pipeline_id: 30 },
      { project: ours, object_attributes: { ...attributes, source } },
    )
    expect(record.upstream?.otherProject).toBe(expected)
  })

  test('edge 47: a pipeline that names itself has no upstream, with a warning', () => {
    const { record, warned } = upstreamOf({ pipeline_id: 31, job_id: 300 })
    expect(record.upstream).toBeUndefined()
    expect(warned).toEqual(['source_pipeline.pipeline_id'])
  })

  test('edge 49: without a usable pipeline id there is no upstream', () => {
    expect(upstreamOf({ pipeline_id: 0 })).toMatchObject({
      record: { upstream: undefined },
      warned: ['source_pipeline.pipeline_id'],
    })
    expect(upstreamOf({})).toMatchObject({ record: { upstream: undefined }, warned: [] })
  })
})
