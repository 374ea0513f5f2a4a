import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { repositoryExists } from './git-repository.ts'
import type { RepositoryContext } from './repository-context.ts'
import { gitdirPath } from './repository-directory.ts'
import { type DirectoryRow, listDirectories } from './repository-directory-store.ts'
import { repositoryFolders } from './repository-key.ts'

const BATCH_SIZE = 1_000

type AuditContext = Pick<RepositoryContext, 'settings'> & { readonly db: Pick<RepositoryContext['db'], 'read'> }

/** The differences between the directories of repositories and the rows that name them. */
interface RepositoryAudit {
  /** The directories that belong to no repository, relative to the directory of all repositories. They are not used. */
  readonly unknown: readonly string[]
  /** The repositories with a row that names a directory which does not exist. */
  readonly missing: readonly DirectoryRow[]
}

/** Compares the directories of repositories with the rows, without changing them. A service may be running. */
export async function auditRepositories(context: AuditContext): Promise<RepositoryAudit> {
  // The directories come first: the row of a new directory is written before the directory.
  const found = await directoriesIn(context.settings.repositoriesDir)
  const changed = await context.db.read.selectFrom('repository_changes').select('directory').execute()
  const known = new Set(changed.map(({ directory }) => directory))
  const missing: DirectoryRow[] = []
  for await (const row of allDirectories(context)) {
    known.add(row.directory)
    if (!(await repositoryExists(gitdirPath(context, row.directory)))) missing.push(row)
  }
  const unknown = [...found].filter((path) => !known.has(path.replace(/\.git(?:\.new)?$/, '')))
  return { unknown: unknown.sort(), missing }
}

/** Returns all repositories with their directories, ordered by name. */
export async function* allDirectories(context: Pick<AuditContext, 'db'>): AsyncGenerator<DirectoryRow> {
  for (let last = ''; ; ) {
    const rows = await listDirectories(context, last, BATCH_SIZE)
    if (rows.length === 0) return
    yield* rows
    last = rows.at(-1)!.repository
  }
}

async function directoriesIn(repositoriesDir: string): Promise<Set<string>> {
  const found = new Set<string>()
  for (const folder of repositoryFolders) {
    for (const name of await namesIn(join(repositoriesDir, folder)))
      if (/\.git(?:\.new)?$/.test(name)) found.add(`${folder}${name}`)
  }
  return found
}

const namesIn = (directory: string): Promise<string[]> =>
  readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
