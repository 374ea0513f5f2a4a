export { backup } from './backup.ts'
export {
  isBrokenReference,
  isInvalidValue,
  isPostgresUrl,
  isUnavailable,
  openDatabase,
  openReadOnly,
} from './open-database.ts'
export { type Db, type ListenOptions, MAX_PENDING_WRITES } from './port/db.ts'
export * from './port/migrate.ts'
export { type ReadLimit, ReadLimitExceeded } from './port/read-limit.ts'
export { QueueFullError } from './port/serial-queue.ts'
export { openPostgres } from './postgres/postgres.ts'
export { addFolded, folded, foldedSql } from './rows/folded-text.ts'
export { Lookup } from './rows/lookup.ts'
export { RowInsertion } from './rows/row-insertion.ts'
export * from './rows/table-with-id.ts'
export { SearchBudgetError } from './search/search-budget.ts'
export { addSearchIndex } from './search/search-index.ts'
export { textCondition } from './search/text-condition.ts'
export { type FileLock, lockFile } from './sqlite/file-lock.ts'
export { openSqlite, type SqliteDb, type SqliteOptions } from './sqlite/sqlite.ts'
export { findDamage, isInUse } from './sqlite/sqlite-file.ts'
export { lockExclusively, lockShared, type UseLock } from './sqlite/use-lock.ts'
