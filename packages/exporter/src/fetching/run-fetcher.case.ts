import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { NewPlace } from '../exporting.harness.ts'
import { API_TOKEN, answering, FetchingWorld, githubRun, json, status } from './fetching.harness.ts'

const ALL = ['RUN CI', 'job: build', 'job: test']
const MINUTE_MS = 60_000

/** Defines the tests on runs that are read from the REST API of their forge. */
export function describeRunFetcher(name: string, newPlace: NewPlace): void {
  describe(name, () => {
    const anvil = githubRun()
    let place: { location: string; remove(): Promise<void> }
    let world: FetchingWorld
    const open = async (...[script, settings]: Parameters<typeof FetchingWorld.open>) => {
      world = await FetchingWorld.open(script, { location: place.location, ...settings })
      return world
    }

    beforeEach(async () => {
      place = await newPlace()
    })
    afterEach(async () => {
      await world.close()
      await place.remove()
    })

    test('a run is read once its hook has arrived, and exported with its jobs', async () => {
      await open(answering(anvil))
      expect(await world.hook(anvil.hook)).toMatchObject({ status: 202, json: { result: 'enqueued' } })
      expect(await world.receiver.keys()).toEqual([])
      await world.fetchAll()
      expect(await world.exportAll()).toEqual(ALL)
      expect(world.asked).toHaveLength(2)
      expect(world.server.requests[0]?.headers.authorization).toBe(`Bearer ${API_TOKEN}`)
      expect(world.metric('read')).toBe(1)
      expect(await world.receiver.db.read.selectFrom('export_run_fetches').selectAll().execute()).toEqual([])
    })

    test('a hook that arrives twice lets the run be read and exported once', async () => {
      await open(answering(anvil))
      await world.hook(anvil.hook)
      expect(await world.hook(anvil.hook)).toMatchObject({ json: { result: 'kept' } })
      await world.fetchAll()
      expect(await world.hook(anvil.hook)).toMatchObject({ json: { result: 'kept' } })
      await world.fetchAll()
      expect(await world.exportAll()).toEqual(ALL)
      expect(await world.hook(anvil.hook)).toMatchObject({ json: { result: 'kept' } })
      expect(await world.exportAll()).toEqual(ALL)
      expect(world.asked).toHaveLength(2)
    })

    test('job hooks before the answer are merged, and later ones add nothing', async () => {
      const [build, other] = anvil.jobHooks
      await open(answering({ ...anvil, jobs: json({ total_count: 1, jobs: anvil.listed.slice(0, 1) }) }))
      await world.hook(other)
      await world.hook(anvil.hook)
      await world.hook(build)
      await world.fetchAll()
      await world.hook(build)
      expect(await world.exportAll()).toEqual(ALL)
      await world.hook(build)
      await world.hook(other)
      expect(await world.exportAll()).toEqual(ALL)
    })

    test('a job that the answer did not list is sent alone', async () => {
      await open(answering({ ...anvil, jobs: json({ total_count: 1, jobs: anvil.listed.slice(0, 1) }) }))
      await world.hook(anvil.hook)
      await world.fetchAll()
      expect(await world.exportAll()).toEqual(ALL.slice(0, 2))
      await world.hook(anvil.jobHooks[1])
      expect(await world.exportAll()).toEqual(ALL)
    })

    test('an interrupted read continues after the answers that it has got', async () => {
      let isLimited = true
      await open((path) => {
        if (isLimited && path.includes('/jobs')) return status(429, { 'retry-after': '120' })
        return answering(anvil)(path, 0)
      })
      await world.hook(anvil.hook)
      await world.attempt()
      const [{ dueAtMs, reason } = { dueAtMs: 0, reason: '' }] = await world.fetches()
      expect(dueAtMs).toBe(world.clock.nowMs() + 120_000)
      expect(reason).toMatch(/HTTP 429$/)
      isLimited = false
      await world.fetchAll()
      expect(await world.exportAll()).toEqual(ALL)
      expect(world.asked.filter((path) => path === anvil.path)).toHaveLength(1)
    })

    test('a run that another process has begun to read is read again after its lease', async () => {
      await open(answering(anvil))
      await world.hook(anvil.hook)
      const { queue } = world.receiver.fetcher
      await queue.claim(
        'source:forge',
        { claim: 'a killed process', limit: 1, leaseMs: MINUTE_MS },
        world.clock.nowMs(),
      )
      await world.fetchAll()
      expect(await world.exportAll()).toEqual(ALL)
    })

    test('an attempt takes nothing in if another process has ended the fetch', async () => {
      let ended: Promise<unknown> | undefined
      await open((path) => {
        const { db } = world.receiver
        if (path.includes('/jobs')) ended = db.write((tx) => tx.deleteFrom('export_run_fetches').execute())
        return answering(anvil)(path, 0)
      })
      await world.hook(anvil.hook)
      await world.fetchAll()
      await ended
      expect(await world.exportAll()).toEqual([])
    })

    test.each([
      ['unauthorized', 401],
      ['forbidden', 403],
      ['not_found', 404],
      ['refused', 400],
      ['refused', 301],
    ])('%s: a run that cannot be read is exported with the jobs of its hooks (HTTP %d)', async (cause, code) => {
      await open(() => status(code, { location: 'https://elsewhere.example/' }))
      await world.hook(anvil.hook)
      await world.hook(anvil.jobHooks[0])
      await world.fetchAll()
      expect(world.asked).toHaveLength(1)
      expect(world.metric(cause)).toBe(1)
      await world.hook(anvil.jobHooks[1])
      expect(await world.exportAll()).toEqual(ALL)
      expect(world.receiver.logged).toContain('"event":"export.run_not_read"')
      expect(world.receiver.logged).toContain(`"cause":"${cause}"`)
      expect(world.receiver.logged).not.toContain(API_TOKEN)
      const refusals = await world.receiver.db.read.selectFrom('export_token_refusals').select('scope').execute()
      expect(refusals).toEqual(code === 401 || code === 403 ? [{ scope: 'source:forge' }] : [])
    })

    test('a refused token is tried again after a minute, and forgotten once it is accepted', async () => {
      const runs = [0n, 1n, 2n].map(githubRun)
      let isRefused = true
      await open((path) =>
        isRefused ? status(401) : runs.map((run) => answering(run)(path, 0)).find((reply) => reply !== undefined),
      )
      for (const { hook } of runs.slice(0, 2)) await world.hook(hook)
      await world.fetchAll()
      expect(world.asked).toHaveLength(1)
      isRefused = false
      await world.clock.advance(MINUTE_MS)
      await world.hook(runs[2]!.hook)
      await world.fetchAll()
      expect(world.metric('read')).toBe(1)
      expect(await world.receiver.db.read.selectFrom('export_token_refusals').selectAll().execute()).toEqual([])
    })

    test('a run that cannot be read in time is exported with the jobs of its hooks', async () => {
      await open(() => status(503), { limits: { giveUpAfterMs: 10 * MINUTE_MS } })
      await world.hook(anvil.hook)
      await world.fetchAll()
      expect(world.metric('expired')).toBe(1)
      expect(await world.exportAll()).toEqual(['RUN CI'])
    })

    test('the rate limit of a source does not hold up another source', async () => {
      const other = githubRun(5n)
      const busy: string[] = []
      await open(
        (path) => {
          if (path.startsWith('/other')) return answering(other)(path.slice('/other'.length), 0)
          busy.push(path)
          return status(403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(resetSeconds()) })
        },
        { more: { other: '/other' } },
      )
      const resetSeconds = () => world.clock.nowMs() / 1_000 + 1_800
      await world.hook(anvil.hook)
      await world.attempt()
      await world.hook(githubRun(1n).hook)
      await world.hook(other.hook, { source: 'other' })
      await world.fetchUntil(async () => (await world.fetches('delivered')).length === 1)
      expect(busy).toHaveLength(1)
      const [first] = (await world.fetches()).toReversed()
      expect(first?.dueAtMs).toBe(world.clock.nowMs() + 1_800_000)
    })

    test('a run that has not ended according to the forge is asked again', async () => {
      const running = { ...(anvil.hook.workflow_run as object), status: 'in_progress', conclusion: null }
      let answers = 0
      await open((path) => {
        if (path === anvil.path && answers++ < 2) return json(running)
        return answering(anvil)(path, 0)
      })
      await world.hook(anvil.hook)
      expect(await world.fetchAll()).toBe(3)
      expect(await world.exportAll()).toEqual(ALL)
    })

    test('an answer about another run is refused', async () => {
      const other = githubRun(9n)
      await open(answering({ ...anvil, run: other.run }))
      await world.hook(anvil.hook)
      await world.fetchAll()
      expect(world.metric('unreadable')).toBe(1)
      expect(await world.exportAll()).toEqual(['RUN CI'])
    })
  })
}
