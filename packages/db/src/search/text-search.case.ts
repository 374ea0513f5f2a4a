import fc from 'fast-check'
import { type Generated, type Kysely, sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { TestDatabase } from '../port/db.case.ts'
import type { Db } from '../port/db.ts'
import { migrate } from '../port/migrate.ts'
import { addFolded, folded } from '../rows/folded-text.ts'
import { tableWithId } from '../rows/table-with-id.ts'
import { addSearchIndex } from './search-index.ts'
import { type TextSearch, textCondition } from './text-condition.ts'

export interface SearchTables {
  docs: { id: Generated<number>; title: string; body: string | null }
}

const addDocs = {
  up: async (db: Kysely<unknown>) => {
    await tableWithId(db, 'docs')
      .addColumn('title', 'text', (column) => column.notNull())
      .addColumn('body', 'text')
      .execute()
    await addFolded(db)
  },
}
const addIndex = { up: (db: Kysely<unknown>) => addSearchIndex(db, 'docs', ['title', 'body']) }

/** Letters that are folded, or that mean something in a pattern, in JSON or in the expressions of FTS5. */
const letter = fc.constantFrom(...'aabBcC ', 'Σ', 'ς', 'σ', 'İ', 'ß', 'é', 'É', '%', '_', '\\', '"', "'", '*', '𝒳')
const text = fc.array(letter, { maxLength: 12 }).map((letters) => letters.join(''))
const row = fc.record({ title: text, body: fc.option(text) })
const word = fc.array(letter, { minLength: 1, maxLength: 6 }).map((letters) => letters.join(''))
const search: fc.Arbitrary<TextSearch> = fc.record({
  columns: fc.constantFrom(['docs.title'], ['docs.body'], ['docs.title', 'docs.body']),
  words: fc.array(word, { minLength: 1, maxLength: 3 }),
  isIndexed: fc.constantFrom(true, true, false),
})

type Row = Pick<SearchTables['docs'], 'title' | 'body'> & { readonly id: number }

/** Returns whether a row matches, as simply as possible. */
const matches = (row: Row, { columns, words }: TextSearch): boolean =>
  words.every((word) =>
    columns.some((column) =>
      folded(row[column.slice('docs.'.length) as 'title' | 'body'] ?? '').includes(folded(word)),
    ),
  )

/** Creates the table, with its index, in an empty database. */
export const migrateDocs = (db: Db<SearchTables>): Promise<void> =>
  migrate(db, { '0001_docs': addDocs, '0002_index': addIndex })

/** Declares the tests that searches must pass on every database. */
export function describeTextSearch(name: string, createDatabase: () => Promise<TestDatabase>, numRuns: number): void {
  describe(name, () => {
    let database: TestDatabase
    let db: Db<SearchTables>

    beforeEach(async () => {
      database = await createDatabase()
      db = database.open()
    })

    afterEach(async () => {
      await db.close()
      await database.remove()
    })

    const found = async (wanted: TextSearch) => {
      const query = db.read.selectFrom('docs').select('id').where(textCondition(db.read, wanted)).orderBy('id')
      return (await query.execute()).map(({ id }) => id)
    }

    test('finds what a comparison with every text finds, before and after changes', async () => {
      await migrateDocs(db)
      await fc.assert(
        fc.asyncProperty(
          fc.array(row, { minLength: 1, maxLength: 6 }),
          fc.array(fc.tuple(fc.nat(5), fc.option(row)), { maxLength: 4 }),
          fc.array(search, { minLength: 1, maxLength: 5 }),
          async (rows, changes, searches) => {
            await db.write((tx) => tx.deleteFrom('docs').execute())
            await db.write((tx) => tx.insertInto('docs').values(rows).execute())
            const ids = (await db.read.selectFrom('docs').select('id').orderBy('id').execute()).map(({ id }) => id)
            for (const [place, change] of changes) {
              const id = ids[place % ids.length]!
              if (change === null) await db.write((tx) => tx.deleteFrom('docs').where('id', '=', id).execute())
              else await db.write((tx) => tx.updateTable('docs').set(change).where('id', '=', id).execute())
            }
            const stored = await db.read.selectFrom('docs').selectAll().orderBy('id').execute()
            // Whole texts and parts of them, because random words hardly occur.
            const certain = stored.flatMap(({ title, body }): TextSearch[] => {
              const words = [title, [...(body ?? '')].slice(1, 6).join('')].filter((part) => part !== '')
              return words.length === 0 ? [] : [{ columns: ['docs.title', 'docs.body'], words, isIndexed: true }]
            })
            for (const wanted of [...searches, ...certain]) {
              const expected = stored.filter((one) => matches(one, wanted)).map(({ id }) => id)
              expect([wanted, await found(wanted)]).toEqual([wanted, expected])
            }
          },
        ),
        { numRuns },
      )
    })

    test('indexes the rows that a table has when the index is added', async () => {
      await migrate(db, { '0001_docs': addDocs })
      await db.write((tx) => tx.insertInto('docs').values({ title: 'Kept before', body: null }).execute())
      await migrateDocs(db)
      await db.write((tx) => tx.insertInto('docs').values({ title: 'Kept after', body: 'BEFORE' }).execute())
      expect(await found({ columns: ['docs.title', 'docs.body'], words: ['before', 'kept'], isIndexed: true })).toEqual(
        [1, 2],
      )
    })

    test('rolls back the index with the row', async () => {
      await migrateDocs(db)
      const failing = db.write(async (tx) => {
        await tx.insertInto('docs').values({ title: 'Not kept', body: null }).execute()
        throw new Error('no')
      })
      await expect(failing).rejects.toThrow('no')
      await db.write((tx) => tx.insertInto('docs').values({ title: 'Other', body: null }).execute())
      expect(await found({ columns: ['docs.title'], words: ['kept'], isIndexed: true })).toEqual([])
    })

    test('a handle with a plugin searches too, and an error of the statement is passed on', async () => {
      await migrateDocs(db)
      const watched = db.read.withPlugin({
        transformQuery: ({ node }) => node,
        transformResult: async ({ result }) => result,
      })
      const failing = sql`select missing from docs where ${textCondition(db.read, { columns: ['docs.title'], words: ['kept'], isIndexed: true })}`
      await db.write((tx) => tx.insertInto('docs').values({ title: 'Kept', body: null }).execute())
      const query = watched.selectFrom('docs').select('title')
      const condition = textCondition(watched, { columns: ['docs.title'], words: ['ept'], isIndexed: true })
      expect(await query.where(condition).execute()).toEqual([{ title: 'Kept' }])
      await expect(failing.execute(watched)).rejects.toThrow('missing')
      expect(await query.where(condition).execute()).toEqual([{ title: 'Kept' }])
    })
  })
}
