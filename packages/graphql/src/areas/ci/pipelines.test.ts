import type { Project, User } from '@penstock/core'
import { accessLevels, createCommit } from '@penstock/core'
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
  await world.member(app, alice, accessLevels.maintainer)
})
afterEach(() => server.close())

const put = (id: number, run: object = {}, rest: object = {}) => putRecord(server.world, alice, app, id, run, rest)
const sha = '9f3c21ab00000000000000000000000000000000'

describe('pipelines of a branch', () => {
  beforeEach(async () => {
    const user = { id: 99, username: 'Alice', name: 'Alice' }
    const failed = { status: 'failed', duration: 184, queuedDuration: 7.5, finishedAt: '2025-03-01 10:00:00 UTC' }
    await put(310, { ...failed, iid: 54 })
    await put(311, { ...failed, iid: 55, ref: 'other', tag: false })
    await put(312, { ...failed, iid: 56, source: 'schedule' })
    await put(313, { iid: 57 })
    await put(314, { ...failed, iid: 58, source: 'push', sha, tag: false }, { user })
  })

  const query = `query Pipes($after: String) {
    project(fullPath: "acme/app") {
      pipelines(ref: "main", status: FAILED, first: 2, after: $after) {
        count
        pageInfo { hasNextPage endCursor }
        nodes { id iid status source ref sha(format: SHORT) duration queuedDuration user { username } detailedStatus { name label } }
      }
    }
  }`

  test('lists pipelines in pages, the newest first', async () => {
    const first = (await server.ask(query, { as: alice, variables: { after: null } })).body.data.project.pipelines
    expect(first).toMatchObject({ count: 3, pageInfo: { hasNextPage: true } })
    expect(first.nodes[0]).toEqual({
      id: 'gid://svc/Ci::Pipeline/314',
      iid: '58',
      status: 'FAILED',
      source: 'push',
      ref: 'main',
      sha: '9f3c21ab',
      duration: 184,
      queuedDuration: 7.5,
      user: { username: 'alice' },
      detailedStatus: { name: 'FAILED', label: 'failed' },
    })
    expect(first.nodes[1]).toMatchObject({ iid: '56', user: null })
    const { body } = await server.ask(query, { as: alice, variables: { after: first.pageInfo.endCursor } })
    expect(body.data.project.pipelines).toMatchObject({ pageInfo: { hasNextPage: false }, nodes: [{ iid: '54' }] })
  })

  test.each([
    ['ids: ["gid://svc/Ci::Pipeline/311", "gid://svc/Ci::Pipeline/9"]', ['55']],
    ['ids: []', []],
    ['scope: BRANCHES', ['58', '55']],
    ['refType: TAGS', []],
    ['source: "schedule"', ['56']],
    [`sha: "${sha}"`, ['58']],
    ['username: "Alice"', ['58']],
    ['scope: FINISHED, status: SUCCESS', ['57']],
    ['updatedBefore: "2020-01-01"', []],
    ['last: 2', ['55', '54']],
  ])('filters by %s', async (args, iids) => {
    const { body } = await server.ask(`{ project(fullPath: "acme/app") { pipelines(${args}) { nodes { iid } } } }`, {
      as: alice,
    })
    expect(body.data.project.pipelines.nodes.map(({ iid }: { iid: string }) => iid)).toEqual(iids)
  })

  test('counts pipelines, also by scope', async () => {
    await put(315, { status: 'running' })
    const { body } = await server.ask(
      `{ project(fullPath: "acme/app") {
        a: pipelineCounts { all running pending finished } b: pipelineCounts(ref: "other") { all running } } }`,
      { as: alice },
    )
    expect(body.data.project).toEqual({
      a: { all: 6, running: 1, pending: 0, finished: 5 },
      b: { all: 1, running: 0 },
    })
  })

  test('finds a pipeline by id, iid or commit, or the latest one of the default branch', async () => {
    await server.world.core.db.write((tx) => tx.updateTable('projects').set({ default_branch: 'main' }).execute())
    await put(400)
    const { body } = await server.ask(
      `{ project(fullPath: "acme/app") {
        id: pipeline(id: "gid://svc/Ci::Pipeline/312") { iid latest } iid: pipeline(iid: 55) { id latest }
        sha: pipeline(sha: "${sha}") { iid } none: pipeline(iid: "no number") { id }
        latest: pipeline { iid latest status } two: pipeline(iid: "1", sha: "2") { id } } }`,
      { as: alice },
    )
    expect(body.data.project).toEqual({
      id: { iid: '56', latest: false },
      iid: { id: 'gid://svc/Ci::Pipeline/311', latest: true },
      sha: { iid: '58' },
      none: null,
      latest: { iid: '400', latest: true, status: 'SUCCESS' },
      two: null,
    })
    expect(body.errors).toMatchObject([
      { message: 'Only one of [id, iid, sha] arguments is allowed at the same time.', path: ['project', 'two'] },
    ])
  })
})

test('shows a pipeline with an unknown status', async () => {
  await put(31, { status: 'foo' }, { builds: [{ id: 7, status: 'bar', name: 'x', stage: 's' }] })
  const { body } = await server.ask(
    `{ project(fullPath: "acme/app") { pipelines { nodes { status createdAt iid detailedStatus { name label }
      jobs { nodes { status shortSha createdAt detailedStatus { name } } } stages { nodes { status } } } } } }`,
    { as: alice },
  )
  expect(body).toEqual({
    data: {
      project: {
        pipelines: {
          nodes: [
            {
              status: 'CREATED',
              createdAt: '2026-02-03T04:05:06Z',
              iid: '31',
              detailedStatus: { name: 'FOO', label: 'foo' },
              jobs: {
                nodes: [
                  { status: null, shortSha: '', createdAt: '2026-02-03T04:05:06Z', detailedStatus: { name: 'BAR' } },
                ],
              },
              stages: { nodes: [{ status: 'bar' }] },
            },
          ],
        },
      },
    },
  })
})

test('shows the fields of a pipeline and the values computed from its record', async () => {
  const run = {
    ref: '<b>',
    tag: true,
    sha,
    beforeSha: 'f'.repeat(40),
    detailedStatus: 'passed with warnings',
    source: 'trigger',
  }
  const builds = [
    { id: 1, name: 'a', stage: 's', status: 'failed' },
    { id: 2, name: 'a', stage: 's', status: 'failed', artifactsFile: { filename: 'a.zip', size: 9007199254740991 } },
    { id: 3, name: 'b', stage: 's', status: 'manual' },
  ]
  await put(31, { ...run, name: 'Nightly', startedAt: '2026-02-03 03:00:10 UTC' }, { builds })
  const { body } = await server.ask(
    `{ project(fullPath: "acme/app") { pipeline(iid: "31") {
      name path refText refPath commitPath type active complete trigger child warnings stuck totalJobs failedJobsCount
      hasManualActions hasScheduledActions startedAt createdAt duration retryable
      detailedStatus { id name text icon hasDetails detailsPath action { id } }
      userPermissions { updatePipeline destroyPipeline } project { fullPath } mergeRequest { id } commit { sha }
      jobArtifacts { id name size fileType } manualVariables { nodes { key } } errorMessages { nodes { content } } } } }`,
    { as: alice },
  )
  expect(body.errors).toBeUndefined()
  expect(body.data.project.pipeline).toEqual({
    name: 'Nightly',
    path: '/acme/app/-/pipelines/31',
    refText: 'for tag <a href="/acme/app/-/commits/%3Cb%3E">&#60;b&#62;</a>',
    refPath: 'refs/tags/<b>',
    commitPath: `/acme/app/-/commit/${sha}`,
    type: 'tag',
    active: false,
    complete: true,
    trigger: true,
    child: false,
    warnings: true,
    stuck: false,
    totalJobs: 3,
    failedJobsCount: 1,
    hasManualActions: true,
    hasScheduledActions: false,
    startedAt: '2026-02-03T03:00:10Z',
    createdAt: '2026-02-03T03:00:10Z',
    duration: null,
    retryable: false,
    detailedStatus: {
      id: 'gid://svc/DetailedStatus/success-with-warnings-31-31',
      name: 'SUCCESS_WITH_WARNINGS',
      text: 'Warning',
      icon: 'status_warning',
      hasDetails: true,
      detailsPath: '/acme/app/-/pipelines/31',
      action: null,
    },
    userPermissions: { updatePipeline: true, destroyPipeline: false },
    project: { fullPath: 'acme/app' },
    mergeRequest: null,
    commit: null,
    jobArtifacts: [{ id: 'gid://svc/Ci::JobArtifact/2', name: 'a.zip', size: '9007199254740991', fileType: 'ARCHIVE' }],
    manualVariables: null,
    errorMessages: { nodes: [] },
  })
})

describe('bridges, downstream and upstream', () => {
  const query = `{ project(fullPath: "acme/app") { pipeline(id: "gid://svc/Ci::Pipeline/320") {
    child
    jobs(jobKind: BRIDGE) { nodes { id name downstreamPipeline { id project { fullPath } } pipeline { id ... on Pipeline { status } } } }
    downstream { count nodes { id child sourceJob { name } upstream { id } triggeredByPath } }
    upstream { id }
  } } }`
  const bridges = [{ id: 540, name: 'deploy-docs', stage: 'deploy', status: 'running' }]

  test('links pipelines of one project', async () => {
    await put(320, { status: 'running' }, { bridges })
    await put(
      321,
      { source: 'parent_pipeline' },
      { sourcePipeline: { pipelineId: 320, jobId: 540, project: { id: app.id } } },
    )
    expect((await server.ask(query, { as: alice })).body.data.project.pipeline).toEqual({
      child: false,
      jobs: {
        nodes: [
          {
            id: 'gid://svc/Ci::Bridge/540',
            name: 'deploy-docs',
            downstreamPipeline: { id: 'gid://svc/Ci::Pipeline/321', project: { fullPath: 'acme/app' } },
            pipeline: { id: 'gid://svc/Ci::Pipeline/320', status: 'RUNNING' },
          },
        ],
      },
      downstream: {
        count: 1,
        nodes: [
          {
            id: 'gid://svc/Ci::Pipeline/321',
            child: true,
            sourceJob: { name: 'deploy-docs' },
            upstream: { id: 'gid://svc/Ci::Pipeline/320' },
            triggeredByPath: '/acme/app/-/pipelines/320',
          },
        ],
      },
      upstream: null,
    })
  })

  test('omits downstream pipelines in projects that the caller may not see', async () => {
    const { world } = server
    const bob = await world.user('bob')
    const secret = await world.project('secret', await world.group('other'))
    await world.member(secret, bob, accessLevels.developer)
    await put(320, { status: 'running' }, { bridges })
    const from = { pipelineId: 320, jobId: 540, project: { pathWithNamespace: 'acme/app' } }
    await putRecord(world, bob, secret, 321, { source: 'pipeline' }, { sourcePipeline: from })
    const seen = (await server.ask(query, { as: alice })).body.data.project.pipeline
    expect([seen.jobs.nodes[0].downstreamPipeline, seen.downstream]).toEqual([null, { count: 0, nodes: [] }])
    const { body } = await server.ask(
      '{ project(fullPath: "other/secret") { pipeline(iid: "321") { child upstream { id } sourceJob { name } } } }',
      { as: bob },
    )
    expect(body.data.project.pipeline).toEqual({ child: false, upstream: null, sourceJob: null })
    await world.member(app, bob, accessLevels.guest)
    const both = (await server.ask(query, { as: bob })).body.data.project.pipeline
    expect(both.downstream).toMatchObject({ count: 1, nodes: [{ child: false, sourceJob: { name: 'deploy-docs' } }] })
  })
})

describe('pipelines of a commit', () => {
  test('lists the pipelines of a commit, and shows the commit of a pipeline', async () => {
    const { world } = server
    const commit = (message: string) =>
      world.perform(alice, createCommit, {
        project: app.id,
        branch: 'main',
        commitMessage: message,
        actions: [{ action: 'create', filePath: message, content: message }],
      })
    const [one, other] = [(await commit('one')).sha, (await commit('other')).sha]
    await put(31, { sha: one })
    await put(32, { sha: one, ref: 'feature' })
    await put(33, { sha: other })
    const fields =
      'sha latestPipeline { iid } onMain: latestPipeline(ref: "main") { iid } pipelines { count nodes { iid } }'
    const query = `{ project(fullPath: "acme/app") { pipelines(first: 2) { nodes { commit { ${fields} } } } } }`
    const commits = [
      {
        sha: other,
        latestPipeline: { iid: '33' },
        onMain: { iid: '33' },
        pipelines: { count: 1, nodes: [{ iid: '33' }] },
      },
      {
        sha: one,
        latestPipeline: { iid: '32' },
        onMain: { iid: '31' },
        pipelines: { count: 2, nodes: [{ iid: '32' }, { iid: '31' }] },
      },
    ]
    expect((await server.ask(query, { as: alice })).body).toEqual({
      data: { project: { pipelines: { nodes: commits.map((each) => ({ commit: each })) } } },
    })
    const guest = await world.user('gus')
    await world.member(app, guest, accessLevels.guest)
    expect((await server.ask(query, { as: guest })).body).toEqual({
      data: { project: { pipelines: { nodes: [{ commit: null }, { commit: null }] } } },
    })
  })
})

test('shows pipelines to the same callers as REST', async () => {
  await put(31)
  const query = '{ project(fullPath: "acme/app") { pipelines { count } pipeline(iid: "31") { id } } }'
  const outsider = await server.world.user('noor')
  expect((await server.ask(query, { as: outsider })).body).toEqual({ data: { project: null } })
  expect((await server.ask(query)).body).toEqual({ data: { project: null } })
})

test('needs a number of statements that depends on the connections, not on the rows', async () => {
  const query = `{ project(fullPath: "acme/app") { pipelines { count nodes {
    latest totalJobs user { username } project { name } userPermissions { updatePipeline }
    upstream { id } sourceJob { name } downstream { nodes { id } }
    stages { nodes { name groups { nodes { name jobs { nodes { name } } } } } }
    jobs { count nodes { name downstreamPipeline { id } stage { status } } } } } } }`
  const ask = () => server.ask(query, { as: alice })
  const jobs = (id: number) => ({
    user: { username: 'alice' },
    builds: [1, 2, 3].map((n) => ({ id: id * 10 + n, name: `j${n}`, stage: `s${n % 2}`, status: 'success' })),
    bridges: [{ id: id * 10 + 4, name: 'b', stage: 's1', status: 'success' }],
    ...(id > 31 && { sourcePipeline: { pipelineId: id - 1, jobId: (id - 1) * 10 + 4, project: { id: app.id } } }),
  })
  for (const id of [31, 32]) await put(id, { ref: `r${id}` }, jobs(id))
  await ask()
  const statements = () => server.world.statements(ask)
  const few = await statements()
  for (let id = 33; id < 50; id++) await put(id, { ref: `r${id}` }, jobs(id))
  const { data } = (await ask()).body
  expect(data.project.pipelines.nodes).toHaveLength(19)
  expect(data.project.pipelines.nodes[0]).toMatchObject({ upstream: { id: 'gid://svc/Ci::Pipeline/48' } })
  expect(await statements()).toBe(few)
  expect(few).toBeGreaterThan(10)
})
