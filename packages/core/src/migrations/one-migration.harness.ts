import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '@penstock/db'
import { type Kysely, type Migration, sql } from 'kysely'
import { onTestFinished } from 'vitest'

type Rows = (query: string) => Promise<readonly unknown[]>

/** Runs one migration on a database made by `statements`, and returns a function that queries the result. */
export async function migrated(statements: readonly string[], migration: Migration): Promise<Rows> {
  const directory = await mkdtemp(join(tmpdir(), 'penstock-migration-'))
  const db = openDatabase<Record<string, Record<string, unknown>>>(join(directory, 'core.db'))
  onTestFinished(async () => {
    await db.close()
    await rm(directory, { recursive: true })
  })
  await db.write(async (tx) => {
    for (const statement of statements) await sql.raw(statement).execute(tx)
    await migration.up(tx as unknown as Kysely<unknown>)
  })
  return async (query) => (await sql.raw(query).execute(db.read)).rows
}
