import { World } from '@penstock/testkit'
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DomainError } from './domain-error.ts'
import { type Listing, type ListingRequest, listingOf, listingOfArrays, rowsOfEach } from './listing.ts'
import type { KeysetColumn } from './page.ts'

let world: World
/** The groups that own the labels of each list, so that there are several lists in one table. */
let groupIds: number[]

beforeAll(async () => {
  world = await World.open()
  const groups = []
  for (const path of ['a', 'b', 'c']) groups.push(await world.group(path))
  groupIds = groups.map(({ id }) => id)
})
afterAll(() => world.close())

interface Row {
  readonly id: number
  readonly place: number
}

/** An order with many ties, in which one column ascends and the other descends. */
const order: readonly KeysetColumn<Row>[] = [
  { column: sql`coalesce(labels.priority, -1)`, key: 'place', direction: 'desc' },
  { column: 'labels.id', key: 'id', direction: 'asc' },
]
const places = fc.constantFrom(null, 0, 1, 2)
const lists = fc.tuple(...Array.from({ length: 3 }, () => fc.array(places, { maxLength: 12 })))
const sizes = fc.integer({ min: 1, max: 5 })

/** Fills the table. Returns the ids of each list in its order, computed without the database. */
async function fill(all: readonly (readonly (number | null)[])[]): Promise<number[][]> {
  return world.core.db.write(async (db) => {
    await db.deleteFrom('labels').execute()
    const expected: number[][] = []
    for (const [index, priorities] of all.entries()) {
      const rows: Row[] = []
      for (const [place, priority] of priorities.entries()) {
        const row = {
          group_id: groupIds[index]!,
          name: `${index}-${place}`,
          color: '#123456',
          priority,
          created_at_ms: 0,
        }
        const { id } = await db.insertInto('labels').values(row).returning('id').executeTakeFirstOrThrow()
        rows.push({ id, place: priority ?? -1 })
      }
      expected.push(rows.toSorted((a, b) => b.place - a.place || a.id - b.id).map(({ id }) => id))
    }
    return expected
  })
}

/** Returns the listing of the first `count` groups. */
function listing(count: number, isThere = (_id: number) => true): Listing<number> {
  const context = { db: world.core.db.read, nowMs: 0 }
  const queries = groupIds.slice(0, count).map((id) =>
    context.db
      .selectFrom('labels')
      .select(['labels.id', sql<number>`coalesce(labels.priority, -1)`.as('place')])
      .where('group_id', '=', id),
  )
  const itemsOf = (rows: readonly Row[]) => rows.map(({ id }) => (isThere(id) ? id : undefined))
  return listingOf(context, queries, { order, itemsOf })
}

/** Returns all pages of one of the lists. */
async function walk(
  of: Listing<number>,
  index: number,
  size: number,
  direction: 'first' | 'last',
): Promise<number[][]> {
  const pages: number[][] = []
  let at: Pick<ListingRequest, 'after' | 'before'> = {}
  for (;;) {
    const page = (await of.pages({ ...(direction === 'first' ? { first: size } : { last: size }), ...at }))[index]!
    if (direction === 'first') pages.push([...page.items])
    else pages.unshift([...page.items])
    if (!page.hasMore) return pages
    const { startCursor, endCursor } = page
    // Without a cursor the walk would start again, and never end.
    expect([typeof startCursor, typeof endCursor]).toEqual(['string', 'string'])
    at = direction === 'first' ? { after: endCursor! } : { before: startCursor! }
  }
}

const kinds: readonly [string, (all: number[][]) => Listing<number>][] = [
  ['a listing of queries', (all) => listing(all.length)],
  ['a listing of arrays', (all) => listingOfArrays(all)],
]

describe.each(kinds)('%s', (_, listingFor) => {
  const property = (law: (of: Listing<number>, all: number[][], size: number) => Promise<void>) =>
    fc.assert(
      fc.asyncProperty(lists, sizes, async (wanted, size) => {
        const all = await fill(wanted)
        await law(listingFor(all), all, size)
      }),
      { numRuns: 25 },
    )

  test('paging from either end yields each row once, in order', () =>
    property(async (of, all, size) => {
      for (const [index, expected] of all.entries()) {
        const forward = await walk(of, index, size, 'first')
        const backward = await walk(of, index, size, 'last')
        expect([forward.flat(), backward.flat()]).toEqual([expected, expected])
        // All pages are full except the last one read.
        for (const page of forward.slice(0, -1)) expect(page).toHaveLength(size)
        for (const page of backward.slice(1)) expect(page).toHaveLength(size)
      }
    }))

  test('a page between two cursors holds the rows between theirs, from either end', () =>
    property(async (of, all, size) => {
      for (const [index, expected] of all.entries()) {
        const { cursors } = (await of.pages({ first: 100 }))[index]!
        if (cursors.length < 2) continue
        const [after, before] = [cursors[0]!, cursors.at(-1)!]
        const between = expected.slice(1, -1)
        const first = (await of.pages({ first: size, after, before }))[index]!
        const last = (await of.pages({ last: size, after, before }))[index]!
        const hasMore = between.length > size
        expect([first.items, first.hasMore]).toEqual([between.slice(0, size), hasMore])
        expect([last.items, last.hasMore]).toEqual([between.slice(-size), hasMore])
      }
    }))

  test('counts stop at one beyond the limit', () =>
    property(async (of, all, size) => {
      expect(await of.counts(100)).toEqual(all.map(({ length }) => length))
      expect(await of.counts(size)).toEqual(all.map(({ length }) => Math.min(length, size + 1)))
    }))

  test('a page of 0 rows has no items and no cursors', async () => {
    const all = await fill([[1, 2], [], [null]])
    const pages = await listingFor(all).pages({ first: 0 })
    expect(pages).toMatchObject(Array(3).fill({ items: [], cursors: [], startCursor: undefined, endCursor: undefined }))
  })

  test.each(['', 'x', 'e30', 'bnVsbA', 'W10'])('rejects the made-up cursor %j', async (after) => {
    const failure = await listingFor([[], [], []])
      .pages({ first: 1, after })
      .catch((error: DomainError) => error.failure)
    expect(failure).toMatchObject({ code: 'parameters', problems: [{ path: ['cursor'] }] })
  })
})

test('a cursor with values of other types than its columns matches nothing or is rejected', async () => {
  await fill([[1], [1], [1]])
  const [page] = await listing(1).pages({ first: 1 })
  const names = Object.keys(JSON.parse(Buffer.from(page!.cursors[0]!, 'base64url').toString()))
  for (const values of [
    ['x', 'y'],
    [1e30, 0.5],
    ['a\0', ''],
  ]) {
    const own = Object.fromEntries(names.map((name, index) => [name, values[index]]))
    const after = Buffer.from(JSON.stringify(own)).toString('base64url')
    const outcome = await listing(1)
      .pages({ first: 1, after })
      .then(
        () => 'read',
        (error: DomainError) => error.failure?.code ?? error,
      )
    expect(['read', 'parameters']).toContain(outcome)
  }
})

test.each(['first', 'last'] as const)('paging goes on after a page of deleted items: %s', async (direction) => {
  const [ids] = await fill([Array(7).fill(1), [], []])
  const left = ids!.slice(3, 4)
  const pages = await walk(
    listing(1, (id) => left.includes(id)),
    0,
    2,
    direction,
  )
  expect([pages.length, pages.flat()]).toEqual([4, left])
  const [page] = await listing(1, (id) => left.includes(id)).pages({ first: 5 })
  const [whole] = await listing(1).pages({ first: 5 })
  expect(page).toEqual({ ...whole, items: left, cursors: [whole!.cursors[3]] })
})

test('reads many lists with one statement', async () => {
  await fill([[1], [1, 1], []])
  let statements = 0
  const read = world.core.db.read.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      statements += 1
      return result
    },
  })
  const queries = Array.from({ length: 150 }, (_, index) =>
    read
      .selectFrom('labels')
      .select(['id', sql<number>`coalesce(priority, -1)`.as('place')])
      .where('group_id', '=', groupIds[index % 3]!),
  )
  const columns = [
    { ...order[0]!, column: sql`coalesce(priority, -1)` },
    { ...order[1]!, column: 'id' },
  ]
  const of = listingOf({ db: read, nowMs: 0 }, queries, { order: columns, itemsOf: (rows) => rows })
  const pages = await of.pages({ first: 1 })
  expect([statements, pages.map(({ items }) => items.length).slice(0, 3)]).toEqual([1, [1, 1, 0]])
  expect(await of.counts(1)).toHaveLength(150)
  expect(statements).toBe(2)
})

test('stops reading lists with too many rows together, and lets other work run in between', async () => {
  const lists = (count: number) =>
    Array.from({ length: count }, () =>
      world.core.db.read
        .selectFrom(
          sql<{ id: number }>`(with recursive many(id) as (select 1 union all select id + 1 from many where id < 500)
            select id from many)`.as('items'),
        )
        .selectAll(),
    )
  let turns = 0
  const others = setInterval(() => {
    turns += 1
  }, 0)
  expect(await rowsOfEach(world.core.db.read, lists(200))).toHaveLength(200)
  const failed = rowsOfEach(world.core.db.read, lists(400)).catch((error: DomainError) => error.failure)
  expect(await failed).toMatchObject({ code: 'impossible' })
  expect(turns).toBeGreaterThan(0)
  clearInterval(others)
})

test('reads lists with large pages with several statements', async () => {
  await fill([[1], [1, 1], []])
  const rowCounts: number[] = []
  const read = world.core.db.read.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      rowCounts.push(result.rows.length)
      return result
    },
  })
  const queries = Array.from({ length: 150 }, (_, index) =>
    read
      .selectFrom('labels')
      .select('id')
      .where('group_id', '=', groupIds[index % 3]!),
  )
  const of = listingOf({ db: read, nowMs: 0 }, queries, {
    order: [{ column: 'id', key: 'id', direction: 'asc' }],
    itemsOf: (rows) => rows,
  })
  const pages = await of.pages({ first: 100 })
  // The statements read 59, 59 and 32 lists, each of at most 101 rows.
  expect(rowCounts).toEqual([59, 59, 32].map((lists, index) => itemsIn(pages.slice(index * 59, index * 59 + lists))))
  expect(itemsIn(pages)).toBe(150)
})

const itemsIn = (pages: readonly { readonly items: readonly unknown[] }[]): number =>
  pages.reduce((sum, { items }) => sum + items.length, 0)
