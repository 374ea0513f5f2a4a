import { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { performBatch } from '../kit/perform.ts'
import { watchedReads } from '../kit/watched-reads.ts'
import type { Project } from '../projects/project.ts'
import type { User } from '../users/user.ts'
import { jobsOfPipelines, listJobsOfEachPipeline } from './jobs-of-each.ts'
import { getPipeline, putPipelineRecord } from './pipeline-operations.ts'

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
  const input = { project: app.id, pipelineId: id, objectAttributes: { id, status }, payload: '{}' }
  await world.perform(root, putPipelineRecord, { ...input, builds })
  return world.perform(root, getPipeline, { project: app.id, pipelineId: id })
}
const build = (id: number, rest: object = {}) => ({ id, name: `j${id}`, stage: 'test', status: 'success', ...rest })
const tags = Array.from({ length: 100 }, (_, index) => `${index} `.padEnd(1_024, '籤'))
const long = { runner: { id: 1, description: 'r', tags } }

test('jobs with much to tell are read in parts, and stand where the others do', async () => {
  // Of 300 kB each, so that 13 are read at once.
  const pipeline = await put(
    1,
    Array.from({ length: 40 }, (_, index) => build(index + 1, index % 2 === 0 ? long : {})),
  )
  const characters: number[] = []
  const reads = watchedReads(world.core, { begins() {}, gave: (count) => void characters.push(count) })
  const [listed] = await performBatch(world.core, root, listJobsOfEachPipeline, [pipeline], {}, reads)
  const [page] = await listed!.listing.pages({ first: 100 })
  expect(page!.items.map(({ id }) => id)).toEqual(Array.from({ length: 40 }, (_, index) => 40 - index))
  expect(page!.items.map(({ runner }) => runner?.tags.length)).toEqual(
    Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? undefined : 100)),
  )
  expect(page!.items[1]!.runner!.tags).toEqual(tags)
  expect([characters.length, Math.max(...characters) < 1_500_000]).toEqual([3, true])
  // Each time all there is, whatever is shown of it.
  expect(characters.reduce((sum, count) => sum + count)).toBeGreaterThan(20 * 100 * 1_024)
})

test('a job that goes while its page is read is not on it', async () => {
  const pipeline = await put(1, [build(1), build(2, long), build(3)], 'running')
  const [listed] = await performBatch(world.core, root, listJobsOfEachPipeline, [pipeline], {})
  let statements = 0
  const reads = world.core.db.read.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      statements += 1
      if (statements === 1) await put(1, [build(1), build(3), build(4)])
      return result
    },
  })
  const [watched] = await performBatch(world.core, root, listJobsOfEachPipeline, [pipeline], {}, reads)
  const [page] = await watched!.listing.pages({ first: 100 })
  expect(page!.items.map(({ id }) => id)).toEqual([3, 1])
  expect(page!.cursors).toHaveLength(2)
  const [later] = await listed!.listing.pages({ first: 100 })
  expect(later!.items.map(({ id }) => id)).toEqual([4, 3, 1])
})

test('of pipelines with thousands of jobs, all of each, by id', async () => {
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
