import type pg from 'pg'
import { ReadLimitExceeded } from '../port/read-limit.ts'

/** The error for a server that is unreachable or does not answer. The last statement may have been executed. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
}

/**
 * Returns the error itself if it comes from the server, from a limit on the texts, or is about a value that cannot be sent,
 * otherwise a ConnectionError.
 */
export function classifyError(error: unknown): unknown {
  if (error instanceof ReadLimitExceeded) return error
  if (isFromServer(error) || error instanceof TypeError || error instanceof RangeError) return error
  return new ConnectionError('The database cannot be reached', { cause: error })
}

/** Returns whether the server has ended a statement at its time limit. */
export const isTimeout = (error: unknown): boolean => isFromServer(error) && error.code === '57014'

/** Returns whether an error is one of the server, which has a severity, and not one of the driver or the network. */
const isFromServer = (error: unknown): error is pg.DatabaseError =>
  error instanceof Error && (error as Partial<pg.DatabaseError>).severity !== undefined

/**
 * The SQLSTATE codes that are not caused by the query. Classes: connection, authorization, unknown database, transaction
 * rollback, resources, operator intervention (including statement timeouts), system and internal errors. Single codes: lock
 * not available, read-only (a standby), idle in transaction.
 *
 * @see PostgreSQL documentation, appendix A
 */
const unavailableStates = /^(?:08|28|3D|40|53|57|58|XX|55P03|25006|25P03)/

/** Returns whether the server is unreachable, busy for too long, out of resources, or shutting down. */
export const isPostgresUnavailable = (error: unknown): boolean =>
  error instanceof ConnectionError || (isFromServer(error) && unavailableStates.test(error.code ?? ''))

/** Returns whether a value does not fit its column, such as text for a number or a number out of range (SQLSTATE class 22). */
export const isPostgresInvalidValue = (error: unknown): boolean =>
  isFromServer(error) && error.code?.startsWith('22') === true

/** Returns whether a foreign key has no row to refer to. */
export const isPostgresBrokenReference = (error: unknown): boolean => isFromServer(error) && error.code === '23503'
