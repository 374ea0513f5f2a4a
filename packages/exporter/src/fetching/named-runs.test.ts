import { afterEach, expect, test } from 'vitest'
import { FetchingWorld, json, readFixture, status } from './fetching.harness.ts'

type Hook = { readonly commit_status: object }
type Bundle = { readonly pipeline: { readonly state: object }; readonly steps: readonly object[] }
const [hook, { pipeline, steps }] = readFixture('bitbucket-commit-status-hook-before-the-pipeline') as [Hook, Bundle]
const event = 'repo:commit_status_updated'
const path = '/2.0/repositories/kiln-works/shelf/pipelines/78'
const DAY_MS = 24 * 3_600_000

let world: FetchingWorld
afterEach(() => world.close())

const answer = (asked: string, run: object = pipeline) => {
  if (asked === path) return json(run)
  return asked.startsWith(`${path}/steps`) ? json({ size: steps.length, values: steps }) : undefined
}

test('a pipeline of Bitbucket is read once its commit has a status, and exported', async () => {
  world = await FetchingWorld.open((asked) => answer(asked), { forge: 'bitbucket' })
  const expected = { status: 202, json: { result: 'kept', reason: 'the run will be read from the forge' } }
  expect(await world.hook(hook, { event })).toMatchObject(expected)
  expect(await world.hook(hook, { event })).toMatchObject({ json: { reason: 'the run is read from the forge once' } })
  await world.fetchAll()
  expect(await world.exportAll()).toEqual(['RUN shelf', 'job: Build'])
  const provider = '{"key":"vcs.provider.name","value":{"stringValue":"bitbucket"}}'
  for (const { body } of world.receiver.sink.requests) expect(body.toString()).toContain(provider)
  expect(await world.hook(hook, { event })).toMatchObject({ json: { reason: 'the run is read from the forge once' } })
  await world.fetchAll()
  expect(world.asked).toHaveLength(2)
})

test('two hooks about one pipeline export it once', async () => {
  world = await FetchingWorld.open((asked) => answer(asked), { forge: 'bitbucket' })
  await world.hook(hook, { event })
  await world.hook({ ...hook, commit_status: { ...hook.commit_status, updated_on: '2026-06-08T08:03:00Z' } }, { event })
  await world.fetchAll()
  expect(await world.exportAll()).toEqual(['RUN shelf', 'job: Build'])
})

test.each([
  ['about a pipeline that is still running', { state: 'INPROGRESS' }],
  ['of another build server', { url: 'https://ci.example/builds/78' }],
])('a hook %s is ignored', async (_, change) => {
  world = await FetchingWorld.open(() => undefined, { forge: 'bitbucket' })
  const other = { ...hook, commit_status: { ...hook.commit_status, ...change } }
  expect(await world.hook(other, { event })).toMatchObject({ json: { result: 'ignored' } })
  expect(await world.hook(hook, { event: 'repo:push' })).toMatchObject({ json: { result: 'ignored' } })
  expect(await world.fetches()).toEqual([])
})

test('a paused pipeline is not exported, and read again when a later hook arrives', async () => {
  const paused = { ...pipeline, state: { name: 'IN_PROGRESS', stage: { name: 'PAUSED' } } }
  let isPaused = true
  world = await FetchingWorld.open((asked) => answer(asked, isPaused ? paused : pipeline), { forge: 'bitbucket' })
  await world.hook(hook, { event })
  await world.fetchAll()
  expect(await world.exportAll()).toEqual([])
  expect(world.metric('unfinished')).toBe(1)
  isPaused = false
  await world.hook({ ...hook, commit_status: { ...hook.commit_status, updated_on: '2026-06-08T09:03:00Z' } }, { event })
  await world.fetchAll()
  expect(await world.exportAll()).toEqual(['RUN shelf', 'job: Build'])
})

test('a pipeline waits for a new token, because no hook describes it', async () => {
  let isRefused = true
  world = await FetchingWorld.open((asked) => (isRefused ? status(401) : answer(asked)), { forge: 'bitbucket' })
  await world.hook(hook, { event })
  for (let attempts = 0; attempts < 3; attempts += 1) {
    await world.clock.advance(300_000)
    await world.attempt()
  }
  expect(world.receiver.logged).toContain('"event":"export.run_read_failing"')
  isRefused = false
  await world.clock.advance(300_000)
  await world.fetchAll()
  expect(await world.exportAll()).toEqual(['RUN shelf', 'job: Build'])
})

test('a pipeline that cannot be read is given up with a line in the log, and read again when its hook is', async () => {
  let isGone = true
  world = await FetchingWorld.open((asked) => (isGone ? undefined : answer(asked)), { forge: 'bitbucket' })
  await world.hook(hook, { event })
  await world.fetchAll()
  expect(world.receiver.logged).toContain('"event":"export.run_lost"')
  expect(world.metric('not_found')).toBe(1)
  isGone = false
  await world.clock.advance(DAY_MS)
  await world.fetchUntil(async () => (await world.fetches('dead')).length === 0)
  await world.hook(hook, { event })
  await world.fetchAll()
  expect(await world.exportAll()).toEqual(['RUN shelf', 'job: Build'])
})
