import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { expect, test } from 'vitest'
import { temporaryDirectory } from './cli/temporary-directory.ts'
import {
  contents,
  earlierVersions,
  migrateEarlierVersion,
  serveEarlierVersion,
  unpackEarlierVersion,
} from './earlier-version.ts'

const gatewayContents = ['ingest_tokens', 'api_keys', 'audit_events']

function rowsOf(file: string, tables: readonly string[]): Record<string, unknown> {
  const database = new Sqlite(file, { readonly: true, fileMustExist: true })
  try {
    const count = (table: string) => database.prepare(`select count(*) from "${table}"`).pluck().get()
    return Object.fromEntries(tables.map((table) => [table, count(table)]))
  } finally {
    database.close()
  }
}

const counts = (tables: readonly string[], all: Readonly<Record<string, number>>) =>
  Object.fromEntries(tables.map((table) => [table, all[table]]))

test.each(earlierVersions('sqlite'))(
  'databases of version %s are migrated with their rows, and served',
  async (version) => {
    await using directory = await temporaryDirectory()
    const made = unpackEarlierVersion(version, 'sqlite', directory.path)
    await migrateEarlierVersion(made, {})
    expect(rowsOf(join(made.dataDir, 'core.db'), contents)).toEqual(counts(contents, made.core))
    await serveEarlierVersion(made, {})
    expect(rowsOf(join(made.dataDir, 'gateway.db'), gatewayContents)).toEqual(counts(gatewayContents, made.gateway))
  },
)
