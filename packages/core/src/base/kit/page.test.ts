import { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { PageLookup, pageOf } from './page.ts'
import type { ReadContext } from './store-context.ts'

let world: World

beforeEach(async () => {
  world = await World.open()
})

afterEach(() => world.close())

/** Inserts rows in their order; `internal_ids` needs no other rows. */
async function fill(count: number): Promise<void> {
  await world.core.db.write(async (tx) => {
    for (let begin = 0; begin < count; begin += 500) {
      const rows = Array.from({ length: Math.min(500, count - begin) }, (_, index) => ({
        parent: 'group:1',
        kind: `kind-${begin + index}`,
        last: begin + index,
      }))
      await tx.insertInto('internal_ids').values(rows).execute()
    }
  })
}

const numbered = (db: ReadContext['db'], least: number) =>
  db.selectFrom('internal_ids').select('last').where('last', '>=', least).orderBy('last')
const lookup = new PageLookup(numbered)

/** Returns a page, which must be the same with a statement that was compiled before. */
async function pageAt(page: number, perPage: number, least = 0) {
  const context = { db: world.core.db.read, nowMs: world.clock.nowMs() }
  const found = await pageOf(context, numbered(context.db, least), { page, perPage })
  expect(await lookup.run(context, { page, perPage }, least)).toEqual(found)
  const { items, hasNext, total } = found
  return { items: items.map(({ last }) => last), hasNext, total }
}

test('the total is the same on every page, even behind the last', async () => {
  expect(await pageAt(1, 2)).toEqual({ items: [], hasNext: false, total: 0 })
  await fill(5)
  expect(await pageAt(1, 2)).toEqual({ items: [0, 1], hasNext: true, total: 5 })
  expect(await pageAt(3, 2)).toEqual({ items: [4], hasNext: false, total: 5 })
  expect(await pageAt(4, 2)).toEqual({ items: [], hasNext: false, total: 5 })
  expect(await pageAt(1, 5)).toEqual({ items: [0, 1, 2, 3, 4], hasNext: false, total: 5 })
  expect(await pageAt(1, 2, 1)).toEqual({ items: [1, 2], hasNext: true, total: 4 })
})

test('counts the total up to 10,000 rows', async () => {
  await fill(10_000)
  expect((await pageAt(1, 100)).total).toBe(10_000)
  expect((await pageAt(100, 100)).total).toBe(10_000)
  await world.core.db.write((tx) =>
    tx.insertInto('internal_ids').values({ parent: 'a', kind: 'b', last: 10_000 }).execute(),
  )
  for (const page of [1, 100, 101, 102]) expect((await pageAt(page, 100)).total).toBe(undefined)
})
