import { afterAll, beforeAll, describe, test } from 'vitest'
import { type PostgresServer, postgresBinaries, searchedPath, startPostgres } from './postgres-server.ts'

/** Describes a suite that needs a PostgreSQL server: that of the whole run, or else one of its own. */
export function describeWithPostgres(name: string, suite: (serverUrl: () => string) => void): void {
  const sharedUrl = process.env.PENSTOCK_TEST_DATABASE_URL
  if (sharedUrl) {
    describe(name, () => suite(() => sharedUrl))
    return
  }
  describeWithPostgresPrograms(name, () => {
    let server: PostgresServer | undefined
    beforeAll(async () => {
      server = await startPostgres()
    })
    afterAll(() => server?.stop())
    suite(() => server!.url)
  })
}

/**
 * Describes a suite that starts PostgreSQL itself. In CI the suite fails if PostgreSQL is not installed; elsewhere it is
 * skipped with a printed reason.
 */
export function describeWithPostgresPrograms(name: string, suite: () => void): void {
  if (postgresBinaries() !== undefined) {
    describe(name, suite)
  } else if (process.env.CI) {
    test(name, () => {
      throw new Error(`CI must install PostgreSQL before the tests; searched ${searchedPath}`)
    })
  } else {
    console.warn(`skipped: "${name}" needs PostgreSQL; searched ${searchedPath}`)
    describe.skip(name, suite)
  }
}
