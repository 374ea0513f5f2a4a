import { accessLevels, type Project, removeProject, type User } from '@penstock/core'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { GraphqlServer } from '../../http/graphql-server.harness.ts'
import { putRecord } from './put-record.harness.ts'

let server: GraphqlServer
let alice: User
let garden: Project
let vault: Project

beforeEach(async () => {
  server = await GraphqlServer.start()
  const { world } = server
  alice = await world.user('alice')
  garden = await world.project('garden', await world.group('acme'))
  vault = await world.project('vault', await world.group('ops'))
  for (const project of [garden, vault]) await world.member(project, alice, accessLevels.owner)
})
afterEach(() => server.close())

const job = (id: number, more: object = {}) => ({ id, name: `j${id}`, stage: 'test', status: 'success', ...more })
const artifacts = { artifactsFile: { filename: 'a.zip', size: 7 } }
const put = (project: Project, id: number, run: object = {}) =>
  putRecord(server.world, alice, project, id, run, {
    builds: [job(id * 10, artifacts)],
    bridges: [job(id * 10 + 1)],
  })

const parts = `id detailedStatus { id } stages { nodes { id groups { nodes { id } } } }
  jobs { nodes { id kind detailedStatus { id } artifacts { nodes { id } } } }`

async function pipelinesOf(project: Project) {
  const query = `{ project(fullPath: "${project.fullPath}") { pipelines { nodes { iid ${parts} } } } }`
  const { body } = await server.ask(query, { as: alice })
  expect(body.errors).toBeUndefined()
  return body.data.project.pipelines.nodes
}

/** Returns all Global IDs in an answer, except those of statuses, which cannot be looked up. */
const globalIds = (answer: unknown): string[] =>
  JSON.stringify(answer)
    .match(/gid:[^"]+/g)!
    .filter((gid) => !gid.includes('/DetailedStatus/'))

test('prints different Global IDs for pipelines with equal ids in two projects, and finds each by its own', async () => {
  for (const id of [31, 32]) await put(garden, id)
  for (const id of [31, 32]) await put(vault, id)
  const [ours, theirs] = [await pipelinesOf(garden), await pipelinesOf(vault)]
  expect(ours.map(({ id }: { id: string }) => id)).toEqual(['gid://svc/Ci::Pipeline/32', 'gid://svc/Ci::Pipeline/31'])
  expect(ours[1].jobs.nodes).toMatchObject([
    { id: 'gid://svc/Ci::Bridge/311', kind: 'BRIDGE' },
    { id: 'gid://svc/Ci::Build/310', artifacts: { nodes: [{ id: 'gid://svc/Ci::JobArtifact/310' }] } },
  ])
  const all = [...globalIds(ours), ...globalIds(theirs)]
  expect(new Set(all).size).toBe(all.length)

  for (const [project, other, pipelines] of [
    [garden, vault, ours],
    [vault, garden, theirs],
  ] as const) {
    for (const pipeline of pipelines) {
      const [bridge, build] = pipeline.jobs.nodes
      const query = `query One($project: ID!, $other: ID!, $id: CiPipelineID!, $ids: [ID!], $build: JobID!, $bridge: JobID!, $stage: CiStageID!) {
        project(fullPath: $project) {
          pipeline(id: $id) { id iid job(id: $build) { id } }
          pipelines(ids: $ids) { nodes { id } } build: job(id: $build) { id } bridge: job(id: $bridge) { id }
        }
        other: project(fullPath: $other) {
          pipeline(id: $id) { id } pipelines(ids: $ids) { nodes { id } } job(id: $build) { id }
        }
        ciPipelineStage(id: $stage) { id jobs { nodes { id } } }
      }`
      const stage = pipeline.stages.nodes[0].id
      const ids = { id: pipeline.id, ids: [pipeline.id], build: build.id, bridge: bridge.id, stage }
      const variables = { project: project.fullPath, other: other.fullPath, ...ids }
      expect((await server.ask(query, { as: alice, variables })).body).toEqual({
        data: {
          project: {
            pipeline: { id: pipeline.id, iid: pipeline.iid, job: { id: build.id } },
            pipelines: { nodes: [{ id: pipeline.id }] },
            build: { id: build.id },
            bridge: { id: bridge.id },
          },
          other: { pipeline: null, pipelines: { nodes: [] }, job: null },
          ciPipelineStage: { id: stage, jobs: { nodes: [{ id: build.id }, { id: bridge.id }] } },
        },
      })
    }
  }
})

test('changes only the pipeline with the given Global ID in a mutation', async () => {
  await put(garden, 31)
  await put(vault, 31)
  const [{ id }] = await pipelinesOf(vault)
  const destroy = 'mutation Destroy($id: CiPipelineID!) { pipelineDestroy(input: { id: $id }) { errors } }'
  const { body } = await server.ask(destroy, { as: alice, variables: { id } })
  expect(body).toEqual({ data: { pipelineDestroy: { errors: [] } } })
  expect(await pipelinesOf(vault)).toEqual([])
  expect(await pipelinesOf(garden)).toHaveLength(1)
  const again = await server.ask(destroy, { as: alice, variables: { id } })
  expect(again.body.errors).toMatchObject([{ path: ['pipelineDestroy'] }])
  expect(await pipelinesOf(garden)).toHaveLength(1)
})

test('finds the upstream pipeline in the named project, even if other projects have a pipeline with that id', async () => {
  for (const project of [garden, vault]) await put(project, 31)
  const home = { id: 9, pathWithNamespace: garden.fullPath }
  const child = (project: Project, id: number) =>
    putRecord(
      server.world,
      alice,
      project,
      id,
      {},
      {
        hookProject: { id: project.id + 100, pathWithNamespace: project.fullPath },
        sourcePipeline: { pipelineId: 31, jobId: 311, project: home },
      },
    )
  await child(vault, 41)
  await putRecord(
    server.world,
    alice,
    vault,
    42,
    { source: 'parent_pipeline' },
    {
      sourcePipeline: { pipelineId: 31, jobId: 311 },
    },
  )
  const nodes = 'nodes { id upstream { project { path } } sourceJob { id } }'
  const query = `{ project(fullPath: "ops/vault") {
    children: pipelines(source: "parent_pipeline") { ${nodes} } others: pipelines(first: 1) { ${nodes} } } }`
  const { body } = await server.ask(query, { as: alice })
  const bridgeOf = async (project: Project) => (await pipelinesOf(project)).at(-1).jobs.nodes[0].id
  const { children, others } = body.data.project
  expect([...children.nodes, ...others.nodes]).toMatchObject([
    { upstream: { project: { path: 'vault' } }, sourceJob: { id: await bridgeOf(vault) } },
    { upstream: { project: { path: 'garden' } }, sourceJob: { id: await bridgeOf(garden) } },
  ])
  const below = `{ project(fullPath: "acme/garden") { pipelines { nodes { downstream { nodes { iid } } } } } }`
  expect((await server.ask(below, { as: alice })).body.data.project.pipelines.nodes).toEqual([
    { downstream: { nodes: [{ iid: '41' }] } },
  ])
})

const step = fc.record({
  kind: fc.constantFrom('put', 'put', 'put', 'destroy', 'replace'),
  project: fc.nat({ max: 2 }),
  id: fc.integer({ min: 1, max: 3 }),
})

test('never prints one Global ID for two objects, whatever three projects record', async () => {
  const { world } = server
  let projectCount = 0
  const newProject = async () => {
    const project = await world.project(`p${++projectCount}`, await world.group(`g${projectCount}`))
    await world.member(project, alice, accessLevels.owner)
    return project
  }
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 10 }), async (steps) => {
      const projects = [await newProject(), await newProject(), await newProject()]
      /** The object that each Global ID was printed for. */
      const printed = new Map<string, string>()
      for (const { kind, project: at, id } of steps) {
        const project = projects[at]!
        if (kind === 'put') await put(project, id, { finishedAt: `2026-02-03 04:00:${10 + (printed.size % 50)} UTC` })
        else if (kind === 'replace') {
          await world.perform(alice, removeProject, { project: project.id })
          projects[at] = await newProject()
        } else {
          const pipeline = (await pipelinesOf(project)).find(({ iid }: { iid: string }) => iid === String(id))
          const destroy = 'mutation Destroy($id: CiPipelineID!) { pipelineDestroy(input: { id: $id }) { errors } }'
          if (pipeline) await server.ask(destroy, { as: alice, variables: { id: pipeline.id } })
        }
        const each = projects[at]!
        for (const pipeline of await pipelinesOf(each)) {
          const name = `${each.fullPath} ${pipeline.iid}`
          for (const gid of globalIds(pipeline)) {
            expect(printed.get(gid) ?? name, gid).toBe(name)
            printed.set(gid, name)
          }
        }
      }
    }),
    { numRuns: 10 },
  )
}, 120_000)
