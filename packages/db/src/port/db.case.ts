import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Generated, sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { isBrokenReference, isUnavailable } from '../open-database.ts'
import { addFolded, folded, foldedSql } from '../rows/folded-text.ts'
import { RowInsertion } from '../rows/row-insertion.ts'
import { tableWithId } from '../rows/table-with-id.ts'
import { type Db, MAX_PENDING_WRITES } from './db.ts'
import { type Migrations, migrate, NewerVersionError } from './migrate.ts'
import { ReadLimitExceeded } from './read-limit.ts'

interface Tables {
  notes: { id: number; text: string; bytes: number }
  pages: { id: Generated<number>; note_id: number }
}

/** A new, empty database that can be opened several times, as several processes would open it. */
export interface TestDatabase {
  open<T>(options?: { readonly idleLimitMs: number }): Db<T>
  remove(): Promise<void>
}

const first: Migrations = {
  '0001_notes': {
    up: async (db) => {
      await db.schema
        .createTable('notes')
        .addColumn('id', 'integer', (column) => column.primaryKey())
        .addColumn('text', 'text')
        .addColumn('bytes', 'bigint', (column) => column.notNull().defaultTo(0))
        .execute()
      await tableWithId(db, 'pages')
        .addColumn('note_id', 'integer', (column) => column.notNull().references('notes.id').onDelete('cascade'))
        .execute()
    },
  },
}

/** Declares the tests that every implementation of `Db` must pass. */
export function describeDb(name: string, createDatabase: () => Promise<TestDatabase>): void {
  describe(name, () => {
    let database: TestDatabase
    let db: Db<Tables>

    beforeEach(async () => {
      database = await createDatabase()
      db = database.open()
      await migrate(db, first)
    })

    afterEach(async () => {
      await db.close()
      await database.remove()
    })

    const texts = async (of: Db<Tables> = db) =>
      (await of.read.selectFrom('notes').select('text').orderBy('id').execute()).map((row) => row.text)

    const insert = (id: number, text: string, into: Db<Tables> = db) =>
      into.write((tx) => tx.insertInto('notes').values({ id, text, bytes: 0 }).execute())

    describe('reading within a limit', () => {
      /** A limit that cuts texts after some characters, or fails. */
      function limitAfter(maxCharacters: number, isCut: boolean) {
        const asked: string[] = []
        let left = maxCharacters
        const admit = (text: string) => {
          asked.push(text)
          left -= text.length
          if (left >= 0) return text
          if (isCut) return ''
          throw new ReadLimitExceeded('enough')
        }
        return { admit, asked }
      }
      const ordered = (read: Db<Tables>['read']) =>
        read.selectFrom('notes').select(['id', 'text']).orderBy('id').execute()

      test('asks the limit for each text, and stops at the one that it refuses', async () => {
        for (const id of [1, 2, 3, 4]) await insert(id, `text ${id}`)
        const limit = limitAfter(13, false)
        await expect(ordered(db.readWithin(limit))).rejects.toThrow(ReadLimitExceeded)
        expect(limit.asked).toEqual(['text 1', 'text 2', 'text 3'])
        // The connection is still of use, also after many refusals.
        for (let index = 0; index < 12; index += 1) await ordered(db.readWithin(limitAfter(0, false))).catch(() => {})
        expect(await texts()).toEqual(['text 1', 'text 2', 'text 3', 'text 4'])
        await insert(5, 'text 5')
      })

      test('returns what the limit returns, also to plugins and with the same statements as without a limit', async () => {
        for (const id of [1, 2]) await insert(id, `text ${id}`)
        expect(await ordered(db.read)).toHaveLength(2)
        const withPlugin = (read: Db<Tables>['read']) =>
          read.withPlugin({ transformQuery: ({ node }) => node, transformResult: async ({ result }) => result })
        for (const wrap of [(read: Db<Tables>['read']) => read, withPlugin]) {
          const rows = await ordered(wrap(db.readWithin(limitAfter(6, true))))
          expect(rows.map(({ text }) => text)).toEqual(['text 1', ''])
        }
      })
    })

    describe('writing', () => {
      test('readers see a committed write, and the writer gets its result', async () => {
        const text = await db.write(async (tx) => {
          const values = { id: 1, text: 'kept', bytes: 0 }
          return (await tx.insertInto('notes').values(values).returning('text').executeTakeFirstOrThrow()).text
        })
        expect([text, ...(await texts())]).toEqual(['kept', 'kept'])
      })

      test('rolls back a failing write without affecting the writes before and after it', async () => {
        const before = insert(1, 'before')
        const failing = db.write(async (tx) => {
          await tx.insertInto('notes').values({ id: 2, text: 'half', bytes: 0 }).execute()
          throw new Error('no')
        })
        const after = insert(3, 'after')
        await expect(failing).rejects.toThrow('no')
        await Promise.all([before, after])
        expect(await texts()).toEqual(['before', 'after'])
      })

      test('runs writes in the order in which they were submitted', async () => {
        await Promise.all(
          Array.from({ length: 10 }, (_, asked) =>
            db.write(async (tx) => {
              const { count } = await tx
                .selectFrom('notes')
                .select((eb) => eb.fn.countAll<number>().as('count'))
                .executeTakeFirstOrThrow()
              await tx
                .insertInto('notes')
                .values({ id: count, text: String(asked), bytes: 0 })
                .execute()
            }),
          ),
        )
        expect(await texts()).toEqual(['0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
      })

      test('rejects writes beyond the maximum number of pending writes, and accepts new ones afterwards', async () => {
        let begun = 0
        const writes = Array.from({ length: MAX_PENDING_WRITES + 2 }, () =>
          db
            .write(async () => {
              begun += 1
            })
            .then(() => 'done', isUnavailable),
        )
        const outcomes = await Promise.all(writes)
        expect(outcomes.slice(-3)).toEqual(['done', true, true])
        expect([begun, outcomes.filter((outcome) => outcome === 'done').length]).toEqual([
          MAX_PENDING_WRITES,
          MAX_PENDING_WRITES,
        ])
        await insert(1, 'after')
        expect(await texts()).toEqual(['after'])
      })

      test('50 concurrent writers on five connections lose no update and assign no number twice', async () => {
        const others = Array.from({ length: 4 }, () => database.open<Tables>())
        const handles = [db, ...others]
        await insert(0, 'counter')
        const numbers = await Promise.all(
          Array.from({ length: 50 }, (_, index) =>
            handles[index % handles.length]!.write(async (tx) => {
              const counter = tx.selectFrom('notes').select('bytes').where('id', '=', 0)
              const next = (await counter.executeTakeFirstOrThrow()).bytes + 1
              await tx.updateTable('notes').set({ bytes: next }).where('id', '=', 0).execute()
              await tx
                .insertInto('notes')
                .values({ id: next, text: String(next), bytes: 0 })
                .execute()
              return next
            }),
          ),
        )
        await Promise.all(others.map((other) => other.close()))
        const upToFifty = Array.from({ length: 50 }, (_, index) => index + 1)
        expect(numbers.toSorted((a, b) => a - b)).toEqual(upToFifty)
        expect(await texts()).toEqual(['counter', ...upToFifty.map(String)])
      })

      test('aborts a write that waits for another write, rejects its later statements, and runs the other write', async () => {
        const other = database.open<Tables>({ idleLimitMs: 250 })
        let inner: Promise<unknown> | undefined
        let later: Promise<unknown> | undefined
        const outer = other.write(async (tx) => {
          const add = (id: number) => tx.insertInto('notes').values({ id, text: 'outer', bytes: 0 }).execute()
          await add(1)
          inner = insert(2, 'inner', other)
          later = inner.then(() => add(3))
          await later
        })
        await expect(outer).rejects.toSatisfy(isUnavailable)
        await inner
        await expect(later).rejects.toThrow()
        await other.close()
        expect(await texts()).toEqual(['inner'])
      })

      test('does not abort a write that keeps running statements for longer than the idle limit', async () => {
        const other = database.open<Tables>({ idleLimitMs: 400 })
        const kept = other.write(async (tx) => {
          const endMs = performance.now() + 600
          for (let id = 0; performance.now() < endMs; id += 1) {
            await tx.insertInto('notes').values({ id, text: 'on', bytes: 0 }).execute()
            await nextTurn()
          }
          return performance.now() >= endMs
        })
        expect(await kept).toBe(true)
        await other.close()
      })

      test('runs concurrent statements inside a write', async () => {
        await db.write(async (tx) => {
          const rows = Array.from({ length: 5 }, (_, id) => ({ id, text: `n${id}`, bytes: 0 }))
          await Promise.all(rows.map((row) => tx.insertInto('notes').values(row).execute()))
        })
        expect(await texts()).toEqual(['n0', 'n1', 'n2', 'n3', 'n4'])
      })

      test('keeps nothing of a write in which one of several concurrent statements fails', async () => {
        const going: Promise<unknown>[] = []
        const failing = db.write((tx) => {
          const add = (id: number) => tx.insertInto('notes').values({ id, text: 'half', bytes: 0 }).execute()
          const addAll = async () => {
            for (let id = 1; id <= 50; id += 1) await add(id)
          }
          going.push(addAll(), add(100), sql`insert into nothing values (1)`.execute(tx), add(101), add(102))
          return Promise.all(going)
        })
        const after = insert(200, 'after')
        await expect(failing).rejects.toThrow('nothing')
        await after
        expect((await Promise.allSettled(going)).map(({ status }) => status)).toContain('rejected')
        expect(await texts()).toEqual(['after'])
      })

      test('inserts any number of rows, and does not count rows that existed already', async () => {
        const notes = new RowInsertion<Tables, Tables['notes']>(['id', 'text', 'bytes'], (tx, rows) =>
          tx
            .insertInto('notes')
            .values(rows)
            .onConflict((conflict) => conflict.column('id').doNothing()),
        )
        const numbered = (count: number) =>
          Array.from({ length: count }, (_, id) => ({ text: `note ${id}`, bytes: id, id }))
        const counts: number[] = []
        for (const count of [0, 1, 5, 85, 170]) counts.push(await db.write((tx) => notes.run(tx, numbered(count))))
        expect(counts).toEqual([0, 1, 4, 80, 85])
        const rows = await db.read.selectFrom('notes').selectAll().orderBy('id').execute()
        expect(rows.map(({ id, text, bytes }) => [id, text, Number(bytes)])).toEqual(
          numbered(170).map(({ id, text, bytes }) => [id, text, bytes]),
        )
      })

      test('enforces foreign keys, and cascades deletions', async () => {
        await insert(1, 'note')
        const addPage = (note_id: number) => db.write((tx) => tx.insertInto('pages').values({ note_id }).execute())
        await addPage(1)
        await expect(addPage(2)).rejects.toThrow(/foreign key/i)
        await db.write((tx) => tx.deleteFrom('notes').execute())
        expect(await db.read.selectFrom('pages').selectAll().execute()).toEqual([])
      })

      test('close waits for pending writes, and may be called twice', async () => {
        const other = database.open<Tables>()
        const writes = [insert(1, 'first', other), insert(2, 'second', other)]
        await other.close()
        await other.close()
        await Promise.all(writes)
        expect(await texts()).toEqual(['first', 'second'])
        await expect(insert(3, 'late', other)).rejects.toThrow()
      })
    })

    describe('reading', () => {
      test('readers cannot write', async () => {
        const written = db.read.insertInto('notes').values({ id: 1, text: 'no', bytes: 0 }).execute()
        await expect(written).rejects.toThrow(/read-?only/)
        expect(await texts()).toEqual([])
      })

      test('during a write, readers see what was committed before', async () => {
        await insert(1, 'old')
        const seen = await db.write(async (tx) => {
          await tx.updateTable('notes').set({ text: 'new' }).execute()
          return [await texts(), (await tx.selectFrom('notes').select('text').execute()).map((row) => row.text)]
        })
        expect(seen).toEqual([['old'], ['new']])
        expect(await texts()).toEqual(['new'])
      })

      test('serves many readers at the same time', async () => {
        await insert(1, 'note')
        const answers = await Promise.all(Array.from({ length: 50 }, () => texts()))
        expect(new Set(answers.flat())).toEqual(new Set(['note']))
      })

      test('returns numbers as JavaScript numbers, and booleans as 0 or 1', async () => {
        await db.write((tx) =>
          tx
            .insertInto('notes')
            .values([
              { id: 1, text: 'a', bytes: 9_007_199_254_740_000 },
              { id: 2, text: 'b', bytes: 991 },
            ])
            .execute(),
        )
        const row = await db.read
          .selectFrom('notes')
          .select((eb) => [
            eb.fn.max<number>('bytes').as('max'),
            eb.fn.sum<number>('bytes').as('sum'),
            eb.fn.sum<number>('id').as('ids'),
            eb.fn.countAll<number>().as('count'),
            sql<number>`${eb.ref('text')} is null`.as('missing'),
          ])
          .groupBy('text')
          .orderBy('text')
          .execute()
        expect(row).toEqual([
          { max: 9_007_199_254_740_000, sum: 9_007_199_254_740_000, ids: 1, count: 1, missing: 0 },
          { max: 991, sum: 991, ids: 2, count: 1, missing: 0 },
        ])
        const { numUpdatedRows } = await db.write((tx) =>
          tx.updateTable('notes').set({ text: 'c' }).executeTakeFirstOrThrow(),
        )
        expect(Number(numUpdatedRows)).toBe(2)
      })

      test('finds no row for an id beyond 32 bits, because integers have 64 bits', async () => {
        const ask = (id: number) => db.read.selectFrom('pages').select('id').where('id', '=', id).execute()
        expect([await ask(4_294_967_296), await ask(Number.MAX_SAFE_INTEGER)]).toEqual([[], []])
      })

      test('does not report the database as unavailable if a statement is wrong or violates a constraint', async () => {
        await insert(1, 'one')
        const unavailable = async (attempt: Promise<unknown>) => attempt.then(() => 'worked', isUnavailable)
        expect(await unavailable(insert(1, 'again'))).toBe(false)
        expect(await unavailable(sql`select from where`.execute(db.read))).toBe(false)
      })
    })

    test('never reuses an id', async () => {
      await insert(1, 'note')
      const add = () =>
        db.write(async (tx) => tx.insertInto('pages').values({ note_id: 1 }).returning('id').executeTakeFirstOrThrow())
      expect([await add(), await add()]).toEqual([{ id: 1 }, { id: 2 }])
      await db.write((tx) => tx.deleteFrom('pages').execute())
      expect(await add()).toEqual({ id: 3 })
    })

    test('the SQL function folds Latin, Greek, Cyrillic, Armenian and Hebrew letters like `folded`', async () => {
      await migrate(db, { ...first, '0002_folded': { up: addFolded } })
      const foldedByDatabase = async (text: string | null) => {
        const { rows } = await sql<{ text: string | null }>`select ${foldedSql(sql`${text}`)} as text`.execute(db.read)
        return rows[0]!.text
      }
      const letters = Array.from({ length: 0x5e0 }, (_, index) => String.fromCodePoint(0x20 + index))
      const pairs = (await foldedByDatabase(letters.join('\n')))!
        .split('\n')
        .map((letter, index) => [letters[index]!, letter] as const)
      expect(pairs.filter(([letter, found]) => found !== folded(letter))).toEqual([])
      for (const [text, expected] of [
        ['ÄÖÜ Straße', 'äöü straße'],
        ['ΟΔΥΣΣΕΥΣ', 'οδυσσευσ'],
        ['', ''],
      ] as const)
        expect([await foldedByDatabase(text), folded(text)]).toEqual([expected, expected])
      expect(await foldedByDatabase(null)).toBeNull()
    })

    test('an insert that refers to a missing row has a broken reference, and a duplicate key has none', async () => {
      await insert(1, 'one')
      const thrown = (failing: Promise<unknown>) =>
        failing.then(
          () => undefined,
          (error: unknown) => error,
        )
      const orphan = await thrown(db.write((tx) => tx.insertInto('pages').values({ note_id: 2 }).execute()))
      const duplicate = await thrown(insert(1, 'again'))
      expect([orphan, duplicate, new Error('other')].map(isBrokenReference)).toEqual([true, false, false])
      expect(duplicate).toBeInstanceOf(Error)
    })

    describe('migrate', () => {
      const insertedBy = (id: number, text: string): Migrations[string] => ({
        up: async (tx) => {
          await sql`insert into notes (id, text) values (${sql.lit(id)}, ${sql.lit(text)})`.execute(tx)
        },
      })

      test('applies each migration once, and later ones after it', async () => {
        const second = { ...first, '0002_one': insertedBy(1, 'made once') }
        await migrate(db, second)
        await migrate(db, second)
        await migrate(db, { ...second, '0003_more': insertedBy(2, 'added') })
        expect(await texts()).toEqual(['made once', 'added'])
      })

      test('processes that start at the same time apply each migration once', async () => {
        const fresh = await createDatabase()
        const handles = Array.from({ length: 5 }, () => fresh.open<Tables>())
        const migrations = { ...first, '0002_one': insertedBy(1, 'made once') }
        await Promise.all(handles.map((handle) => migrate(handle, migrations)))
        expect(await texts(handles[0])).toEqual(['made once'])
        await Promise.all(handles.map((handle) => handle.close()))
        await fresh.remove()
      })

      test('a migration that fails rolls back the migrations before it too', async () => {
        const broken: Migrations[string] = {
          up: async (tx) => {
            await tx.schema.createTable('half').addColumn('id', 'integer').execute()
            throw new Error('broken')
          },
        }
        const second = { ...first, '0002_one': insertedBy(1, 'made once') }
        await expect(migrate(db, { ...second, '0003_broken': broken })).rejects.toThrow('broken')
        expect(await texts()).toEqual([])
        expect((await db.read.introspection.getTables()).map((table) => table.name)).toEqual(['notes', 'pages'])
        await migrate(db, second)
        expect(await texts()).toEqual(['made once'])
      })

      test('passes on the error of a failing statement in a migration', async () => {
        const wrong: Migrations[string] = {
          up: async (tx) => {
            await sql`insert into nowhere (id) values (1)`.execute(tx)
          },
        }
        await expect(migrate(db, { ...first, '0002_wrong': wrong })).rejects.toThrow('nowhere')
      })

      test('rejects a database that a newer version has migrated', async () => {
        await migrate(db, { ...first, '0002_later': { up: async () => {} } })
        const refused = migrate(db, first)
        await expect(refused).rejects.toBeInstanceOf(NewerVersionError)
        await expect(refused).rejects.toThrow('0002_later')
      })
    })
  })
}
