import type { Db } from './db.ts'
import { isPostgresUnavailable, openPostgres } from './postgres.ts'
import { isSqliteUnavailable, openSqlite } from './sqlite.ts'

/** `postgres://…` or `postgresql://…`; anything else is the path of an SQLite file. */
export const isPostgresUrl = (location: string): boolean => /^postgres(?:ql)?:\/\//i.test(location)

export function openDatabase<Tables>(location: string): Db<Tables> {
  return isPostgresUrl(location) ? openPostgres(location) : openSqlite(location)
}

/** Whether a query failed because the database cannot serve at present, and not because of what was asked. */
export const isUnavailable = (error: unknown): boolean => isSqliteUnavailable(error) || isPostgresUnavailable(error)
