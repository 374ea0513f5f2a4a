import { describe, expect, test } from 'vitest'
import { at, attribute, attributes, convertFixture, keysOf, type Plain, resourceOf } from './exported-run.ts'

describe('durations', () => {
  test('edge 18: a duration of zero is exported as a double', () => {
    const { pipeline, jobs } = convertFixture('e18-pipeline-duration-zero')
    expect(attribute(pipeline, 'pipeline.duration')).toBe(0)
    expect(attribute(pipeline, 'svc.cicd.pipeline.run.duration')).toBe(0)
    expect(attribute(jobs.unit!, 'job.duration')).toBe(0.21)
    expect(attribute(convertFixture('e18-job-duration-zero').jobs.unit!, 'job.duration')).toBe(0)
  })

  test.each([
    ['e19-negative-durations', 4, []],
    ['e19-durations-as-words', 4, []],
    ['e19-duration-beyond-every-double', 2, ['pipeline.queued_duration', 'job.queued_duration']],
  ])('edge 19: the invalid durations of %s are absent and counted as warnings', (name, warnings, kept) => {
    const run = convertFixture(name)
    const legacy = ['pipeline.duration', 'pipeline.queued_duration', 'job.duration', 'job.queued_duration']
    const keys = [...keysOf(run.pipeline), ...keysOf(run.jobs.unit!)]
    expect(legacy.filter((key) => keys.includes(key))).toEqual(kept)
    expect(run.warnings.total).toBe(warnings)
  })

  test('edge 20: a duration of 173 milliseconds is 0.173 s', () => {
    const { jobs } = convertFixture('e20-job-of-173-milliseconds')
    expect(attribute(jobs.unit!, 'job.duration')).toBe(0.173)
    expect(attribute(jobs.unit!, 'svc.cicd.pipeline.task.run.duration')).toBe(0.173)
  })

  test('edge 21: a whole duration is a double, with or without a decimal point', () => {
    const { pipeline, jobs } = convertFixture('e21-duration-of-a-whole-number')
    expect(attribute(jobs['written-with-a-point']!, 'job.duration')).toBe(17)
    expect(attribute(jobs['written-without']!, 'job.duration')).toBe(17)
    expect(attribute(jobs['written-without']!, 'job.queued_duration')).toBe(3)
    expect(attribute(pipeline, 'pipeline.duration')).toBe(17)
    expect(attribute(pipeline, 'pipeline.queued_duration')).toBe(5)
  })

  test('edge 22: without a queue time there are no queue attributes', () => {
    const queued = (keys: string[]) => keys.filter((key) => key.includes('queued'))
    expect(queued(keysOf(convertFixture('e22-queued-less-than-a-second').pipeline))).toEqual([])
    expect(queued(keysOf(convertFixture('e22-job-without-queued-duration').jobs.unit!))).toEqual([])
  })
})

describe('runner', () => {
  const runnerKeys = /^(job\.runner\.|cicd\.worker\.|svc\.cicd\.(worker|runner)\.)/
  const runnerOf = (name: string): Record<string, Plain> => {
    const { jobs } = convertFixture(name)
    return Object.fromEntries(Object.entries(attributes(jobs.unit!)).filter(([key]) => runnerKeys.test(key)))
  }
  const bench = {
    'job.runner.id': 61n,
    'cicd.worker.id': '61',
    'job.runner.is_shared': false,
    'svc.cicd.runner.is_shared': false,
  }
  const described = { 'job.runner.description': 'kiln bench, arm64', 'cicd.worker.name': 'kiln bench, arm64' }
  const typed = { 'job.runner.type': 'project_type', 'svc.cicd.worker.type': 'project_type' }
  const active = { 'job.runner.active': true, 'cicd.worker.state': 'available' }
  const tags = ['arm64', 'bench']

  test.each([
    { name: 'e23-runner-null', keys: {} },
    { name: 'e23-runner-without-tags-type-and-active', keys: { ...bench, ...described } },
    { name: 'e23-runner-tags-empty', keys: { ...bench, ...described, ...typed, ...active } },
    {
      name: 'e23-runner-description-blank',
      keys: { ...bench, ...typed, ...active, 'job.runner.tags': tags, 'svc.cicd.worker.tags': tags },
    },
  ])('edge 23: runner attributes of $name', ({ name, keys }) => {
    expect(runnerOf(name)).toEqual(keys)
  })

  test('edge 23: a paused runner is offline', () => {
    expect(runnerOf('e23-runner-paused')).toMatchObject({ 'job.runner.active': false, 'cicd.worker.state': 'offline' })
  })
})

describe('artifacts and environment', () => {
  const matching = (owner: Parameters<typeof keysOf>[0], pattern: RegExp) =>
    keysOf(owner).filter((key) => pattern.test(key))

  test('edge 24: a job without artifacts, or with only their size', () => {
    expect(matching(convertFixture('e24-artifacts-file-null').jobs.unit!, /artifacts/)).toEqual([])
    expect(matching(convertFixture('e24-artifacts-size-without-filename').jobs.unit!, /artifacts/)).toEqual([])
    expect(matching(convertFixture('push-pipeline-five-jobs-three-stages').jobs.lint!, /artifacts/)).toEqual([])
  })

  test('edge 24: only the missing members of an environment are absent', () => {
    const { jobs } = convertFixture('e24-environment-without-tier')
    expect(matching(jobs['wave-1']!, /^job\.environment/)).toEqual(['job.environment.name', 'job.environment.action'])
    expect(matching(jobs['wave-2']!, /^job\.environment/)).toEqual(['job.environment.name', 'job.environment.action'])
    expect(matching(jobs['wave-3']!, /^job\.environment/)).toEqual([
      'job.environment.action',
      'job.environment.deployment_tier',
    ])
    expect(attribute(jobs['wave-3']!, 'job.environment.action')).toBe('stop')
  })

  test.each(['e25-artifact-of-the-largest-int64', 'e25-rest-artifact-of-the-largest-int64'])(
    'edge 25: the artifact size of %s is exact',
    (name) => {
      const { jobs } = convertFixture(name)
      expect(attributes(jobs.unit!)).toMatchObject({
        'job.artifacts.filename': 'soil-scan.zip',
        'job.artifacts.size': 9_223_372_036_854_775_807n,
        'svc.cicd.pipeline.task.artifacts.size': 9_223_372_036_854_775_807n,
      })
    },
  )
})

describe('names', () => {
  test.each(['e26-name-null-ref-present', 'e26-name-blank-ref-present'])(
    'edge 26: %s: the project lends its name, the ref stays out of it',
    (name) => {
      const { pipeline } = convertFixture(name)
      expect(pipeline.name).toBe('RUN tide-tables')
      expect(keysOf(pipeline)).not.toContain('pipeline.name')
      expect(attributes(pipeline)).toMatchObject({
        'cicd.pipeline.name': 'tide-tables',
        'pipeline.ref': 'feature/slack-water',
      })
    },
  )

  test('edge 27: without any name the span is called RUN', () => {
    const run = convertFixture('e27-name-ref-and-project-name-missing')
    expect(run.pipeline.name).toBe('RUN')
    expect(keysOf(run.pipeline).filter((key) => /name|\.ref$/.test(key) && !key.includes('user'))).toEqual([])
    expect(resourceOf(run)['service.name']).toBe('svc-ci')
    expect(resourceOf(run)).not.toHaveProperty('vcs.repository.name')
  })
})

describe('users, commits and refs', () => {
  const personal = (keys: string[]) =>
    keys.filter((key) => /user|commit|message/.test(key) && key.startsWith('pipeline'))

  test.each([
    ['e28-commit-null', ['pipeline.user.id', 'pipeline.user.username']],
    ['e28-user-null', ['pipeline.commit.id', 'pipeline.commit.message']],
    ['e28-user-without-id', ['pipeline.user.username', 'pipeline.commit.id', 'pipeline.commit.message']],
    ['e28-merge-request-user-and-commit-absent', []],
  ])('edge 28: %s has only the attributes %j', (name, keys) => {
    const run = convertFixture(name)
    expect(personal(keysOf(run.pipeline))).toEqual(keys)
    expect(run.warnings.total).toBe(0)
  })

  test('edge 32: a tag is marked as such, and its name may contain a slash', () => {
    expect(attributes(convertFixture('e32-tag-with-a-slash').pipeline)).toMatchObject({
      'pipeline.tag': true,
      'pipeline.ref': 'release/2026.2',
      'vcs.ref.head.name': 'release/2026.2',
      'vcs.ref.head.type': 'tag',
    })
  })

  test('edge 32: without a tag flag the ref has no type', () => {
    const keys = keysOf(convertFixture('e32-tag-flag-absent').pipeline)
    expect(keys).toContain('pipeline.ref')
    expect(keys).not.toContain('pipeline.tag')
    expect(keys).not.toContain('vcs.ref.head.type')
  })

  test('edge 33: a merge request is identified by its iid, and its target branch is the base', () => {
    expect(attributes(convertFixture('e33-merge-request-with-another-target-branch').pipeline)).toMatchObject({
      'pipeline.merge_request.id': 51033n,
      'pipeline.merge_request.iid': 7n,
      'vcs.change.id': '7',
      'vcs.ref.base.name': 'stable-4-11',
      'vcs.ref.base.type': 'branch',
      'vcs.ref.head.name': 'backport-overshoot',
    })
  })

  test('edge 33: in REST the iid of a merge request is taken from the ref', () => {
    const { pipeline } = convertFixture('e33-rest-merge-request-ref')
    expect(attributes(pipeline)).toMatchObject({ 'pipeline.merge_request.iid': 7n, 'vcs.change.id': '7' })
    expect(keysOf(pipeline)).not.toContain('pipeline.merge_request.id')
  })

  test('edge 34: a merge request with few members has only the known attributes', () => {
    const { pipeline } = convertFixture('e34-merge-request-with-only-iid-and-branches')
    const keys = keysOf(pipeline).filter((key) => /merge_request|change|base\.(name|type)/.test(key))
    expect(keys).toEqual(['pipeline.merge_request.iid', 'vcs.change.id', 'vcs.ref.base.name', 'vcs.ref.base.type'])
    expect(attribute(pipeline, 'vcs.change.id')).toBe('9')
    expect(attribute(pipeline, 'vcs.ref.base.name')).toBe('main')
  })

  test.each([
    ['e35-merge-request-locked', 'open'],
    ['e35-merge-request-draft-by-flag', 'wip'],
    ['e35-merge-request-draft-by-title', 'wip'],
    ['e35-merge-request-draft-and-locked', 'wip'],
    ['e35-merge-request-closed-while-draft', 'closed'],
    ['fork-merge-request-pipeline', 'merged'],
    ['merge-request-closed', 'closed'],
  ])('edge 35: the merge request of %s has the state %s', (name, state) => {
    expect(attribute(convertFixture(name).pipeline, 'vcs.change.state')).toBe(state)
  })

  test('edge 36: a revision of zeros is absent', () => {
    const keys = keysOf(convertFixture('e36-before-sha-all-zeros').pipeline)
    expect(keys).not.toContain('pipeline.before_sha')
    expect(keys).not.toContain('vcs.ref.base.revision')
  })
})

describe('project', () => {
  const url = 'https://git.example.com/ceramics/firmware/kiln-controller'

  test('edge 50: without a project id there is no repository id', () => {
    const resource = resourceOf(convertFixture('e50-project-without-id'))
    expect(resource).not.toHaveProperty('svc.vcs.repository.id')
    expect(resource['vcs.owner.name']).toBe('ceramics/firmware')
  })

  test.each(['e50-project-path-missing', 'e50-project-path-of-one-segment'])('edge 50: %s has no owner', (name) => {
    const resource = resourceOf(convertFixture(name))
    expect(resource).not.toHaveProperty('vcs.owner.name')
    expect(resource['svc.vcs.repository.id']).toBe('1187')
  })

  test('edge 50: without a project the pipeline URL determines repository URL and instance', () => {
    const run = convertFixture('e50-project-null')
    expect(resourceOf(run)).toEqual({
      'service.name': 'svc-ci',
      'service.version': '1.0.0',
      'deployment.environment': 'production',
      'deployment.environment.name': 'production',
      'vcs.provider.name': 'svc',
      'vcs.repository.url.full': url,
    })
    expect(run.pipeline.traceId).toBe('9b48cb0084d2df5bdb7a10edee42bb1e')
  })

  test.each([
    ['e51-web-url-ends-with-a-slash', url],
    ['e51-web-url-ends-with-dot-git', url],
    ['e51-relative-root-install', 'https://tools.example.net/gitlab/orchard/cider-press'],
    ['e51-host-with-its-own-port', 'https://forge.example.org:8443/nordlicht/braukessel'],
  ])('edge 51: the repository URL of %s is %s', (name, repository) => {
    const run = convertFixture(name)
    expect(resourceOf(run)['vcs.repository.url.full']).toBe(repository)
    const [job] = Object.values(run.jobs)
    expect(attribute(job!, 'cicd.pipeline.task.run.url.full')).toBe(`${repository}/-/jobs/${attribute(job!, 'job.id')}`)
  })

  test('edge 51: the URL of the pipeline is derived, with its path prefix', () => {
    const { pipeline } = convertFixture('e51-pipeline-url-absent')
    const derived = 'https://tools.example.net/gitlab/orchard/cider-press/-/pipelines/3309'
    expect(attribute(pipeline, 'pipeline.url')).toBe(derived)
    expect(attribute(pipeline, 'cicd.pipeline.run.url.full')).toBe(derived)
  })

  test.each([
    ['e51-relative-root-install', '5f94e166998d176766b61be75688dc3d'],
    ['e51-host-with-its-own-port', '91acc9eeaf10033c642d0c9b743cc79f'],
    ['e51-upper-case-host-with-default-port', 'ccef9717ec1b372b580f7b26b466aa89'],
  ])(
    'edge 51: the instance of %s is the lower-case host, with a port only if it is not the default',
    (name, traceId) => {
      expect(convertFixture(name).pipeline.traceId).toBe(traceId)
    },
  )
})

test('an optional field of a wrong type is absent and counted, and its neighbors are kept', () => {
  const run = convertFixture('wrong-typed-optional-fields')
  expect(keysOf(run.pipeline)).not.toContain('pipeline.iid')
  expect(keysOf(run.pipeline)).not.toContain('pipeline.tag')
  expect(keysOf(run.pipeline)).not.toContain('pipeline.stages')
  expect(keysOf(run.pipeline)).not.toContain('svc.cicd.pipeline.trigger.type')
  expect(attribute(run.pipeline, 'pipeline.ref')).toBe('main')
  expect(attribute(run.jobs.unit!, 'job.allow_failure')).toBe(false)
  expect(attribute(run.jobs.unit!, 'job.created_at')).toBe(at('09:20:14'))
  expect(run.warnings.items.map(({ path }) => path).sort()).toEqual([
    'builds[0].allow_failure',
    'builds[0].artifacts_file',
    'builds[0].environment',
    'builds[0].runner',
    'builds[0].when',
    'commit',
    'merge_request',
    'object_attributes.iid',
    'object_attributes.protected_ref',
    'object_attributes.source',
    'object_attributes.stages',
    'object_attributes.tag',
    'project.name',
  ])
})
