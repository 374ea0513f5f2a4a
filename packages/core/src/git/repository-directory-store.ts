import { Lookup } from '@penstock/db'
import type { Transaction } from 'kysely'
import type { ReadContext } from '../kit/store-context.ts'
import type { CoreTables } from '../kit/tables.ts'
import type { RepositoryContext } from './repository-context.ts'

declare module '../kit/tables.ts' {
  interface CoreTables {
    repository_directories: RepositoryDirectoriesTable
  }
}

/**
 * The directories of complete repositories. A directory that no row and no unfinished change names belongs to no repository, whatever
 * its name is: after a backup is restored, ids are given to new objects again.
 */
interface RepositoryDirectoriesTable {
  /** The name of the repository: `5`, `snippets/31`. */
  repository: string
  /** The path below the directory of all repositories, without `.git`. */
  directory: string
}

/** A repository and its directory. */
export interface DirectoryRow {
  readonly repository: string
  readonly directory: string
}

const directoryByName = new Lookup((db: ReadContext['db'], repository: string) =>
  db.selectFrom('repository_directories').select('directory').where('repository', '=', repository),
)

/** The maximum number of directories that a process remembers for a database. */
const MAX_REMEMBERED = 10_000

/** The directories by repository, the oldest first. A repository never gets another directory, and no name is used twice. */
const remembered = new WeakMap<RepositoryContext['db'], Map<string, string>>()

/** Returns the directory of a repository, or `undefined` if nothing has been written to it yet. */
export async function findDirectory(
  { db }: Pick<RepositoryContext, 'db'>,
  repository: string,
): Promise<string | undefined> {
  const known = remembered.get(db)?.get(repository)
  if (known !== undefined) return known
  const row = await directoryByName.run(db.read, repository)
  if (row !== undefined) rememberDirectory(db, { repository, directory: row.directory })
  return row?.directory
}

/** Remembers a directory, so that later calls need no statement. Called only for a committed row. */
export function rememberDirectory(db: RepositoryContext['db'], { repository, directory }: DirectoryRow): void {
  const directories = remembered.get(db) ?? new Map<string, string>()
  remembered.set(db, directories)
  directories.set(repository, directory)
  if (directories.size > MAX_REMEMBERED) directories.delete(directories.keys().next().value!)
}

/** Stores the directory of a new repository, in the transaction that completes its first change. */
export async function insertDirectory(db: Transaction<CoreTables>, row: DirectoryRow): Promise<void> {
  await db.insertInto('repository_directories').values(row).execute()
}

/** Lists repositories with their directories, ordered by name, starting after `last`. */
export async function listDirectories(
  { db }: { readonly db: Pick<RepositoryContext['db'], 'read'> },
  last: string,
  limit: number,
): Promise<DirectoryRow[]> {
  return db.read
    .selectFrom('repository_directories')
    .select(['repository', 'directory'])
    .where('repository', '>', last)
    .orderBy('repository')
    .limit(limit)
    .execute()
}
