import { postgresBinaries, searchedPath, startPostgres } from './postgres-server.ts'

/**
 * Starts one server for the whole run, and sets `PENSTOCK_TEST_DATABASE_URL` for every process of it, and also
 * `PENSTOCK_TEST_RUN_DATABASE_URL`, because tests may leave schemas on a server that is removed after the run.
 */
export default async function startSharedServer(): Promise<(() => Promise<void>) | undefined> {
  if (process.env.PENSTOCK_TEST_DATABASE_URL) return undefined
  if (postgresBinaries() === undefined) {
    throw new Error(
      `PostgreSQL is not installed (searched ${searchedPath}). Install it, or set PENSTOCK_TEST_DATABASE_URL.`,
    )
  }
  const server = await startPostgres()
  process.env.PENSTOCK_TEST_DATABASE_URL = server.url
  process.env.PENSTOCK_TEST_RUN_DATABASE_URL = server.url
  return async () => {
    delete process.env.PENSTOCK_TEST_DATABASE_URL
    delete process.env.PENSTOCK_TEST_RUN_DATABASE_URL
    await server.stop()
  }
}
