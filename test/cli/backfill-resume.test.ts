import { copyFileSync, existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { accepted, type Backfill, backfill, idsUpTo, receiver, stateFile, tracesOf, upTo } from './backfill-run.ts'
import { type ForgePipeline, forgeToken, ScriptedForge } from './scripted-forge.ts'

const flags = ['--signals', 'traces', '--per-page', '3']
const inOrder = [...flags, '--concurrency', '1']
/** The number of concurrent requests to the receiver, which may be repeated after an interruption. */
const UNDER_WAY = 4

const tree: readonly ForgePipeline[] = [
  ...upTo(4),
  { id: 5, starts: [{ id: 6 }] },
  { id: 6, hidden: true },
  { id: 7, status: 'running' },
  { id: 8 },
  { id: 9 },
]
const finishedIds = ['1', '2', '3', '4', '5', '6', '8', '9']

/** Starts forge and receiver with a state file. `onRequest(n)` is called when the n-th request to either arrives. */
async function stage(onRequest: (count: number) => void = () => {}) {
  let count = 0
  const forge = await ScriptedForge.start(tree)
  forge.trouble = () => void onRequest(++count)
  const server = await receiver(() => {
    onRequest(++count)
    return accepted
  })
  const run: Backfill = { from: forge.server.url, endpoint: server.url, state: await stateFile(), flags }
  return { forge, server, run, requests: () => count }
}

async function stageInOrder() {
  const all = await stage()
  return { ...all, run: { ...all.run, flags: inOrder } }
}

async function requestsOfOneRun(): Promise<number> {
  const { run, server, requests } = await stage()
  expect((await backfill(run)).exitCode).toBe(0)
  expect(tracesOf(server.requests).toSorted()).toEqual(finishedIds)
  return requests()
}

const repeated = (ids: readonly string[]): number => ids.length - new Set(ids).size

describe('an interruption at every request', () => {
  test('by a signal: no pipeline is skipped, and only the requests in progress are repeated', async () => {
    const total = await requestsOfOneRun()
    expect(total).toBeGreaterThan(30)
    for (let at = 1; at <= total; at++) {
      const interruption = new AbortController()
      const { run, server } = await stage((count) => count === at && interruption.abort())
      const world = { env: { PENSTOCK_FORGE_TOKEN: forgeToken }, signal: interruption.signal }
      const first = await backfill({ ...run, world })
      expect(first.exitCode).toBe(130)
      if (at > 1) {
        expect(first.stderr).toContain(
          `run the same command again to continue; accepted pipelines are recorded in ${run.state}`,
        )
      }
      expect((await backfill(run)).exitCode).toBe(0)
      const ids = tracesOf(server.requests)
      expect([...new Set(ids)].toSorted()).toEqual(finishedIds)
      expect(repeated(ids)).toBeLessThanOrEqual(UNDER_WAY)
    }
  })

  test('by a kill: the next run continues from the file as it was at that moment', async () => {
    const total = await requestsOfOneRun()
    for (let at = 1; at <= total; at++) {
      const copy = await stateFile()
      let inTime: string[] = []
      const killed: Awaited<ReturnType<typeof stage>> = await stage((count) => {
        if (count !== at) return
        inTime = tracesOf(killed.server.requests)
        if (existsSync(killed.run.state)) copyFileSync(killed.run.state, copy)
      })
      await backfill(killed.run)
      const before = killed.server.requests.length
      expect((await backfill({ ...killed.run, state: copy })).exitCode).toBe(0)
      const ids = [...inTime, ...tracesOf(killed.server.requests.slice(before))]
      expect([...new Set(ids)].toSorted()).toEqual(finishedIds)
      expect(repeated(ids)).toBeLessThanOrEqual(UNDER_WAY)
    }
  })

  test('repeatedly, after every few requests', async () => {
    const EVERY = 25
    let interruption = new AbortController()
    let next = EVERY
    const { run, server } = await stage((count) => {
      if (count < next) return
      next = count + EVERY
      interruption.abort()
    })
    let runs = 0
    for (let exitCode: number | null = 130; exitCode === 130; runs++) {
      expect(runs).toBeLessThan(20)
      interruption = new AbortController()
      const world = { env: { PENSTOCK_FORGE_TOKEN: forgeToken }, signal: interruption.signal }
      exitCode = (await backfill({ ...run, world })).exitCode
    }
    expect(runs).toBeGreaterThan(2)
    const ids = tracesOf(server.requests)
    expect([...new Set(ids)].toSorted()).toEqual(finishedIds)
    expect(repeated(ids)).toBeLessThanOrEqual(UNDER_WAY * runs)
  })
})

describe('a list that changes', () => {
  test('between two runs', async () => {
    const { forge, server, run } = await stageInOrder()
    forge.pipelines = upTo(20)
    forge.trouble = ({ path }) => (path.includes('page=5') ? { play: 'reply', status: 403 } : undefined)
    expect((await backfill(run)).exitCode).toBe(1)
    expect(tracesOf(server.requests)).toEqual(idsUpTo(12))
    forge.trouble = () => undefined
    forge.pipelines = [...upTo(25).filter(({ id }) => id > 10), { id: 100 }]
    expect((await backfill(run)).exitCode).toBe(0)
    expect(tracesOf(server.requests)).toEqual([...idsUpTo(25), '100'])
  })

  test('within a run', async () => {
    const { forge, server, run } = await stageInOrder()
    forge.pipelines = upTo(20)
    forge.trouble = ({ path }) => {
      if (path.includes('page=3')) forge.pipelines = upTo(22).filter(({ id }) => id > 5)
      return undefined
    }
    expect((await backfill(run)).exitCode).toBe(0)
    const stillThere = idsUpTo(22).filter((id) => Number(id) > 5)
    expect(tracesOf(server.requests).filter((id) => Number(id) > 5)).toEqual(stillThere)
  })

  test('the next run finds pipelines that finished later or appeared with lower ids', async () => {
    const { forge, server, run } = await stageInOrder()
    forge.pipelines = [{ id: 2 }, { id: 3, status: 'running' }, { id: 4, status: 'manual' }, { id: 5 }]
    expect((await backfill(run)).exitCode).toBe(0)
    expect(tracesOf(server.requests)).toEqual(['2', '5'])
    forge.pipelines = upTo(6)
    expect((await backfill(run)).exitCode).toBe(0)
    expect(tracesOf(server.requests)).toEqual(['2', '5', '1', '3', '4', '6'])
  })
})

test('a state file of another endpoint is refused and not changed', async () => {
  const { run } = await stage()
  await backfill(run)
  const elsewhere = await receiver()
  const { exitCode, stderr } = await backfill({ ...run, endpoint: elsewhere.url })
  expect({ exitCode, requests: elsewhere.requests.length }).toEqual({ exitCode: 2, requests: 0 })
  expect(stderr).toBe(
    `penstock: ${run.state} belongs to another backfill: its endpoint is ${run.endpoint}, not ${elsewhere.url}\n`,
  )
})
