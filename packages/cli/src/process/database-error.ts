import { isUnavailable } from '@penstock/db'
import { NewerVersionError } from '@penstock/gateway'
import { UsageError } from './environment.ts'
import { isSystemError } from './system-error.ts'

/**
 * Returns the opened database. Other errors are rethrown unchanged.
 *
 * @throws {UsageError} if the database cannot be opened: it is damaged, missing, unreachable, or was created by a newer version
 */
export async function requireUsable<Database>(database: string, opening: Promise<Database>): Promise<Database> {
  try {
    return await opening
  } catch (error) {
    if (isDatabaseError(error)) throw new UsageError(`cannot use ${database}: ${databaseErrorText(error)}`)
    throw error
  }
}

/** Returns the error in one line, with the system's error code if a server cannot be reached. */
export function databaseErrorText(error: Error): string {
  const cause = error.cause instanceof Error && 'code' in error.cause ? ` (${error.cause.code})` : ''
  return error.message.split('\n', 1)[0] + cause
}

/** PostgreSQL's error code for a user without permission to create tables. */
const INSUFFICIENT_PRIVILEGE = '42501'

/** Returns whether a database cannot be used, and not that the program has a bug. */
export function isDatabaseError(error: unknown): error is Error {
  if (error instanceof NewerVersionError || isSystemError(error) || isUnavailable(error)) return true
  if (!(error instanceof Error && 'code' in error)) return false
  return error.code === INSUFFICIENT_PRIVILEGE || String(error.code).startsWith('SQLITE_')
}
