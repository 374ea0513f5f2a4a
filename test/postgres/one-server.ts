import { postgresBinaries, startPostgres, whereLookedFor } from './postgres-server.ts'

/** One server for the whole run: for every process of it, `PENSTOCK_TEST_DATABASE_URL` says where. */
export default async function startOneServer(): Promise<(() => Promise<void>) | undefined> {
  if (process.env.PENSTOCK_TEST_DATABASE_URL) return undefined
  if (postgresBinaries() === undefined) {
    throw new Error(
      `PostgreSQL is not installed (looked for ${whereLookedFor}), and PENSTOCK_TEST_DATABASE_URL not set`,
    )
  }
  const server = await startPostgres()
  process.env.PENSTOCK_TEST_DATABASE_URL = server.url
  return async () => {
    delete process.env.PENSTOCK_TEST_DATABASE_URL
    await server.stop()
  }
}
