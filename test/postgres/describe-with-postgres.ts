import { afterAll, beforeAll, describe, test } from 'vitest'
import { type PostgresServer, postgresBinaries, startPostgres, whereLookedFor } from './postgres-server.ts'

/**
 * A suite that needs a PostgreSQL server: the one of the run if there is one, else one of its own. It always runs in CI,
 * where a missing one is a failed test; elsewhere it is skipped, and the reason printed.
 */
export function describeWithPostgres(name: string, suite: (serverUrl: () => string) => void): void {
  const given = process.env.PENSTOCK_TEST_DATABASE_URL
  if (given) {
    describe(name, () => suite(() => given))
  } else if (postgresBinaries() !== undefined) {
    describe(name, () => {
      let server: PostgresServer | undefined
      beforeAll(async () => {
        server = await startPostgres()
      })
      afterAll(() => server?.stop())
      suite(() => server!.url)
    })
  } else if (process.env.CI) {
    test(name, () => {
      throw new Error(`CI installs PostgreSQL before the tests; looked for ${whereLookedFor}`)
    })
  } else {
    console.warn(`skipped: "${name}" needs PostgreSQL; looked for ${whereLookedFor}`)
    describe.skip(name, () => suite(() => ''))
  }
}
