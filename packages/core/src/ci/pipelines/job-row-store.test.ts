import { recordInput, World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { DomainError } from '../../base/kit/domain-error.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import { perform, performBatch } from '../../base/operations/perform.ts'
import { type Reads, watchedReads } from '../../base/operations/watched-reads.ts'
import { findJobOfEachProject, jobsOfPipelines, listJobsOfEachPipeline, listJobsOfEachProject } from './job-listings.ts'
import { getJob, getPipeline, listProjectJobs, putPipelineRecord, removePipeline } from './pipeline-operations.ts'

let world: World
let root: User
let app: Project

beforeEach(async () => {
  world = await World.open()
  root = await world.user('root', { isAdministrator: true })
  app = await world.project('app', root)
})
afterEach(() => world.close())

async function put(id: number, builds: readonly object[], status = 'success') {
  const input = { project: app.id, pipelineId: id, objectAttributes: { id, status } }
  await world.perform(root, putPipelineRecord, recordInput({ ...input, builds }))
  return world.perform(root, getPipeline, { project: app.id, pipelineId: id })
}
const build = (id: number, rest: object = {}) => ({ id, name: `j${id}`, stage: 'test', status: 'success', ...rest })
const tags = Array.from({ length: 100 }, (_, index) => `${index} `.padEnd(1_024, '籤'))
const long = { runner: { id: 1, description: 'r', tags } }

test('jobs with long details are read in parts, and keep their order', async () => {
  // Each has 300 kB, so 13 are read at once.
  const pipeline = await put(
    1,
    Array.from({ length: 40 }, (_, index) => build(index + 1, index % 2 === 0 ? long : {})),
  )
  const characters: number[] = []
  const reads = watchedReads(
    world.core,
    {},
    { requireOpen() {}, countCharacters: (count) => void characters.push(count) },
  )
  const [listed] = await performBatch(world.core, root, listJobsOfEachPipeline, [pipeline], {}, reads)
  const [page] = await listed!.listing.pages({ first: 100 })
  expect(page!.items.map(({ id }) => id)).toEqual(Array.from({ length: 40 }, (_, index) => 40 - index))
  expect(page!.items.map(({ runner }) => runner?.tags.length)).toEqual(
    Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? undefined : 100)),
  )
  expect(page!.items[1]!.runner!.tags).toEqual(tags)
  expect([characters.length, Math.max(...characters) < 1_500_000]).toEqual([3, true])
  // Whole rows were read, not only the shown fields.
  expect(characters.reduce((sum, count) => sum + count)).toBeGreaterThan(20 * 100 * 1_024)
})

/** Returns reads that call `during` once, right after the first job row has been read. */
function readsWith(during: () => Promise<unknown>): Reads {
  let isDone = false
  return world.core.db.read.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      if (!isDone && result.rows.some((row) => 'job_id' in row)) {
        isDone = true
        await during()
      }
      return result
    },
  })
}

test('a job that changes while its page is read is shown with the new data', async () => {
  const running = { status: 'running' }
  const pipeline = await put(1, [build(1, running), build(2, { ...long, ...running }), build(3, running)], 'running')
  const reads = readsWith(() => put(1, [build(1), build(2, { ...long, name: 'new' }), build(3)]))
  const [listed] = await performBatch(world.core, root, listJobsOfEachPipeline, [pipeline], {}, reads)
  const [page] = await listed!.listing.pages({ first: 100 })
  expect(page!.items.map(({ id, name, status }) => [id, name, status])).toEqual([
    [3, 'j3', 'running'],
    [2, 'new', 'success'],
    [1, 'j1', 'running'],
  ])
})

test('a second record of a pipeline updates the rows of its jobs in place', async () => {
  await put(1, [build(1), build(2), build(3, { status: 'running' })], 'running')
  const ids = async () =>
    new Map(
      (await world.core.db.read.selectFrom('pipeline_jobs').select(['id', 'job_id', 'status']).execute()).map(
        ({ id, job_id, status }) => [job_id, [id, status]],
      ),
    )
  const before = await ids()
  await put(1, [build(2), build(3), build(4)])
  const after = await ids()
  expect([...after.keys()].toSorted()).toEqual([2, 3, 4])
  expect([after.get(2), after.get(3)]).toEqual([before.get(2), [before.get(3)![0], 'success']])
})

const ofProject: readonly [string, (reads: Reads) => Promise<unknown>, unknown][] = [
  [
    'a page by number',
    async (reads) => (await perform(world.core, root, listProjectJobs, { project: app.id }, { reads })).items,
    [],
  ],
  [
    'a page by cursor',
    async (reads) =>
      (await perform(world.core, root, listProjectJobs, { project: app.id, pagination: 'keyset' }, { reads })).items,
    [],
  ],
  [
    'one job',
    (reads) =>
      perform(world.core, root, getJob, { project: app.id, jobId: 2 }, { reads }).catch(
        (error: DomainError) => error.failure.code,
      ),
    'not_found',
  ],
  [
    'one of each project',
    (reads) => performBatch(world.core, root, findJobOfEachProject, [app], { globalNumber: 2 }, reads),
    [undefined],
  ],
  [
    'the list of each project',
    async (reads) => {
      const [listed] = await performBatch(world.core, root, listJobsOfEachProject, [app], {}, reads)
      const [page] = await listed!.listing.pages({ first: 1 })
      return [page!.items, page!.hasMore, page!.endCursor === undefined]
    },
    [[], true, false],
  ],
]

test.each(ofProject)(
  'jobs of a pipeline that is removed while they are read are left out of %s',
  async (_, query, expected) => {
    await put(1, [build(1), build(2)])
    const reads = readsWith(() => world.perform(root, removePipeline, { project: app.id, pipelineId: 1 }))
    expect(await query(reads)).toEqual(expected)
  },
)

test('a job that is removed while its page is read is left out', async () => {
  const pipeline = await put(1, [build(1), build(2, long), build(3)], 'running')
  const [listed] = await performBatch(world.core, root, listJobsOfEachPipeline, [pipeline], {})
  const reads = readsWith(() => put(1, [build(1), build(3), build(4)]))
  const [watched] = await performBatch(world.core, root, listJobsOfEachPipeline, [pipeline], {}, reads)
  const [page] = await watched!.listing.pages({ first: 100 })
  expect(page!.items.map(({ id }) => id)).toEqual([3, 1])
  expect(page!.cursors).toHaveLength(2)
  const [later] = await listed!.listing.pages({ first: 100 })
  expect(later!.items.map(({ id }) => id)).toEqual([4, 3, 1])
})

test('all jobs of pipelines with thousands of jobs are returned in the order of their ids', async () => {
  const counts = [3_000, 1, 3_100]
  const pipelines = []
  for (const [index, count] of counts.entries()) {
    pipelines.push(
      await put(
        index + 1,
        Array.from({ length: count }, (_, job) => build(index * 10_000 + job + 1)),
      ),
    )
  }
  const found = await performBatch(world.core, root, jobsOfPipelines, pipelines, {})
  for (const [index, jobs] of found.entries()) {
    expect(jobs.map(({ id }) => id)).toEqual(
      Array.from({ length: counts[index]! }, (_, job) => index * 10_000 + job + 1),
    )
  }
})
