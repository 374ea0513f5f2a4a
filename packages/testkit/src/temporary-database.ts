import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { openPostgres } from '@penstock/db'

export interface TemporaryDatabase {
  /** The location for `openDatabase`. */
  readonly location: string
  /** Removes the database. All connections must be closed. */
  remove(): Promise<void>
}

/** Creates a database on the PostgreSQL server of `PENSTOCK_TEST_DATABASE_URL`, or if that is not set, as a file in `directory`. */
export async function temporaryDatabase(directory: string): Promise<TemporaryDatabase> {
  const serverUrl = process.env.PENSTOCK_TEST_DATABASE_URL
  if (serverUrl) return temporarySchema(serverUrl)
  return { location: join(directory, 'core.db'), remove: async () => {} }
}

/**
 * Creates a schema on the server. For connections to the returned `location`, it is the only schema in the search path, and its
 * name is that of the application.
 */
export async function temporarySchema(serverUrl: string): Promise<TemporaryDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`
  const server = openPostgres<object>(serverUrl)
  await server.write((tx) => tx.schema.createSchema(name).execute())
  await server.close()
  const location = new URL(serverUrl)
  location.searchParams.set('options', `--search_path=${name}`)
  location.searchParams.set('application_name', name)
  return {
    location: location.href,
    async remove() {
      const again = openPostgres<object>(serverUrl)
      await again.write((tx) => tx.schema.dropSchema(name).cascade().execute())
      await again.close()
    },
  }
}
