import { sql } from 'kysely'
import type { Core } from './context.ts'
import { asFailure } from './perform.ts'

/**
 * Checks that the database can be reached. Reads no tables.
 * @throws DomainError `unavailable` if it cannot be reached
 */
export async function requireDatabase({ db }: Pick<Core, 'db'>): Promise<void> {
  try {
    await sql`select 1`.execute(db.read)
  } catch (error) {
    throw asFailure(error)
  }
}
