import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Migrations, migrate, NewerVersionError } from './migrate.ts'
import { type Db, openSqlite } from './sqlite.ts'

interface Tables {
  notes: { id: number; text: string }
}

const first: Migrations = {
  '0001_notes': {
    up: async (db) => {
      await db.schema.createTable('notes').addColumn('id', 'integer').addColumn('text', 'text').execute()
      await sql`insert into notes (id, text) values (1, 'made once')`.execute(db)
    },
  },
}

let directory: string
let file: string
let db: Db<Tables>

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'penstock-migrate-'))
  file = join(directory, 'test.db')
  db = openSqlite<Tables>(file)
})

afterEach(async () => {
  await db.close()
  rmSync(directory, { recursive: true })
})

const texts = async () =>
  (await db.read.selectFrom('notes').select('text').orderBy('id').execute()).map((row) => row.text)

test('applies each migration once, and later ones on top', async () => {
  await migrate(db, first)
  await migrate(db, first)
  await migrate(db, {
    ...first,
    '0002_more': {
      up: async (tx) => {
        await sql`insert into notes (id, text) values (2, 'added')`.execute(tx)
      },
    },
  })
  expect(await texts()).toEqual(['made once', 'added'])
})

test('several that start at once migrate once', async () => {
  const others = Array.from({ length: 4 }, () => openSqlite<Tables>(file))
  await Promise.all([db, ...others].map((each) => migrate(each, first)))
  await Promise.all(others.map((other) => other.close()))
  expect(await texts()).toEqual(['made once'])
})

test('a migration that fails leaves nothing of itself or of those before it', async () => {
  const failing: Migrations = {
    ...first,
    '0002_broken': {
      up: async () => {
        throw new Error('broken')
      },
    },
  }
  await expect(migrate(db, failing)).rejects.toThrow('broken')
  await migrate(db, first)
  expect(await texts()).toEqual(['made once'])
})

test('refuses a database made by a newer version', async () => {
  await migrate(db, { ...first, '0002_later': { up: async () => {} } })
  const refused = migrate(db, first)
  await expect(refused).rejects.toBeInstanceOf(NewerVersionError)
  await expect(refused).rejects.toThrow('0002_later')
})
