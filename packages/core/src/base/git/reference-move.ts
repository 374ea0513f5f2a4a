import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { DurableFiles } from './git-files.ts'
import { packedReferences, packedText } from './packed-references.ts'

/** A planned change of one reference, or of the branch that `HEAD` points to. */
export interface ReferenceMove {
  /** The path in the repository: `refs/heads/main`, `HEAD`. */
  readonly file: string
  /** The content before and after, without the line feed; missing if the reference does not exist. */
  readonly from?: string
  readonly to?: string
}

interface Place {
  readonly gitdir: string
  readonly files: DurableFiles
}

/**
 * Writes the new files of a move next to the repository, durably, and returns the function that puts them into place.
 * That function only renames, because it runs inside a transaction.
 */
export async function prepareMove({ gitdir, files }: Place, { file, to }: ReferenceMove): Promise<() => Promise<void>> {
  const path = join(gitdir, file)
  if (to !== undefined) return files.prepare(path, `${to}\n`)
  const packed = await packedReferences(gitdir)
  // The packed reference goes first: if only the loose one were removed, the packed one would be valid again.
  const removePacked = packed.delete(file) && (await files.prepare(join(gitdir, 'packed-refs'), packedText(packed)))
  return async () => {
    if (removePacked) {
      await removePacked()
      await files.flush()
    }
    await files.remove(path)
  }
}

/** Undoes a move, if it was made. */
export async function revertMove({ gitdir, files }: Place, { file, from, to }: ReferenceMove): Promise<void> {
  if ((await currentValue(gitdir, file)) !== to) return
  const path = join(gitdir, file)
  if (from === undefined) await files.remove(path)
  else await files.write(path, `${from}\n`)
}

async function currentValue(gitdir: string, file: string): Promise<string | undefined> {
  const text = await readFile(join(gitdir, file), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR' && error.code !== 'EISDIR') throw error
    return undefined
  })
  return text?.replace(/\n$/, '') ?? (await packedReferences(gitdir)).get(file)
}
