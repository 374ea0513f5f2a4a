import { World } from '@penstock/testkit'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { unscopedBatchQuery, unscopedQuery } from './operation.ts'
import { perform, performBatch } from './perform.ts'
import { type Reads, watchedReads } from './watched-reads.ts'

let world: World
beforeEach(async () => {
  world = await World.open()
})
afterEach(() => world.close())

const text = sql<{ one: string; two: string; three: number }>`select 'abc' as one, 'de' as two, 7 as three`
const input = z.object({})
const ask = unscopedQuery({ name: 'ask', caller: 'anyone', input }, async ({ db }) => (await text.execute(db)).rows)
const askEach = unscopedBatchQuery({ name: 'askEach', input }, async ({ db }, parents: readonly number[]) => {
  await text.execute(db)
  await db.selectFrom('users').selectAll().where('id', 'in', db.selectFrom('users').select('id')).execute()
  return parents
})
const both: readonly [string, (reads: Reads) => Promise<unknown>][] = [
  ['one thing', (reads) => perform(world.core, undefined, ask, {}, { reads })],
  ['each of several', (reads) => performBatch(world.core, undefined, askEach, [1], {}, reads)],
]

test.each(both)('calls the watch with the number of characters in each result: %s', async (_, asking) => {
  const counted: number[] = []
  await asking(
    watchedReads(world.core, {}, { requireOpen() {}, countCharacters: (characters) => void counted.push(characters) }),
  )
  expect(counted).toEqual([5, 0].slice(0, counted.length))
  expect(counted).not.toEqual([])
})

test.each(both)('rejects with the error of requireOpen, and sends no statement: %s', async (_, asking) => {
  const no = new Error('no')
  const reads = watchedReads(
    world.core,
    {},
    {
      requireOpen() {
        throw no
      },
      countCharacters() {},
    },
  )
  const asked = await world.statements(async () => expect(await asking(reads).catch((error) => error)).toBe(no))
  expect(asked).toBe(0)
})

test.each(both)('rejects with the error of countCharacters: %s', async (_, asking) => {
  const enough = new Error('enough')
  const reads = watchedReads(
    world.core,
    {},
    {
      requireOpen() {},
      countCharacters() {
        throw enough
      },
    },
  )
  const asked = await world.statements(async () => expect(await asking(reads).catch((error) => error)).toBe(enough))
  expect(asked).toBe(1)
})
