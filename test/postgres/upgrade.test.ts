import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { openPostgres } from '@penstock/db'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { temporaryDirectory } from '../cli/temporary-directory.ts'
import {
  contents,
  earlierVersions,
  migrateEarlierVersion,
  serveEarlierVersion,
  unpackEarlierVersion,
} from '../earlier-version.ts'
import { describeWithPostgresPrograms } from './describe-with-postgres.ts'
import { postgresBinaries, startPostgres } from './postgres-server.ts'

describeWithPostgresPrograms('databases of earlier versions on PostgreSQL', () => {
  test.each(earlierVersions('postgres'))(
    'those of version %s are migrated with their rows, and served',
    async (version) => {
      await using directory = await temporaryDirectory()
      const made = unpackEarlierVersion(version, 'postgres', directory.path)
      const server = await startPostgres()
      try {
        const args = ['--quiet', '--set=ON_ERROR_STOP=1', '--file', join(directory.path, 'core.sql'), server.url]
        execFileSync(join(postgresBinaries()!, 'psql'), args, { stdio: 'pipe' })
        const env = { PENSTOCK_DATABASE_URL: server.url }
        await migrateEarlierVersion(made, env)
        const rows = await rowsOf(server.url)
        expect(rows).toEqual(Object.fromEntries(contents.map((table) => [table, made.core[table]])))
        await serveEarlierVersion(made, env)
      } finally {
        await server.stop()
      }
    },
  )
})

async function rowsOf(url: string): Promise<Record<string, number>> {
  const db = openPostgres<object>(url)
  const found: [string, number][] = []
  for (const table of contents) {
    const { rows } = await sql<{ count: number }>`select count(*)::int as count from ${sql.table(table)}`.execute(
      db.read,
    )
    found.push([table, rows[0]!.count])
  }
  await db.close()
  return Object.fromEntries(found)
}
