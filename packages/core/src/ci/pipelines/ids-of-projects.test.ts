import { recordInput, World } from '@penstock/testkit'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { DomainError, Failure } from '../../base/kit/domain-error.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import { removeProject } from '../../code/projects/project-operations.ts'
import { findJob, listAllJobs } from './job-listings.ts'
import type { JobOfPipeline, Pipeline } from './pipeline.ts'
import { findPipeline } from './pipeline-listings.ts'
import {
  getJob,
  getPipeline,
  listPipelineBridges,
  listPipelineJobs,
  listPipelines,
  listProjectJobs,
  putPipelineRecord,
  removePipeline,
} from './pipeline-operations.ts'

let world: World
let root: User
let vault: Project
let garden: Project

beforeEach(async () => {
  world = await World.open()
  root = await world.user('root', { isAdministrator: true })
  vault = await world.project('vault', root)
  garden = await world.project('garden', root)
})
afterEach(() => world.close())

const put = (project: Project, id: number, rest: object = {}) =>
  world.perform(
    root,
    putPipelineRecord,
    recordInput({
      project: project.id,
      pipelineId: id,
      objectAttributes: { id, status: 'success', ref: 'main' },
      ...rest,
    }),
  )
const build = (id: number, rest: object = {}) => ({ id, name: `j${id}`, stage: 'test', status: 'success', ...rest })
const get = (project: Project, pipelineId: number): Promise<Pipeline> =>
  world.perform(root, getPipeline, { project: project.id, pipelineId })
const job = (project: Project, jobId: number): Promise<JobOfPipeline> =>
  world.perform(root, getJob, { project: project.id, jobId })
const remove = (project: Project, pipelineId: number) =>
  world.perform(root, removePipeline, { project: project.id, pipelineId })
const refusal = (answer: Promise<unknown>): Promise<Failure> =>
  answer.then(
    () => expect.fail('should be rejected'),
    (error: DomainError) => error.failure,
  )

test('a project records pipelines and jobs under ids that another project recorded before', async () => {
  for (const id of [1, 2, 3]) await put(garden, id, { builds: [build(id * 10)], bridges: [build(id * 10 + 1)] })
  for (const id of [1, 2, 3]) {
    const more = { builds: [build(id * 10, { status: 'failed' })], bridges: [build(id * 10 + 1)] }
    expect(await put(vault, id, more)).toMatchObject({ isNew: true, pipeline: { id, projectId: vault.id } })
  }
  for (const project of [garden, vault]) {
    const pipelines = await world.perform(root, listPipelines, { project: project.id })
    expect(pipelines.items.map(({ id, projectId }) => [id, projectId])).toEqual([3, 2, 1].map((id) => [id, project.id]))
    const jobs = await world.perform(root, listProjectJobs, { project: project.id })
    const status = project === vault ? 'failed' : 'success'
    expect(jobs.items.map((each) => [each.id, each.status])).toEqual([30, 20, 10].map((id) => [id, status]))
    const keyset = { project: project.id, pagination: 'keyset', perPage: 2 }
    expect((await world.perform(root, listProjectJobs, keyset)).items.map(({ id }) => id)).toEqual([30, 20])
    const bridges = await world.perform(root, listPipelineBridges, { project: project.id, pipelineId: 2 })
    expect(bridges.items.map(({ id }) => id)).toEqual([21])
  }
})

test('the first project has its ids as Global ID numbers, and other projects get numbers outside of the range of ids', async () => {
  await put(garden, 31, { builds: [build(310)] })
  await put(vault, 31, { builds: [build(310), build(311)] })
  expect(await get(garden, 31)).toMatchObject({ id: 31, globalNumber: 31 })
  const second = await get(vault, 31)
  expect(second).toMatchObject({ id: 31, globalNumber: expect.any(Number) })
  expect(second.globalNumber).not.toBe(31)
  expect(await job(garden, 310)).toMatchObject({ globalNumber: 310 })
  expect(await job(vault, 311)).toMatchObject({ globalNumber: 311 })
  const secondJob = await job(vault, 310)
  expect(secondJob.globalNumber).not.toBe(310)

  // Recorded under an id that equals another pipeline's Global ID number.
  const { globalNumber } = second
  await put(garden, globalNumber, { builds: [build(secondJob.globalNumber)] })
  const third = await get(garden, globalNumber)
  expect(new Set([31, globalNumber, third.globalNumber]).size).toBe(3)
  for (const pipeline of [second, third, await get(garden, 31)]) {
    const found = await world.perform(root, findPipeline, { globalNumber: pipeline.globalNumber })
    expect([found.projectId, found.id]).toEqual([pipeline.projectId, pipeline.id])
  }
  for (const each of [secondJob, await job(garden, 310), await job(garden, secondJob.globalNumber)]) {
    const found = await world.perform(root, findJob, { globalNumber: each.globalNumber })
    expect([found.pipeline.projectId, found.id]).toEqual([each.pipeline.projectId, each.id])
  }
})

test('a number is never assigned to another pipeline or job, even after its object was deleted', async () => {
  await put(garden, 31, { builds: [build(310)] })
  await put(vault, 31, { builds: [build(310)] })
  const before = [(await get(vault, 31)).globalNumber, (await job(vault, 310)).globalNumber]
  await remove(vault, 31)
  await remove(garden, 31)
  const shed = await world.project('shed', root)
  await put(shed, 31, { builds: [build(310)] })
  const theirs = [(await get(shed, 31)).globalNumber, (await job(shed, 310)).globalNumber]
  expect(new Set([31, before[0], theirs[0]]).size).toBe(3)
  expect(new Set([310, before[1], theirs[1]]).size).toBe(3)

  // A job that is recorded again gets the same number again.
  await put(vault, 31, { builds: [build(310)] })
  expect([(await get(vault, 31)).globalNumber, (await job(vault, 310)).globalNumber]).toEqual(before)
  await put(garden, 31, { builds: [build(310)] })
  expect([(await get(garden, 31)).globalNumber, (await job(garden, 310)).globalNumber]).toEqual([31, 310])

  await world.perform(root, removeProject, { project: garden.id })
  const other = await world.project('garden', root)
  await put(other, 31)
  const numbers = [31, before[0], theirs[0]]
  expect(numbers).not.toContain((await get(other, 31)).globalNumber)
  expect(await refusal(world.perform(root, findPipeline, { globalNumber: 31 }))).toEqual({ code: 'not_found' })
})

test('a job that several pipelines of a project list has a number in each, and the first is found by the id', async () => {
  await put(garden, 31, { builds: [build(310), build(311)] })
  await put(garden, 32, { builds: [build(310, { status: 'failed' }), build(320)] })
  const [first, again] = [(await jobsOf(garden)).filter((each) => each.id === 310)].map((all) =>
    all.toSorted((a, b) => a.pipeline.id - b.pipeline.id),
  )[0]!
  expect(first).toMatchObject({ globalNumber: 310, status: 'success', pipeline: { id: 31 } })
  expect(again!.globalNumber).not.toBe(310)
  for (const each of [first!, again!]) {
    expect(await world.perform(root, findJob, { globalNumber: each.globalNumber })).toEqual(each)
  }
  expect(await job(garden, 310)).toEqual(first)
  // A record that changes a job does not change its number.
  const later = { objectAttributes: { id: 32, status: 'success', finishedAt: '2026-02-03 05:00:00 UTC' } }
  await put(garden, 32, { ...later, builds: [build(310)] })
  expect(await world.perform(root, findJob, { globalNumber: again!.globalNumber })).toMatchObject({
    id: 310,
    status: 'success',
    pipeline: { id: 32 },
  })
  await remove(garden, 31)
  expect(await job(garden, 310)).toMatchObject({ globalNumber: again!.globalNumber, pipeline: { id: 32 } })
})

test('when projects record the same ids concurrently, one gets the id as its number, and all are recorded', async () => {
  const projects = [garden, vault, await world.project('shed', root)]
  const ids = [1, 2, 3, 4]
  const all = ids.flatMap((id) => projects.map((project) => ({ project, id })))
  await Promise.all(all.map(({ project, id }) => put(project, id, { builds: [build(id * 10), build(7)] })))
  const numbers = await Promise.all(all.map(async ({ project, id }) => (await get(project, id)).globalNumber))
  expect(new Set(numbers).size).toBe(12)
  expect(numbers.filter((number) => number < 100).toSorted()).toEqual(ids)
  const jobs = (await Promise.all(projects.map(jobsOf))).flat().map(({ globalNumber }) => globalNumber)
  expect([jobs.length, new Set(jobs).size]).toEqual([24, 24])
})

test('the database rejects a pipeline or a job number that exists twice in a project', async () => {
  await put(garden, 31, { builds: [build(310)] })
  await put(garden, 32)
  const { db } = world.core
  const pipeline = await db.read.selectFrom('pipelines').selectAll().executeTakeFirstOrThrow()
  await expect(
    db.write((tx) =>
      tx
        .insertInto('pipelines')
        .values({ ...pipeline, id: undefined })
        .execute(),
    ),
  ).rejects.toThrow()
  const row = await db.read.selectFrom('pipeline_jobs').selectAll().executeTakeFirstOrThrow()
  // A row with the number of another one.
  const twin = { ...row, id: undefined, pipeline_key: (await get(garden, 32)).key }
  await expect(db.write((tx) => tx.insertInto('pipeline_jobs').values(twin).execute())).rejects.toThrow()
})

const projectIndex = fc.nat({ max: 2 })
const smallId = fc.integer({ min: 1, max: 4 })
/** Ids, including those in the range of assigned numbers. */
const id = fc.oneof(
  { weight: 4, arbitrary: smallId },
  smallId.map((each) => 2 ** 52 + each),
)
const steps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ put: id, project: projectIndex, jobs: fc.uniqueArray(id, { maxLength: 3 }) }) },
    fc.record({ remove: id, project: projectIndex }),
    fc.record({ replace: projectIndex }),
  ),
  { minLength: 1, maxLength: 25 },
)

test('after any sequence of records and removals in three projects, each number resolves to its only owner', async () => {
  await fc.assert(
    fc.asyncProperty(steps, fc.nat(), async (all, seed) => {
      const projects = await Promise.all([0, 1, 2].map((each) => world.project(`p${seed}-${each}-${runs++}`, root)))
      /** The object for which each number was seen first. */
      const seen = { pipeline: new Map<number, string>(), job: new Map<number, string>() }
      let minute = 0
      for (const step of all) {
        if ('replace' in step) {
          await world.perform(root, removeProject, { project: projects[step.replace]!.id })
          projects[step.replace] = await world.project(`p${seed}-${step.replace}-${runs++}`, root)
        } else if ('remove' in step) {
          await remove(projects[step.project]!, step.remove).catch(() => {})
        } else {
          const finishedAt = new Date(Date.UTC(2026, 1, 3) + 60_000 * minute++).toISOString()
          const objectAttributes = { id: step.put, status: 'success', finishedAt }
          const builds = step.jobs.map((each) => build(each, { bridge: each % 2 === 0 }))
          await put(projects[step.project]!, step.put, { objectAttributes, builds })
        }
        const project = projects['replace' in step ? step.replace : step.project]!
        for (const one of (await world.perform(root, listPipelines, { project: project.id })).items) {
          const name = `${project.id} ${one.id}`
          expect(seen.pipeline.get(one.globalNumber) ?? name).toBe(name)
          seen.pipeline.set(one.globalNumber, name)
        }
        for (const one of await jobsOf(project)) {
          const name = `${project.id} ${one.id}`
          expect(seen.job.get(one.globalNumber) ?? name).toBe(name)
          seen.job.set(one.globalNumber, name)
        }
      }
      const remaining = (await Promise.all(projects.map(jobsOf))).flat()
      const jobs = new Map(remaining.map((each) => [each.globalNumber, each]))
      expect(jobs.size).toBe(remaining.length)
      for (const globalNumber of seen.job.keys()) {
        const found = await world.perform(root, findJob, { globalNumber }).catch(() => undefined)
        expect(found).toEqual(jobs.get(globalNumber))
      }
      for (const [globalNumber, name] of seen.pipeline) {
        const found = await world.perform(root, findPipeline, { globalNumber }).catch(() => undefined)
        expect(found === undefined ? name : `${found.projectId} ${found.id}`).toBe(name)
      }
    }),
    { numRuns: 25 },
  )
}, 120_000)
let runs = 0

async function jobsOf(project: Project): Promise<JobOfPipeline[]> {
  const { items } = await world.perform(root, listPipelines, { project: project.id })
  const lists = await Promise.all(
    items.flatMap(({ id: pipelineId }) =>
      [listPipelineJobs, listPipelineBridges].map(
        async (list) => (await world.perform(root, list, { project: project.id, pipelineId })).items,
      ),
    ),
  )
  return lists.flat()
}

test('paging through the jobs of all projects returns each job once, even if projects have the same ids', async () => {
  for (const project of [garden, vault]) await put(project, 1, { builds: [1, 2, 3].map((each) => build(each)) })
  const { listing } = await world.perform(root, listAllJobs, {})
  const seen: string[] = []
  for (let after: string | undefined; ; ) {
    const [page] = await listing.pages({ first: 2, after })
    seen.push(...page!.items.map((each) => `${each.pipeline.projectId} ${each.id}`))
    if (!page!.hasMore) break
    after = page!.endCursor
  }
  expect(seen.map((each) => each.split(' ')[1])).toEqual(['3', '3', '2', '2', '1', '1'])
  expect(new Set(seen).size).toBe(6)
})
