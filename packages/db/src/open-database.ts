import type { Db } from './db.ts'
import { isPostgresUnavailable, isPostgresUnfit, openPostgres } from './postgres.ts'
import { isSqliteUnavailable, openSqlite, openSqliteToRead } from './sqlite.ts'
import { QueueFullError } from './turns.ts'

/** `postgres://…` or `postgresql://…`; anything else is the path of an SQLite file. */
export const isPostgresUrl = (location: string): boolean => /^postgres(?:ql)?:\/\//i.test(location)

export function openDatabase<Tables>(location: string): Db<Tables> {
  return isPostgresUrl(location) ? openPostgres(location) : openSqlite(location)
}

/** To look only; an SQLite file must be there. */
export function openToRead<Tables>(location: string): Pick<Db<Tables>, 'read' | 'close'> {
  return isPostgresUrl(location) ? openPostgres(location) : openSqliteToRead(location)
}

/** Whether a query failed because the database cannot serve at present, and not because of what was asked. */
export const isUnavailable = (error: unknown): boolean =>
  error instanceof QueueFullError || isSqliteUnavailable(error) || isPostgresUnavailable(error)

/** Whether a query failed because of a value of the wrong kind, which SQLite takes and finds nothing by. */
export const isUnfit = (error: unknown): boolean => isPostgresUnfit(error)
