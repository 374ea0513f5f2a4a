import { randomBytes } from 'node:crypto'
import { openPostgres } from '@penstock/db'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeTextSearch, migrateDocs, type SearchTables } from '../../packages/db/src/search/text-search.case.ts'
import { describeWithPostgres } from './describe-with-postgres.ts'

describeWithPostgres('searches of a role that may not create the extension pg_trgm', (serverUrl) => {
  const database = `no_trgm_${randomBytes(6).toString('hex')}`
  let admin: pg.Client

  /** Runs a statement in a database as the administrator. */
  async function asAdministrator(statement: string, at = database): Promise<void> {
    const url = new URL(serverUrl())
    url.pathname = `/${at}`
    const client = new pg.Client({ connectionString: url.href })
    await client.connect()
    await client.query(statement)
    await client.end()
  }

  beforeAll(async () => {
    admin = new pg.Client({ connectionString: serverUrl() })
    await admin.connect()
    await admin.query(`create role ${database} login`)
    await admin.query(`create database ${database}`)
    await asAdministrator(`revoke create on database ${database} from public`)
  })

  afterAll(async () => {
    await admin.query(`drop database if exists ${database} with (force)`)
    await admin.query(`drop role if exists ${database}`)
    await admin.end()
  })

  /** Creates a schema that belongs to the role, which has no other rights. */
  async function createSchema() {
    const schema = `test_${randomBytes(8).toString('hex')}`
    await asAdministrator(`create schema ${schema} authorization ${database}`)
    const location = new URL(serverUrl())
    location.pathname = `/${database}`
    location.username = ''
    location.searchParams.set('user', database)
    location.searchParams.set('options', `--search_path=${schema}`)
    return { location: location.href, remove: () => asAdministrator(`drop schema ${schema} cascade`) }
  }

  test('the migration succeeds without an index', async () => {
    const { location, remove } = await createSchema()
    const db = openPostgres<SearchTables>(location)
    try {
      await migrateDocs(db)
      const { rows } = await sql<{ extensions: number; indexes: number }>`
        select (select count(*) from pg_extension where extname = 'pg_trgm') as extensions,
          (select count(*) from pg_indexes where indexname = 'docs_search') as indexes`.execute(db.read)
      expect(rows).toEqual([{ extensions: 0, indexes: 0 }])
    } finally {
      await db.close()
      await remove()
    }
  })

  describeTextSearch(
    'searches',
    async () => {
      const { location, remove } = await createSchema()
      return { open: () => openPostgres(location), remove }
    },
    10,
  )
})
