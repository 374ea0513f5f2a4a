import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FixedApi, reply } from '../api/rest-api.harness.ts'
import type { JsonObject } from '../body/fields.ts'
import { api as github } from './rest-api.ts'

const path = '/repos/a/b/actions/runs'
const beginMs = Date.parse('2026-02-11T09:00:00Z')
const iso = (second: number): string => new Date(beginMs + second * 1_000).toISOString()

interface Run {
  readonly id: number
  /** The second in which it was created. */
  readonly at: number
}

/** A list of runs, newest first, of which GitHub shows the first 1,000. `before` is called before each request. */
function listOf(
  initial: readonly Run[],
  before: (runs: readonly Run[], request: number) => readonly Run[] = (runs) => runs,
) {
  let runs = initial
  let requests = 0
  return new FixedApi({
    [path]: ({ created, page, per_page }: JsonObject) => {
      runs = before(runs, requests++)
      const [from = '', until = ''] = String(created).split('..')
      const found = runs
        .filter(({ at }) => beginMs + at * 1_000 >= Date.parse(from) && beginMs + at * 1_000 <= Date.parse(until))
        .toSorted((a, b) => b.at - a.at || b.id - a.id)
      const end = Number(page) * Number(per_page)
      const shown = found.slice(0, 1_000)
      const items = shown
        .slice(end - Number(per_page), end)
        .map(({ id, at }) => ({ id, run_attempt: 1, created_at: iso(at) }))
      const hasNext = end < shown.length
      return reply(
        { total_count: found.length, workflow_runs: items },
        shown.length > Number(per_page) ? { link: hasNext ? '<x>; rel="next"' : '<x>; rel="first"' } : {},
      )
    },
  })
}

async function listed(api: FixedApi, sinceNs?: bigint): Promise<number[]> {
  const untilNs = BigInt(beginMs + 1_000_000_000) * 1_000_000n
  const ids: number[] = []
  for await (const { runs } of github.listRuns(api.ask, { project: 'a/b', sinceNs, untilNs, perPage: 100 })) {
    ids.push(...runs.map(({ reference }) => Number(reference.run)))
  }
  return ids
}

test('2,500 runs, of which GitHub shows 1,000 at a time, are listed once each, oldest first', async () => {
  const runs = Array.from({ length: 2_500 }, (_, at) => ({ id: at + 1, at: at * 30 }))
  const api = listOf(runs)
  expect(await listed(api)).toEqual(runs.map(({ id }) => id))
  expect(api.asked.length).toBeLessThan(100)
})

test('an empty list takes one request', async () => {
  const api = listOf([])
  expect(await listed(api, BigInt(beginMs) * 1_000_000n)).toEqual([])
  expect(api.asked).toHaveLength(1)
})

test('runs that exist from beginning to end are listed once, however others are deleted', async () => {
  const deletion = fc.record({
    request: fc.nat(60),
    ids: fc.array(fc.integer({ min: 1, max: 1_500 }), { maxLength: 300 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(deletion, { maxLength: 6 }), async (deletions) => {
      let left: readonly Run[] = Array.from({ length: 1_500 }, (_, at) => ({ id: at + 1, at: at * 7 }))
      const api = listOf(left, (runs, request) => {
        const gone = new Set(deletions.filter((each) => each.request === request).flatMap(({ ids }) => ids))
        left = gone.size === 0 ? runs : runs.filter(({ id }) => !gone.has(id))
        return left
      })
      const ids = await listed(api)
      expect(new Set(ids).size).toBe(ids.length)
      expect(left.filter(({ id }) => !ids.includes(id))).toEqual([])
    }),
    { numRuns: 8 },
  )
})

test('more runs in one second than GitHub lists are an error', async () => {
  const api = listOf(Array.from({ length: 1_200 }, (_, at) => ({ id: at + 1, at: 5 })))
  await expect(listed(api)).rejects.toThrow('and GitHub lists no more of them')
})
