import type { Db } from './port/db.ts'
import { QueueFullError } from './port/serial-queue.ts'
import { openPostgres } from './postgres/postgres.ts'
import { isPostgresBrokenReference, isPostgresInvalidValue, isPostgresUnavailable } from './postgres/postgres-errors.ts'
import {
  isSqliteBrokenReference,
  isSqliteUnavailable,
  openSqlite,
  openSqliteReadOnly,
  type ReadOnlyOptions,
  type SqliteOptions,
} from './sqlite/sqlite.ts'

/** Returns whether a location is a PostgreSQL URL (`postgres://…`, `postgresql://…`). Other locations are SQLite files. */
export const isPostgresUrl = (location: string): boolean => /^postgres(?:ql)?:\/\//i.test(location)

/** @param options for an SQLite file */
export function openDatabase<Tables>(location: string, options?: SqliteOptions): Db<Tables> {
  return isPostgresUrl(location) ? openPostgres(location) : openSqlite(location, options)
}

/** Opens a database for reading only; an SQLite file must exist. */
export function openReadOnly<Tables>(location: string, options?: ReadOnlyOptions): Pick<Db<Tables>, 'read' | 'close'> {
  return isPostgresUrl(location) ? openPostgres(location) : openSqliteReadOnly(location, options)
}

/** Returns whether an error means that the database is unavailable at present, and not that the query is wrong. */
export const isUnavailable = (error: unknown): boolean =>
  error instanceof QueueFullError || isSqliteUnavailable(error) || isPostgresUnavailable(error)

/** Returns whether a query failed because a value has the wrong type. Only PostgreSQL fails; SQLite finds no rows instead. */
export const isInvalidValue = (error: unknown): boolean => isPostgresInvalidValue(error)

/** Returns whether a write failed because a row that it refers to does not exist. */
export const isBrokenReference = (error: unknown): boolean =>
  isSqliteBrokenReference(error) || isPostgresBrokenReference(error)
