import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Generated, sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Db, MAX_PENDING_WRITES } from './db.ts'
import { addFolded, folded, foldedSql } from './folded-text.ts'
import { RowInsertion } from './row-insertion.ts'
import { type Migrations, migrate, NewerVersionError } from './migrate.ts'
import { isUnavailable } from './open-database.ts'
import { tableWithId } from './table-with-id.ts'

interface Tables {
  notes: { id: number; text: string; bytes: number }
  pages: { id: Generated<number>; note_id: number }
}

/** A new, empty database, which several may open, as several processes would. */
export interface Place {
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

/** What every implementation of `Db` does alike. */
export function describeDb(name: string, newPlace: () => Promise<Place>): void {
  describe(name, () => {
    let place: Place
    let db: Db<Tables>

    beforeEach(async () => {
      place = await newPlace()
      db = place.open()
      await migrate(db, first)
    })

    afterEach(async () => {
      await db.close()
      await place.remove()
    })

    const texts = async (of: Db<Tables> = db) =>
      (await of.read.selectFrom('notes').select('text').orderBy('id').execute()).map((row) => row.text)

    const insert = (id: number, text: string, into: Db<Tables> = db) =>
      into.write((tx) => tx.insertInto('notes').values({ id, text, bytes: 0 }).execute())

    describe('writing', () => {
      test('a committed write is there for readers, and its result for the writer', async () => {
        const text = await db.write(async (tx) => {
          const values = { id: 1, text: 'kept', bytes: 0 }
          return (await tx.insertInto('notes').values(values).returning('text').executeTakeFirstOrThrow()).text
        })
        expect([text, ...(await texts())]).toEqual(['kept', 'kept'])
      })

      test('a failing write leaves nothing, and takes nothing of its neighbours with it', async () => {
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

      test('writes happen in the order they are asked for', async () => {
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

      test('of more writes at once than may wait those that come last are refused, and the next one is not', async () => {
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
        expect([begun, outcomes.filter((outcome) => outcome === 'done').length]).toEqual([MAX_PENDING_WRITES, MAX_PENDING_WRITES])
        await insert(1, 'after')
        expect(await texts()).toEqual(['after'])
      })

      test('50 writers of five processes at once: no update is lost, no number given twice', async () => {
        const others = Array.from({ length: 4 }, () => place.open<Tables>())
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

      test('work that stands still is given up, with what it says later; a write of its own, for which it waits, has its turn', async () => {
        const other = place.open<Tables>({ idleLimitMs: 250 })
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

      test('work that goes on asking may take longer than that', async () => {
        const other = place.open<Tables>({ idleLimitMs: 400 })
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

      test('several statements at once inside a write', async () => {
        await db.write(async (tx) => {
          const rows = Array.from({ length: 5 }, (_, id) => ({ id, text: `n${id}`, bytes: 0 }))
          await Promise.all(rows.map((row) => tx.insertInto('notes').values(row).execute()))
        })
        expect(await texts()).toEqual(['n0', 'n1', 'n2', 'n3', 'n4'])
      })

      test('of several at once one may fail: nothing of them is kept, however long the others go on', async () => {
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

      test('many rows at once, whatever their number; those that are there already are not counted', async () => {
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

      test('a reference to nothing is refused, and cascades work', async () => {
        await insert(1, 'note')
        const addPage = (note_id: number) => db.write((tx) => tx.insertInto('pages').values({ note_id }).execute())
        await addPage(1)
        await expect(addPage(2)).rejects.toThrow(/foreign key/i)
        await db.write((tx) => tx.deleteFrom('notes').execute())
        expect(await db.read.selectFrom('pages').selectAll().execute()).toEqual([])
      })

      test('close waits for what has been asked for; twice is once', async () => {
        const other = place.open<Tables>()
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

      test('inside a write, a reader goes on and sees what was committed before', async () => {
        await insert(1, 'old')
        const seen = await db.write(async (tx) => {
          await tx.updateTable('notes').set({ text: 'new' }).execute()
          return [await texts(), (await tx.selectFrom('notes').select('text').execute()).map((row) => row.text)]
        })
        expect(seen).toEqual([['old'], ['new']])
        expect(await texts()).toEqual(['new'])
      })

      test('many readers at once', async () => {
        await insert(1, 'note')
        const answers = await Promise.all(Array.from({ length: 50 }, () => texts()))
        expect(new Set(answers.flat())).toEqual(new Set(['note']))
      })

      test('numbers are numbers, truth is 0 or 1', async () => {
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

      test('an integer has more than 32 bits: an id that nobody has is not found', async () => {
        const ask = (id: number) => db.read.selectFrom('pages').select('id').where('id', '=', id).execute()
        expect([await ask(4_294_967_296), await ask(Number.MAX_SAFE_INTEGER)]).toEqual([[], []])
      })

      test('a statement that is wrong, or in conflict, is no fault of the database', async () => {
        await insert(1, 'one')
        const unavailable = async (attempt: Promise<unknown>) => attempt.then(() => 'worked', isUnavailable)
        expect(await unavailable(insert(1, 'again'))).toBe(false)
        expect(await unavailable(sql`select from where`.execute(db.read))).toBe(false)
      })
    })

    test('an id is never given again', async () => {
      await insert(1, 'note')
      const add = () =>
        db.write(async (tx) => tx.insertInto('pages').values({ note_id: 1 }).returning('id').executeTakeFirstOrThrow())
      expect([await add(), await add()]).toEqual([{ id: 1 }, { id: 2 }])
      await db.write((tx) => tx.deleteFrom('pages').execute())
      expect(await add()).toEqual({ id: 3 })
    })

    test('folds letters as `folded` does: of Latin, Greek, Cyrillic, Armenian, Hebrew', async () => {
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

    describe('migrate', () => {
      const insertedBy = (id: number, text: string): Migrations[string] => ({
        up: async (tx) => {
          await sql`insert into notes (id, text) values (${sql.lit(id)}, ${sql.lit(text)})`.execute(tx)
        },
      })

      test('applies each migration once, and later ones on top', async () => {
        const second = { ...first, '0002_one': insertedBy(1, 'made once') }
        await migrate(db, second)
        await migrate(db, second)
        await migrate(db, { ...second, '0003_more': insertedBy(2, 'added') })
        expect(await texts()).toEqual(['made once', 'added'])
      })

      test('several that start at once migrate once', async () => {
        const fresh = await newPlace()
        const handles = Array.from({ length: 5 }, () => fresh.open<Tables>())
        const migrations = { ...first, '0002_one': insertedBy(1, 'made once') }
        await Promise.all(handles.map((handle) => migrate(handle, migrations)))
        expect(await texts(handles[0])).toEqual(['made once'])
        await Promise.all(handles.map((handle) => handle.close()))
        await fresh.remove()
      })

      test('one that fails leaves nothing of itself or of those before it', async () => {
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

      test('one whose statement fails says which error it was', async () => {
        const wrong: Migrations[string] = {
          up: async (tx) => {
            await sql`insert into nowhere (id) values (1)`.execute(tx)
          },
        }
        await expect(migrate(db, { ...first, '0002_wrong': wrong })).rejects.toThrow('nowhere')
      })

      test('refuses a database made by a newer version', async () => {
        await migrate(db, { ...first, '0002_later': { up: async () => {} } })
        const refused = migrate(db, first)
        await expect(refused).rejects.toBeInstanceOf(NewerVersionError)
        await expect(refused).rejects.toThrow('0002_later')
      })
    })
  })
}
