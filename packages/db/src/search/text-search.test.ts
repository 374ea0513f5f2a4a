import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { isUnavailable } from '../open-database.ts'
import { ReadLimitExceeded } from '../port/read-limit.ts'
import { openSqlite, type SqliteDb, type SqliteOptions } from '../sqlite/sqlite.ts'
import { SearchBudgetError } from './search-budget.ts'
import { searchExpression, searchTokens } from './search-tokens.ts'
import { textCondition } from './text-condition.ts'
import { describeTextSearch, migrateDocs, type SearchTables } from './text-search.case.ts'

describeTextSearch(
  'SQLite',
  async () => {
    const home = mkdtempSync(join(tmpdir(), 'penstock-search-'))
    return {
      open: <T>() => openSqlite<T>(join(home, 'test.db'), { survives: 'process-loss' }),
      remove: async () => rmSync(home, { recursive: true }),
    }
  },
  100,
)

async function openDocs(options: SqliteOptions): Promise<SqliteDb<SearchTables>> {
  const home = mkdtempSync(join(tmpdir(), 'penstock-search-'))
  const db = openSqlite<SearchTables>(join(home, 'test.db'), { survives: 'process-loss', ...options })
  onTestFinished(async () => {
    await db.close()
    rmSync(home, { recursive: true })
  })
  await migrateDocs(db)
  return db
}

const docsWith = (db: SqliteDb<SearchTables>, ...words: readonly string[]) =>
  db.read
    .selectFrom('docs')
    .selectAll()
    .where(textCondition(db.read, { columns: ['docs.title', 'docs.body'], words, isIndexed: true }))
    .orderBy('id')

test('a thread returns all rows, also if their texts are long, and passes errors on', async () => {
  const db = await openDocs({ searchesInThreads: true })
  const rows = Array.from({ length: 25 }, (_, index) => ({ title: `Doc ${index}`, body: 'long '.repeat(20_000) }))
  await db.write((tx) => tx.insertInto('docs').values(rows).execute())
  const [long, short] = await Promise.all([docsWith(db, 'doc', 'long').execute(), docsWith(db, 'd').execute()])
  expect(long).toEqual(rows.map((row, index) => ({ id: index + 1, ...row })))
  expect(short).toEqual(long)
  const error: unknown = await docsWith(db, 'doc')
    .select(sql`missing`.as('missing'))
    .execute()
    .catch((thrown: unknown) => thrown)
  expect([String(error), isUnavailable(error)]).toEqual(['SqliteError: no such column: missing', false])
  const full = new ReadLimitExceeded()
  let characters = 0
  const limited = db.readWithin({
    admit(text) {
      characters += text.length
      if (characters > 1_000) throw full
      return text
    },
  })
  await expect(limited.executeQuery(docsWith(db, 'doc').compile())).rejects.toBe(full)
  expect(await docsWith(db, 'Doc 7').execute()).toHaveLength(1)
})

test.each([false, true])(
  'a search beyond its budget fails, and the next one works (in a thread: %s)',
  async (inThreads) => {
    const db = await openDocs({ searchesInThreads: inThreads, searchBudgetMs: 0 })
    await db.write((tx) => tx.insertInto('docs').values({ title: 'Text', body: null }).execute())
    await expect(docsWith(db, 'ext').execute()).rejects.toBeInstanceOf(SearchBudgetError)
    await expect(docsWith(db, 'e').execute()).rejects.toBeInstanceOf(SearchBudgetError)
    // No text is compared.
    expect(await docsWith(db, 'another').execute()).toEqual([])
  },
)

test('a text has a limited number of tokens, and a search looks up at most 24', () => {
  const random = Array.from({ length: 200_000 }, (_, index) => String.fromCharCode(33 + ((index * 7_919) % 20_011)))
  expect(searchTokens([random.join('')]).split(' ').length).toBeLessThanOrEqual(32_768)
  const expression = (length: number) => searchExpression([random.slice(0, length).join('')])!.split(' AND ').length
  expect([3, 10, 26, 127, 254].map(expression)).toEqual([1, 8, 24, 24, 24])
  expect(searchExpression(['ab', 'c'])).toBeUndefined()
})
