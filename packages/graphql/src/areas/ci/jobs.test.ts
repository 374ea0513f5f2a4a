import { accessLevels, type Project, type User } from '@penstock/core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { GraphqlServer } from '../../http/graphql-server.harness.ts'
import { putRecord } from './put-record.harness.ts'

let server: GraphqlServer
let alice: User
let app: Project

beforeEach(async () => {
  server = await GraphqlServer.start()
  const { world } = server
  alice = await world.user('alice')
  app = await world.project('app', await world.group('acme'))
  await world.member(app, alice, accessLevels.developer)
  await putRecord(world, alice, app, 314, run, { builds, bridges })
})
afterEach(() => server.close())

const run = { iid: 58, status: 'failed', source: 'push', sha: '9f3c21ab00000000000000000000000000000000' }
const builds = [
  { id: 501, name: 'compile', stage: 'build', status: 'success', duration: 61.4 },
  { id: 500, name: 'compile', stage: 'build', status: 'failed', failureReason: 'script_failure' },
  {
    id: 502,
    name: 'unit 1/2',
    stage: 'test',
    status: 'failed',
    duration: 98,
    when: 'on_success',
    createdAt: '2025-03-01 10:00:00 UTC',
    startedAt: '2025-03-01 10:00:10 UTC',
    queuedDuration: 7.5,
    runner: { id: 6, description: 'shared-6', active: false, runnerType: 'group_type', tags: ['linux'] },
    artifactsFile: { filename: 'a.zip', size: 9 },
  },
  { id: 503, name: 'unit 2/2', stage: 'test', status: 'success', duration: 95 },
  { id: 504, name: 'lint', stage: 'test', status: 'failed', allowFailure: true },
  { id: 530, name: 'go: [eu, 1]', stage: 'deploy', status: 'manual', when: 'manual' },
]
const bridges = [{ id: 540, name: 'docs', stage: 'deploy', status: 'created' }]

const inProject = async (fields: string, as: User | undefined = alice) => {
  const { body } = await server.ask(`{ project(fullPath: "acme/app") { ${fields} } }`, { as })
  return { ...body.data.project, ...(body.errors && { errors: body.errors.map((error: Error) => error.message) }) }
}
const inPipeline = async (fields: string) => (await inProject(`pipeline(iid: "58") { ${fields} }`)).pipeline

test('shows the stages of a pipeline with their groups and jobs', async () => {
  const jobs = 'jobs { nodes { id name kind status allowFailure duration } }'
  const { stages } = await inPipeline(`id stages { nodes { name status groups { nodes { name size ${jobs} } } } }`)
  const job = (id: number, name: string, status: string, duration: number | null, more: object = {}) => ({
    id: `gid://svc/Ci::Build/${id}`,
    name,
    kind: 'BUILD',
    status,
    allowFailure: false,
    duration,
    ...more,
  })
  const group = (name: string, ...nodes: object[]) => ({ name, size: nodes.length, jobs: { nodes } })
  expect(stages.nodes).toEqual([
    { name: 'build', status: 'success', groups: { nodes: [group('compile', job(501, 'compile', 'SUCCESS', 61))] } },
    {
      name: 'test',
      status: 'failed',
      groups: {
        nodes: [
          group('lint', job(504, 'lint', 'FAILED', null, { allowFailure: true })),
          group('unit', job(502, 'unit 1/2', 'FAILED', 98), job(503, 'unit 2/2', 'SUCCESS', 95)),
        ],
      },
    },
    {
      name: 'deploy',
      status: 'manual',
      groups: {
        nodes: [
          group('docs', { ...job(540, 'docs', 'CREATED', null), id: 'gid://svc/Ci::Bridge/540', kind: 'BRIDGE' }),
          group('go', job(530, 'go: [eu, 1]', 'MANUAL', null)),
        ],
      },
    },
  ])
})

test('finds a stage by its id for callers who may see its pipeline', async () => {
  const { stages } = await inPipeline('stages(first: 2) { nodes { id } pageInfo { hasNextPage } }')
  expect(stages.pageInfo.hasNextPage).toBe(true)
  const { id } = stages.nodes[1]
  const query = `{ ciPipelineStage(id: "${id}") { id name detailedStatus { name label detailsPath } jobs { count nodes { name } }
    groups { nodes { id detailedStatus { name } } } } }`
  expect((await server.ask(query, { as: alice })).body.data.ciPipelineStage).toEqual({
    id,
    name: 'test',
    detailedStatus: { name: 'FAILED', label: 'failed', detailsPath: '/acme/app/-/pipelines/314#test' },
    jobs: { count: 3, nodes: [{ name: 'lint' }, { name: 'unit 1/2' }, { name: 'unit 2/2' }] },
    groups: {
      nodes: [
        { id: `gid://svc/CiGroup/${id.split('/').at(-1)}-lint`, detailedStatus: { name: 'SUCCESS_WITH_WARNINGS' } },
        { id: `gid://svc/CiGroup/${id.split('/').at(-1)}-unit`, detailedStatus: { name: 'FAILED' } },
      ],
    },
  })
  const outsider = await server.world.user('noor')
  expect((await server.ask(query, { as: outsider })).body).toEqual({ data: { ciPipelineStage: null } })
  for (const none of ['100099', '5', '999999999999999']) {
    const { body } = await server.ask(`{ ciPipelineStage(id: "gid://svc/Ci::Stage/${none}") { id } }`, { as: alice })
    expect(body).toEqual({ data: { ciPipelineStage: null } })
  }
})

test('keeps the id of a stage when an update of the record adds or removes stages', async () => {
  const { world } = server
  const put = (seconds: number, stages: readonly string[]) => {
    const builds = stages.map((stage, index) => ({ id: 900 + index, name: stage, stage, status: 'success' }))
    return putRecord(world, alice, app, 90, { finishedAt: `2026-02-03 04:00:${seconds} UTC` }, { builds })
  }
  const stageIds = async (): Promise<[string, string][]> => {
    const query =
      '{ project(fullPath: "acme/app") { pipeline(id: "gid://svc/Ci::Pipeline/90") { stages { nodes { id name } } } } }'
    const { nodes } = (await server.ask(query, { as: alice })).body.data.project.pipeline.stages
    return nodes.map(({ id, name }: { id: string; name: string }) => [id, name])
  }
  const printed = new Map<string, string>()
  const orders = [
    ['build', 'test'],
    ['prepare', 'build', 'test'],
    ['test', 'deploy'],
    ['build', 'deploy', 'test'],
  ]
  for (const [index, stages] of orders.entries()) {
    await put(10 + index, stages)
    expect((await stageIds()).map(([, name]) => name)).toEqual(stages)
    for (const [id, name] of await stageIds()) {
      expect(printed.get(id) ?? name).toBe(name)
      printed.set(id, name)
    }
  }
  expect([...printed.values()].toSorted()).toEqual(['build', 'deploy', 'prepare', 'test'])
  for (const [id, name] of printed) {
    const { body } = await server.ask(`{ ciPipelineStage(id: "${id}") { name } }`, { as: alice })
    expect(body.data.ciPipelineStage).toEqual(name === 'prepare' ? null : { name })
  }
})

test('reads stages by their ids together, and the jobs of each pipeline once', async () => {
  const answer = (ids: readonly string[]) =>
    server.ask(`{ ${ids.map((id, index) => `s${index}: ciPipelineStage(id: "${id}") { name status }`).join(' ')} }`, {
      as: alice,
    })
  const stages = (await inPipeline('stages { nodes { id } }')).stages.nodes as { id: string }[]
  const [build, test, deploy] = stages.map(({ id }) => id) as [string, string, string]
  await answer([build])
  const one = await server.world.statements(() => answer([build]))
  const four = await server.world.statements(async () =>
    expect((await answer([build, test, deploy, build])).body.data).toEqual({
      s0: { name: 'build', status: 'success' },
      s1: { name: 'test', status: 'failed' },
      s2: { name: 'deploy', status: 'manual' },
      s3: { name: 'build', status: 'success' },
    }),
  )
  expect(four).toBe(one)
})

describe('jobs of a pipeline', () => {
  test.each([
    ['', [540, 530, 504, 503, 502, 501, 500]],
    ['retried: true', [500]],
    ['retried: false', [540, 530, 504, 503, 502, 501]],
    ['jobKind: BRIDGE', [540]],
    ['statuses: [FAILED, MANUAL]', [530, 504, 502, 500]],
    ['whenExecuted: ["manual"]', [530]],
    ['last: 2', [501, 500]],
  ])('filters by %s', async (args, ids) => {
    const { jobs } = await inPipeline(`jobs${args && `(${args})`} { count nodes { id } }`)
    expect(jobs.nodes.map(({ id }: { id: string }) => Number(id.split('/').at(-1)))).toEqual(ids)
    expect(jobs.count).toBe(args.startsWith('last') ? 7 : ids.length)
  })

  test('finds a job by its id, or the current job by its name', async () => {
    const { pipeline, errors } = await inProject(`pipeline(iid: "58") {
      a: job(name: "compile") { id retried } b: job(id: "gid://svc/Ci::Build/500") { retried failureMessage }
      c: job(name: "COMPILE") { id } d: job { id } }`)
    expect(pipeline).toEqual({
      a: { id: 'gid://svc/Ci::Build/501', retried: false },
      b: { retried: true, failureMessage: 'script failure' },
      c: null,
      d: null,
    })
    expect(errors).toEqual(['One of id or name is required'])
  })
})

test('shows the fields of a job and the values computed from its record', async () => {
  const { job } = await inProject(`job(id: "gid://svc/Ci::Build/502") {
    createdAt queuedAt startedAt queuedDuration refName refPath shortSha commitPath webPath source manualJob playable
    tags canPlayJob createdByTag stage { name } pipeline { iid project { fullPath } } project { fullPath }
    runner { id description runnerType status paused active tagList runUntagged }
    artifacts { nodes { id name size expired downloadPath } } trace { htmlSummary } needs { nodes { name } }
    previousStageJobs { nodes { name } } manualVariables { nodes { key } } userPermissions { readBuild updateBuild }
    detailedStatus { id name detailsPath } downstreamPipeline { id } }`)
  expect(job).toEqual({
    createdAt: '2025-03-01T10:00:00Z',
    queuedAt: '2025-03-01T10:00:02Z',
    startedAt: '2025-03-01T10:00:10Z',
    queuedDuration: 7.5,
    refName: 'main',
    refPath: '/acme/app/-/commits/main',
    shortSha: '9f3c21ab',
    commitPath: '/acme/app/-/commit/9f3c21ab00000000000000000000000000000000',
    webPath: '/acme/app/-/jobs/502',
    source: 'push',
    manualJob: false,
    playable: false,
    tags: [],
    canPlayJob: false,
    createdByTag: false,
    stage: { name: 'test' },
    pipeline: { iid: '58', project: { fullPath: 'acme/app' } },
    project: { fullPath: 'acme/app' },
    runner: {
      id: 'gid://svc/Ci::Runner/6',
      description: 'shared-6',
      runnerType: 'GROUP_TYPE',
      status: 'OFFLINE',
      paused: true,
      active: false,
      tagList: ['linux'],
      runUntagged: false,
    },
    artifacts: {
      nodes: [{ id: 'gid://svc/Ci::JobArtifact/502', name: 'a.zip', size: '9', expired: false, downloadPath: null }],
    },
    trace: null,
    needs: { nodes: [] },
    previousStageJobs: { nodes: [{ name: 'compile' }] },
    manualVariables: null,
    userPermissions: { readBuild: true, updateBuild: true },
    detailedStatus: {
      id: 'gid://svc/DetailedStatus/failed-502-502',
      name: 'FAILED',
      detailsPath: '/acme/app/-/jobs/502',
    },
    downstreamPipeline: null,
  })
})

describe('jobs of a project', () => {
  test.each([
    ['kind: BUILD, statuses: SUCCESS', ['503', '501']],
    ['name: "unit 1/2"', ['502']],
    ['pipelineIid: "58", kind: BRIDGE', ['540']],
    ['pipelineIid: "59"', []],
    ['sources: [WEB]', []],
    ['sources: [WEB, PUSH], first: 1', ['540']],
    ['withArtifacts: true', ['502']],
    ['withArtifacts: false, statuses: FAILED', ['504', '500']],
  ])('filters by %s', async (args, ids) => {
    const { jobs } = await inProject(`jobs(${args}) { nodes { id } }`)
    expect(jobs.nodes.map(({ id }: { id: string }) => id.split('/').at(-1))).toEqual(ids)
  })

  test('lists the jobs of only one project per operation', async () => {
    const other = await server.world.project('other', await server.world.group('else'), 'public')
    const twice = await server.ask('{ project(fullPath: "acme/app") { jobs { count } more: jobs { count } } }', {
      as: alice,
    })
    expect(twice.body).toEqual({ data: { project: { jobs: { count: 7 }, more: { count: 7 } } } })
    const { body } = await server.ask(
      `{ a: project(fullPath: "acme/app") { jobs { count } } b: project(fullPath: "${other.fullPath}") { jobs { count } } }`,
      { as: alice },
    )
    // Which of the two projects is found first is not defined.
    const refused = body.data.a.jobs === null ? 'a' : 'b'
    expect(body.data).toEqual({ a: { jobs: { count: 7 } }, b: { jobs: { count: 0 } }, [refused]: { jobs: null } })
    expect(body.errors).toMatchObject([
      { message: '"jobs" field can be requested only for 1 Project(s) at a time.', path: [refused, 'jobs'] },
    ])
  })
})

test('lists all jobs of the instance to administrators only', async () => {
  const root = await server.world.user('root', { isAdministrator: true })
  const query =
    '{ jobs(runnerTypes: [GROUP_TYPE]) { count nodes { id shortSha ... on CiJob { needs { nodes { id } } } } } all: jobs { count } }'
  expect((await server.ask(query, { as: root })).body.data).toEqual({
    jobs: { count: 1, nodes: [{ id: 'gid://svc/Ci::Build/502', shortSha: '9f3c21ab', needs: { nodes: [] } }] },
    all: { count: 7 },
  })
  expect((await server.ask(query, { as: alice })).body).toEqual({ data: { jobs: null, all: null } })
  expect((await server.ask(query)).body).toEqual({ data: { jobs: null, all: null } })
})

test('shows a runner to callers who may see a job that it ran', async () => {
  const query =
    '{ runner(id: "gid://svc/Ci::Runner/6") { id description } other: runner(id: "gid://svc/Ci::Runner/7") { id } }'
  expect((await server.ask(query, { as: alice })).body.data).toEqual({
    runner: { id: 'gid://svc/Ci::Runner/6', description: 'shared-6' },
    other: null,
  })
  expect((await server.ask(query)).body).toEqual({ data: { runner: null, other: null } })
})

test('counts jobs up to 1,000 at most', async () => {
  const many = Array.from({ length: 1_002 }, (_, index) => ({
    ...builds[0],
    id: 1_000 + index,
    name: `job ${index}`,
  }))
  await putRecord(server.world, alice, app, 315, { ...run, iid: 59 }, { builds: many })
  const counted = async (argument: string) => {
    const { pipeline, errors } = await inProject(`pipeline(iid: "59") { jobs { count${argument} } }`)
    return errors ?? pipeline.jobs.count
  }
  expect(await counted('')).toBe(1_001)
  expect(await counted('(limit: null)')).toBe(1_001)
  expect(await counted('(limit: 1000)')).toBe(1_001)
  expect(await counted('(limit: 7)')).toBe(8)
  expect(await counted('(limit: 1001)')).toEqual(['limit must be between 1 and 1000'])
  expect(await counted('(limit: 0)')).toEqual(['limit must be between 1 and 1000'])
})
