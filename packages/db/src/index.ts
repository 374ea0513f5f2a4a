export { backup } from './backup.ts'
export { type Db, type ListenOptions, MAX_PENDING_WRITES, type NoticeListener, type WriteOptions } from './db.ts'
export { type FileLock, lockFile } from './file-lock.ts'
export { addFolded, folded, foldedSql } from './folded-text.ts'
export { Lookup } from './lookup.ts'
export * from './migrate.ts'
export {
  isBrokenReference,
  isInvalidValue,
  isPostgresUrl,
  isUnavailable,
  openDatabase,
  openReadOnly,
} from './open-database.ts'
export { openPostgres, type PostgresOptions } from './postgres.ts'
export { type ReadLimit, ReadLimitExceeded } from './read-limit.ts'
export { RowInsertion } from './row-insertion.ts'
export { SearchBudgetError } from './search/search-budget.ts'
export { addSearchIndex } from './search/search-index.ts'
export { searchLane, type TextSearch, textCondition } from './search/text-condition.ts'
export { QueueFullError } from './serial-queue.ts'
export type { SessionLock } from './session-lock.ts'
export type { SharedCounter } from './shared-counter.ts'
export { openSqlite, type SqliteDb, type SqliteOptions } from './sqlite.ts'
export { findDamage, isInUse } from './sqlite-file.ts'
export * from './table-with-id.ts'
export { lockExclusively, lockShared, type UseLock } from './use-lock.ts'
