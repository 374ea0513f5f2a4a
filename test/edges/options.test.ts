import { describe, expect, test } from 'vitest'
import {
  at,
  attribute,
  attributes,
  bucketsOf,
  convertEachOfFixture,
  convertFixture,
  histogramsOf,
  keysOf,
  pointsOf,
  resourceOf,
  timesOf,
  valuesOf,
} from './exported-run.ts'

const push = 'push-pipeline-five-jobs-three-stages'

describe('names of the installation', () => {
  test('resourceServiceName, environment, instanceId', () => {
    const run = convertFixture(push, { resourceServiceName: 'svc-ci', environment: 'staging', instanceId: 'harbour' })
    expect(resourceOf(run)).toMatchObject({
      'service.name': 'svc-ci',
      'deployment.environment': 'staging',
      'deployment.environment.name': 'staging',
    })
    expect(run.pipeline).toMatchObject({
      traceId: '6039051f28f3ebdb5bbd56f7134dfb7a',
      spanId: '3dcd75d678ed1adb',
    })
  })

  test('vendorNamespace renames every key, metric and scope of the product, and no id', () => {
    const run = convertFixture(push, { vendorNamespace: 'gitlab', eventNames: true })
    expect(attribute(run.pipeline, 'gitlab.cicd.pipeline.stages')).toEqual(['build', 'test', 'deploy'])
    expect(resourceOf(run)).toHaveProperty('gitlab.vcs.repository.id')
    expect(resourceOf(run, 'metrics')['gitlab.cicd.pipeline.trace_id']).toBe('f09bd275a66f6824d2b176f2a52ef4b6')
    expect(run.metrics).toHaveProperty(['gitlab.cicd.pipeline.run.queued_duration'])
    expect(run.log.eventName).toBe('gitlab.cicd.pipeline.completed')
    const { traces, metrics, logs } = run.conversion
    expect([traces, metrics, logs].map(({ resources }) => resources[0]!.scopes[0]!.scope.name)).toEqual([
      'gitlab-ci-pipeline',
      'gitlab-ci-metrics',
      'gitlab-ci-logs',
    ])
    const text = JSON.stringify(run.conversion, (_, value) => (typeof value === 'bigint' ? String(value) : value))
    expect(text).not.toContain('"svc.')
  })

  test('providerName', () => {
    expect(resourceOf(convertFixture(push, { providerName: 'gitlab' }))['vcs.provider.name']).toBe('gitlab')
  })
})

describe('spans', () => {
  test('idScheme: native', () => {
    const run = convertFixture('parent-pipeline-with-bridges', { idScheme: 'native' })
    expect(run.pipeline.traceId).toBe('00000000000000000000000000005168')
    expect(run.jobs['kessel-nord']!.spanId).toBe('000000000002c3e4')
  })

  test('spanNames: native', () => {
    expect(convertFixture(push, { spanNames: 'native' }).pipeline.name).toBe('pipeline: main')
    expect(convertFixture('pipeline-with-workflow-name', { spanNames: 'native' }).pipeline.name).toBe(
      'pipeline: Tables for the winter season',
    )
  })

  test('spanKind: SERVER by default, INTERNAL; jobs are always INTERNAL', () => {
    expect(convertFixture(push).spans.map(({ kind }) => kind)).toEqual([2, 1, 1, 1, 1, 1])
    expect(convertFixture(push, { spanKind: 'internal' }).pipeline.kind).toBe(1)
  })

  test('successStatus: unset', () => {
    for (const { status } of convertFixture(push, { successStatus: 'unset' }).spans) expect(status).toBeUndefined()
  })

  test('canceledAsError', () => {
    const run = convertFixture('canceled-pipeline', { canceledAsError: true })
    expect(run.pipeline.status?.code).toBe(2)
    expect(run.jobs.browser!.status?.code).toBe(2)
    expect(run.jobs.pages!.status).toBeUndefined()
    expect(attribute(run.pipeline, 'cicd.pipeline.result')).toBe('cancellation')
    expect(keysOf(run.pipeline)).not.toContain('error.type')
  })

  test('statusMessage: reason', () => {
    const run = convertFixture('failed-pipeline-with-skipped-deploy', { statusMessage: 'reason' })
    expect(run.pipeline.status).toEqual({ code: 2, message: 'script_failure' })
    expect(run.jobs.simulate!.status).toEqual({ code: 2, message: 'script_failure' })
    expect(run.jobs.unit!.status).toEqual({ code: 1, message: '' })
  })

  test.each([
    ['failed-by-job-timeout', 'timeout', 'job_execution_timeout'],
    ['failed-by-runner-system-failure', 'error', 'runner_system_failure'],
    ['failed-pipeline-with-skipped-deploy', 'failure', 'script_failure'],
  ])('refinedResults: %s: %s', (name, result, reason) => {
    const run = convertFixture(name, { refinedResults: true })
    expect(attributes(run.pipeline)).toMatchObject({ 'cicd.pipeline.result': result, 'error.type': reason })
    expect(run.pipeline.status?.code).toBe(2)
    expect(attribute(convertFixture(name).pipeline, 'cicd.pipeline.result')).toBe('failure')
  })

  test('refinedResults applies to jobs', () => {
    const run = convertFixture('failed-by-job-timeout', { refinedResults: true })
    expect(attribute(run.jobs['burn-in']!, 'cicd.pipeline.task.run.result')).toBe('timeout')
  })

  test('stageSpans adds one span per stage around its jobs, between pipeline and jobs', () => {
    const run = convertFixture(push, { stageSpans: true })
    expect(run.spans).toHaveLength(9)
    const stages = run.spans.slice(1, 4)
    expect(stages.map(({ name, spanId }) => [name, spanId])).toEqual([
      ['build', '612578157a89b8bf'],
      ['test', '0f92eafc6774caf0'],
      ['deploy', '66e03a7b74147242'],
    ])
    for (const stage of stages) expect(stage).toMatchObject({ parentSpanId: '57597f4a8354785e', kind: 1 })
    expect(stages.map(timesOf)).toEqual([
      [at('09:20:17'), at('09:21:52')],
      [at('09:21:56'), at('09:24:28')],
      [at('09:24:33'), at('09:25:11')],
    ])
    expect(run.jobs.lint!.parentSpanId).toBe('0f92eafc6774caf0')
    expect(Object.keys(run.jobLogs)).toHaveLength(5)
  })

  test('skipNeverRan omits span and record, but counts the job', () => {
    const run = convertFixture('failed-pipeline-with-skipped-deploy', { skipNeverRan: true })
    expect(Object.keys(run.jobs).sort()).toEqual(['firmware', 'simulate', 'toolchain', 'unit'])
    expect(Object.keys(run.jobLogs)).not.toContain('flash-bench')
    expect(valuesOf(run.metrics['pipeline.jobs_total'])).toEqual([5n])
  })

  test('extensions: false omits every key that only Penstock defines', () => {
    const ours = [
      'svc.cicd.pipeline.task.run.executed',
      'svc.cicd.timestamps.adjusted',
      'svc.cicd.pipeline.task.run.attempt',
      'svc.cicd.link.type',
      'svc.cicd.root.resolved',
    ]
    const found = (extensions: boolean) => {
      const runs = [
        'rest-bundle-retried-attempts-and-bridges',
        'e12-optional-manual-job-never-played',
        'e16-job-finished-before-it-started',
        'e45-child-of-a-child-without-root-id',
      ].map((name) => convertFixture(name, { extensions }))
      const keys = runs.flatMap(({ spans }) => spans).flatMap((span) => [span, ...span.links].flatMap(keysOf))
      return ours.filter((key) => keys.includes(key))
    }
    expect(found(true)).toEqual(ours)
    expect(found(false)).toEqual([])
  })

  test('extensions: false keeps the links themselves', () => {
    const { spans } = convertFixture('e40-rest-three-attempts-of-one-job', { extensions: false })
    expect(spans.flatMap(({ links }) => links).map(({ attributes }) => attributes)).toEqual([[], []])
  })
})

describe('relations', () => {
  test.each(['multi-project-downstream-pipeline', 'e46-downstream-of-another-project'])(
    'multiProject: same-trace: %s is in the trace of the other project',
    (name) => {
      const ids = {
        'multi-project-downstream-pipeline': [
          '25413cbcb96d1b3a3b302ebc94a7c580',
          'b7599a543b869b41',
          '469169b5b3a5c34b',
        ],
        'e46-downstream-of-another-project': [
          '983682147c1862ebf436330d10cf0568',
          '15df71fc41c5fef0',
          '9eabc84aeffc47d3',
        ],
      }[name]!
      const { pipeline } = convertFixture(name, { multiProject: 'same-trace' })
      expect([pipeline.traceId, pipeline.parentSpanId]).toEqual(ids.slice(0, 2))
      expect(pipeline.links).toMatchObject([{ traceId: ids[0], spanId: ids[2] }])
    },
  )

  test('multiProject: same-trace applies even if the source says that the pipeline is its own root', () => {
    const [, downstream] = convertEachOfFixture('e46-upstream-then-downstream-of-another-project', {
      multiProject: 'same-trace',
    })
    expect(downstream!.exported!.pipeline).toMatchObject({
      traceId: '0ea0e26eb6e819351f05f4b259e8e87e',
      parentSpanId: '86fe9d24ffe0be14',
      links: [],
    })
  })

  test.each([
    ['auto', 'c7bfdd9deb4a4f8f', []],
    ['hook', 'c7bfdd9deb4a4f8f', []],
    ['rest', 'c7bfdd9deb4a4f8f', []],
    ['none', '44e7e90e484554df', ['c7bfdd9deb4a4f8f']],
  ] as const)('bridgeSource: %s: the parent of a child if bridges are listed', (bridgeSource, parentSpanId, linked) => {
    const { pipeline } = convertFixture('child-pipeline-of-a-bridge', { bridgeSource })
    expect(pipeline.parentSpanId).toBe(parentSpanId)
    expect(pipeline.links.map(({ spanId }) => spanId)).toEqual(linked)
  })

  test('bridgeSource: rest: a child has the bridge as parent, because bridges come from REST', () => {
    const [, child] = convertEachOfFixture('parent-and-child-from-a-hook-without-bridges', { bridgeSource: 'rest' })
    expect(child!.exported!.pipeline).toMatchObject({ parentSpanId: 'c7bfdd9deb4a4f8f', links: [] })
  })
})

describe('metrics', () => {
  test.each(['windowed', 'cumulative'] as const)('metricsMode: %s: the resource contains no trace', (metricsMode) => {
    const run = convertFixture(push, { metricsMode })
    expect(resourceOf(run, 'metrics')).toEqual(resourceOf(run, 'traces'))
  })

  test('bounds are fine, or a list', () => {
    const runDuration = (bounds: 'fine' | number[]) =>
      histogramsOf(convertFixture(push, { bounds }).metrics['cicd.pipeline.run.duration'])[0]!
    expect(runDuration('fine').explicitBounds).toEqual([
      1, 2, 5, 10, 15, 30, 60, 120, 180, 300, 450, 600, 900, 1200, 1800, 2700, 3600, 5400, 7200, 14400,
    ])
    expect(bucketsOf(runDuration('fine'))).toEqual({ 300: 1n })
    expect(runDuration([10, 60, 300]).explicitBounds).toEqual([10, 60, 300])
    expect(bucketsOf(runDuration([10, 60]))).toEqual({ more: 1n })
    expect(bucketsOf(runDuration([282]))).toEqual({ 282: 1n })
  })

  test('runState: finalizing', () => {
    for (const metric of Object.values(convertFixture(push, { runState: 'finalizing' }).metrics)) {
      for (const point of pointsOf(metric)) expect(attribute(point, 'cicd.pipeline.run.state')).toBe('finalizing')
    }
  })

  test('pendingPoint adds the queue time as a second point of the run duration', () => {
    const points = histogramsOf(convertFixture(push, { pendingPoint: true }).metrics['cicd.pipeline.run.duration'])
    expect(points.map((point) => [attribute(point, 'cicd.pipeline.run.state'), point.count, point.sum])).toEqual([
      ['executing', 1n, 282],
      ['pending', 1n, 3],
    ])
    expect(bucketsOf(points[1]!)).toEqual({ 5: 1n })
  })

  test('refLabel: a pattern replaces other refs, on metrics only', () => {
    const refs = (name: string) => {
      const run = convertFixture(name, { refLabel: '^(main|stable-.+)$' })
      const points = Object.values(run.metrics).flatMap((metric) => pointsOf(metric))
      return [
        ...new Set(points.map((point) => attribute(point, 'pipeline.ref'))),
        attribute(run.pipeline, 'pipeline.ref'),
      ]
    }
    expect(refs('failed-pipeline-with-skipped-deploy')).toEqual(['#other#', 'fix/overshoot'])
    expect(refs(push)).toEqual(['main', 'main'])
  })
})

describe('decisions', () => {
  const isExported = (name: string, options = {}) => convertEachOfFixture(name, options).at(-1)!.exported !== undefined
  test('exportBlocked', () => {
    expect(isExported('e02-blocked-by-a-manual-job')).toBe(false)
    expect(isExported('e02-blocked-by-a-manual-job', { exportBlocked: true })).toBe(true)
  })
  test('exportUnknown', () => {
    expect(isExported('e04-unknown-status-with-finish')).toBe(false)
    expect(isExported('e04-unknown-status-with-finish', { exportUnknown: true })).toBe(true)
  })
  test('reexport', () => {
    expect(isExported('e41-finishes-again-after-a-retry')).toBe(false)
    expect(isExported('e41-finishes-again-after-a-retry', { reexport: 'replace' })).toBe(true)
    expect(isExported('e41-finishes-again-after-a-retry', { reexport: 'link' })).toBe(true)
  })
})

describe('privacy', () => {
  const personKeys = [
    'pipeline.user.id',
    'svc.cicd.pipeline.user.id',
    'pipeline.user.username',
    'svc.cicd.pipeline.user.username',
  ]

  test('user: omit', () => {
    const run = convertFixture(push, { user: 'omit' })
    for (const owner of [...run.spans, run.log, ...Object.values(run.jobLogs)]) {
      expect(keysOf(owner).filter((key) => key.includes('user'))).toEqual([])
    }
  })

  test('user: hash gives a value of the same type, equal for pipeline and jobs, and different on another instance', () => {
    const run = convertFixture(push, { user: 'hash' })
    const [id, sameId, name, sameName] = personKeys.map((key) => attribute(run.pipeline, key))
    expect([typeof id, typeof name]).toEqual(['bigint', 'string'])
    expect([id, name]).not.toEqual([5n, 'iokafor'])
    expect([sameId, sameName]).toEqual([id, name])
    expect(attributes(run.jobs.unit!)).toMatchObject({ 'job.user.id': id, 'job.user.username': name })
    const elsewhere = convertFixture(push, { user: 'hash', instanceId: 'harbour' })
    expect(attribute(elsewhere.pipeline, 'pipeline.user.id')).not.toBe(id)
    expect(attribute(elsewhere.pipeline, 'pipeline.user.username')).not.toBe(name)
  })

  test('commitMessage: title, omit', () => {
    const messages = (commitMessage: 'title' | 'omit') => {
      const { pipeline } = convertFixture(push, { commitMessage })
      return ['pipeline.commit.message', 'svc.vcs.ref.head.revision.message'].map((key) => attribute(pipeline, key))
    }
    const title = 'Interpolate missing readings at slack water'
    expect(messages('title')).toEqual([title, title])
    expect(messages('omit')).toEqual([undefined, undefined])
  })

  test('commitMessage: omit keeps the id of the commit', () => {
    const { pipeline } = convertFixture(push, { commitMessage: 'omit' })
    expect(attribute(pipeline, 'pipeline.commit.id')).toBe('3dffc13c960842b937fc4f5f4c56e3e5aced3fcb')
  })
})

test('eventNames turns log records into events', () => {
  const run = convertFixture(push, { eventNames: true })
  expect(run.log.eventName).toBe('svc.cicd.pipeline.completed')
  expect(run.jobLogs.unit!.eventName).toBe('svc.cicd.pipeline.task.completed')
})

describe('profiles', () => {
  test('native exports what the own export of the forge contains', () => {
    const run = convertFixture('failed-pipeline-with-skipped-deploy', { profile: 'native' })
    expect(run.pipeline).toMatchObject({
      traceId: '0000000000000000000000000001595c',
      name: 'pipeline: fix/overshoot',
      kind: 1,
      status: { code: 2, message: 'script_failure' },
    })
    expect(keysOf(run.jobs['flash-bench']!)).not.toContain('svc.cicd.pipeline.task.run.executed')
    const [point] = pointsOf(run.metrics['cicd.pipeline.run.count'])
    expect(attribute(point!, 'cicd.pipeline.run.state')).toBe('finalizing')
    expect(convertFixture('canceled-pipeline', { profile: 'native' }).pipeline.status?.code).toBe(2)
  })

  test('strict follows the conventions literally', () => {
    expect(convertFixture(push, { profile: 'strict' }).pipeline.status).toBeUndefined()
    const timedOut = convertFixture('failed-by-job-timeout', { profile: 'strict' })
    expect(attribute(timedOut.pipeline, 'cicd.pipeline.result')).toBe('timeout')
  })

  test('explicit options take precedence over the profile', () => {
    const { pipeline } = convertFixture(push, { profile: 'native', spanNames: 'semconv', idScheme: 'hashed' })
    expect(pipeline).toMatchObject({ name: 'RUN tide-tables', traceId: 'f09bd275a66f6824d2b176f2a52ef4b6', kind: 1 })
  })
})
