import { describe, expect, test } from 'vitest'
import { attributes, hookRecord, hookRun, read } from '../read-hook.harness.ts'

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
    forge: 'gitlab',
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
  const record = hookRecord({})
  expect(Object.keys(record)).toEqual(Object.keys(hookRun({ iid: 3, ref: 'main' })))
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
    expect(hookRun({ status: 'Failure' }).status).toBe('failed')
    expect(hookRun({ status: 'cancelled' }).status).toBe('canceled')
  })

  test('edge 4: an unknown status is unchanged', () => expect(hookRun({ status: 'shelved' }).status).toBe('shelved'))

  test('edge 11: an impossible date is absent, with a warning', () => {
    const { record, warned } = read({
      object_attributes: { ...attributes, created_at: '2021-13-40 00:00:00 UTC', finished_at: '' },
    })
    expect(record).toMatchObject({ createdAtNs: undefined, finishedAtNs: undefined })
    expect(warned).toEqual(['object_attributes.created_at'])
  })

  test('edge 18: duration 0 is kept', () => expect(hookRun({ duration: 0 }).durationSeconds).toBe(0))

  test('edge 22: a queue time of null is absent', () => {
    expect(hookRun({ queued_duration: null }).queuedSeconds).toBeUndefined()
  })

  test('edges 26, 27: null and blank names are absent', () => {
    expect(hookRun({ name: null, ref: ' ' })).toMatchObject({ name: undefined, ref: undefined })
  })

  test('edge 28: commit and user null, user without id', () => {
    expect(hookRecord({ commit: null, user: null })).toMatchObject({ commit: undefined, user: undefined })
    expect(hookRecord({ user: { username: 'ada' } }).user).toEqual({ id: undefined, username: 'ada' })
    expect(hookRecord({ commit: {}, user: {} })).toMatchObject({ commit: undefined, user: undefined })
  })

  test.each([
    [{ tag: true, ref: 'v1' }, true],
    [{ tag: false, ref: 'refs/tags/v1' }, false],
    [{ ref: 'refs/tags/v1' }, true],
    [{ ref: 'refs/heads/main' }, false],
    [{ ref: 'main' }, undefined],
  ])('edge 32: %j is a tag: %s', (fields, expected) => {
    expect(hookRun(fields)).toMatchObject({ tag: expected, ref: fields.ref })
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
    expect(hookRecord({ merge_request: request }).mergeRequest).toMatchObject({ draft: expected, title: request.title })
  })

  test('edge 34: a merge request with only an iid and branches', () => {
    expect(hookRecord({ merge_request: { iid: 7, source_branch: 'a', target_branch: 'main' } }).mergeRequest).toEqual({
      id: undefined,
      iid: 7n,
      title: undefined,
      state: undefined,
      draft: false,
      targetBranch: 'main',
    })
    expect(hookRecord({ merge_request: {} }).mergeRequest).toBeUndefined()
  })

  test('edge 36: a before_sha of zeros is absent', () => {
    expect(hookRun({ before_sha: '0'.repeat(40) }).beforeSha).toBeUndefined()
    expect(hookRun({ before_sha: '0'.repeat(64) }).beforeSha).toBeUndefined()
    expect(hookRun({ before_sha: '0a' }).beforeSha).toBe('0a')
  })

  test('edge 37: no builds, null or empty', () => {
    for (const builds of [undefined, null, []]) expect(hookRecord({ builds }).jobs).toEqual([])
  })

  test('edge 50: a project without id or path', () => {
    expect(hookRecord({ project: { name: 'Loom' } }).project).toEqual({
      id: undefined,
      name: 'Loom',
      webUrl: undefined,
      path: undefined,
    })
    expect(hookRecord({ project: null }).project.name).toBeUndefined()
  })

  test('edge 50: without a project, its URL is derived from the URL of the pipeline', () => {
    const url = 'https://ci.example.com/g/p/-/pipelines/31'
    expect(hookRun({ url })).toMatchObject({ url, project: { webUrl: 'https://ci.example.com/g/p' } })
  })

  test('edge 51: the URL of the pipeline is derived from the normalised URL of the project', () => {
    const project = { web_url: ' https://ci.example.com/gitlab/g/p.git/ ' }
    const { record } = read({ project, builds: [{ id: 380, status: 'success' }] })
    expect(record.project.webUrl).toBe('https://ci.example.com/gitlab/g/p')
    expect(record.url).toBe('https://ci.example.com/gitlab/g/p/-/pipelines/31')
    expect(record.jobs[0]?.url).toBe('https://ci.example.com/gitlab/g/p/-/jobs/380')
  })

  test('edge 55: only a failed pipeline keeps its failure reason', () => {
    expect(hookRun({ status: 'failed', failure_reason: 'config_error' }).failureReason).toBe('config_error')
    expect(hookRun({ status: 'success', failure_reason: 'config_error' }).failureReason).toBeUndefined()
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
