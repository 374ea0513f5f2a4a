import type { Db } from './db.ts'
import { isPostgresUnavailable, isPostgresInvalidValue, openPostgres } from './postgres.ts'
import { isSqliteUnavailable, openSqlite, openSqliteReadOnly } from './sqlite.ts'
import { QueueFullError } from './serial-queue.ts'

/** `postgres://…` or `postgresql://…`; anything else is the path of an SQLite file. */
export const isPostgresUrl = (location: string): boolean => /^postgres(?:ql)?:\/\//i.test(location)

export function openDatabase<Tables>(location: string): Db<Tables> {
  return isPostgresUrl(location) ? openPostgres(location) : openSqlite(location)
}

/** To look only; an SQLite file must be there. */
export function openReadOnly<Tables>(location: string): Pick<Db<Tables>, 'read' | 'close'> {
  return isPostgresUrl(location) ? openPostgres(location) : openSqliteReadOnly(location)
}

/** Whether a query failed because the database cannot serve at present, and not because of what was asked. */
export const isUnavailable = (error: unknown): boolean =>
  error instanceof QueueFullError || isSqliteUnavailable(error) || isPostgresUnavailable(error)

/** Whether a query failed because of a value of the wrong kind, which SQLite takes and finds nothing by. */
export const isInvalidValue = (error: unknown): boolean => isPostgresInvalidValue(error)
