import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Transaction } from 'kysely'
import type { CoreTables } from '../kit/tables.ts'
import { fileSpace } from './file-space.ts'

/** The storage limit of a repository during one change. */
export interface RepositoryStorage {
  /**
   * Checks the limit before an object is written, so that a full project does not fill the disk with objects that are
   * rejected later.
   * @throws DomainError `storage_full`
   */
  requireRoom(): void
  /**
   * Counts new bytes in the transaction that stores the rows of the change.
   * @throws DomainError `storage_full`
   */
  charge(db: Transaction<CoreTables>, bytes: number): Promise<void>
}

/** Measures the disk space of a repository. Only for the holder of its lock, so that nothing is added in between. */
export const measureSpace = async (gitdir: string): Promise<number> =>
  (await objectSpace(join(gitdir, 'objects'))) + (await referencesSpace(gitdir))

/** Sums file sizes in one directory after the other, because there may be 250,000 files. */
async function objectSpace(directory: string): Promise<number> {
  const entries = await readdir(directory, { withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  const sizes = await Promise.all(files.map(async ({ name }) => fileSpace((await stat(join(directory, name))).size)))
  let bytes = sizes.reduce((sum, size) => sum + size, 0)
  for (const entry of entries) if (entry.isDirectory()) bytes += await objectSpace(join(directory, entry.name))
  return bytes
}

/**
 * Sums the space of references and directories. Directories count because those in the name of a removed branch stay.
 */
async function referencesSpace(gitdir: string): Promise<number> {
  const kinds = await readdir(join(gitdir, 'refs'))
  const entries = await Promise.all(kinds.map((kind) => readdir(join(gitdir, 'refs', kind), { recursive: true })))
  return entries.flat().length * fileSpace(1)
}
