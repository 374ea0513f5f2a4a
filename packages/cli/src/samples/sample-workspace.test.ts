import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { silentLog } from '@penstock/runtime'
import { WORLD_BEGINS_MS, World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeSamples, pendingSamples, type SampleOptions } from './sample-workspace.ts'

let world: World

beforeEach(async () => {
  world = await World.open()
})
afterEach(() => world.close())

const isPending = () => existsSync(join(world.directory, 'sample-workspace.pending'))
const options = (newIngestToken: SampleOptions['newIngestToken']): SampleOptions => ({
  ...{
    dataDir: world.directory,
    begunMs: WORLD_BEGINS_MS,
    core: world.core,
    hasEarlierRuns: false,
    newIngestToken,
    log: silentLog,
    signal: new AbortController().signal,
  },
})

test('samples are created only in a new directory, and a pending creation keeps its time', () => {
  expect(pendingSamples(world.directory, false, 1_000)).toBeUndefined()
  expect(readdirSync(world.directory)).not.toContain('sample-workspace.pending')
  expect(pendingSamples(world.directory, true, 1_000)).toBe(1_000)
  expect(pendingSamples(world.directory, false, 9_000)).toBe(1_000)
  const file = join(world.directory, 'sample-workspace.pending')
  expect(readFileSync(file, 'utf8')).toBe('1970-01-01T00:00:01.000Z')
  writeFileSync(file, '')
  expect(pendingSamples(world.directory, false, 9_000)).toBe(9_000)
})

test('a failure is reported, does not fail the start, and is retried by the next start', async () => {
  pendingSamples(world.directory, true, WORLD_BEGINS_MS)
  const failed = await makeSamples(options(() => Promise.reject(new Error('the disk is full'))))
  expect(failed).toEqual({
    sentence: 'The sample workspace could not be created; the next start tries again: the disk is full',
    project: undefined,
    completed: expect.any(Promise),
  })
  expect(isPending()).toBe(true)
  const made = await makeSamples(options(async () => 'psin_0123456789ab_made'))
  expect(made).toMatchObject({ project: 'mossgate/shop/storefront' })
  expect(made?.sentence).toContain('its 33 pipelines are being sent')
  await made?.completed
  expect(isPending()).toBe(false)
})

test('a start that is stopped leaves the earlier pipelines to the next one', async () => {
  pendingSamples(world.directory, true, WORLD_BEGINS_MS)
  const newIngestToken = async () => 'psin_0123456789ab_made'
  const stopped = { ...options(newIngestToken), hasEarlierRuns: true, signal: AbortSignal.abort() }
  const made = await makeSamples(stopped)
  await made?.completed
  expect(isPending()).toBe(true)
  const recorded = await world.core.db.read.selectFrom('pipelines').select('pipeline_id').execute()
  expect(recorded).toHaveLength(33)
})

test('a core that is in use never gets samples', async () => {
  await world.user('mira')
  pendingSamples(world.directory, true, WORLD_BEGINS_MS)
  expect(await makeSamples(options(async () => 'psin_0123456789ab_made'))).toBeUndefined()
  expect(isPending()).toBe(false)
})
