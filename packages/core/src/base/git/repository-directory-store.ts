import process from 'node:process'
import { Lookup } from '@penstock/db'
import type { Transaction } from 'kysely'
import { chunked } from '../kit/chunked.ts'
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
  db.selectFrom('repository_directories').selectAll().where('repository', '=', repository),
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
  const directory = (await joinBatch(db, repository)).get(repository)
  if (directory !== undefined) rememberDirectory(db, { repository, directory })
  return directory
}

/** Returns whether the database still has the directory of a repository, which may be remembered although it was removed. */
export const hasDirectory = async ({ db }: Pick<RepositoryContext, 'db'>, repository: string): Promise<boolean> =>
  (await directoryByName.run(db.read, repository)) !== undefined

/** Lookups of the same moment, which share a statement: a list shows the repositories of many projects. */
interface Batch {
  readonly names: Set<string>
  readonly directories: Promise<ReadonlyMap<string, string>>
}

const batches = new WeakMap<RepositoryContext['db'], Batch>()

function joinBatch(db: RepositoryContext['db'], repository: string): Batch['directories'] {
  const batch = batches.get(db) ?? newBatch(db)
  batches.set(db, batch)
  batch.names.add(repository)
  return batch.directories
}

function newBatch(db: RepositoryContext['db']): Batch {
  const names = new Set<string>()
  // Runs when all promises that are settled now have been handled.
  const isComplete = new Promise<void>((resolve) => process.nextTick(resolve))
  const directories = isComplete.then(() => {
    batches.delete(db)
    return readDirectories(db.read, [...names])
  })
  return { names, directories }
}

async function readDirectories(db: ReadContext['db'], names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  for (const some of chunked(names)) {
    const rows =
      some.length === 1
        ? [await directoryByName.run(db, some[0]!)]
        : await db.selectFrom('repository_directories').selectAll().where('repository', 'in', some).execute()
    for (const row of rows) if (row !== undefined) found.set(row.repository, row.directory)
  }
  return found
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
