import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Returns the references written by `git pack-refs`, as a map from full name to object id. */
export async function packedReferences(gitdir: string): Promise<Map<string, string>> {
  const text = await readFile(join(gitdir, 'packed-refs'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    return ''
  })
  return new Map([...text.matchAll(/(?<![^\n])([0-9a-f]{40}) ([^\n]+)/g)].map(([, oid, ref]) => [ref!, oid!]))
}

/** Returns the content of the file with these references. */
export const packedText = (references: ReadonlyMap<string, string>): string =>
  `# pack-refs with: sorted\n${[...references].map(([ref, oid]) => `${oid} ${ref}\n`).join('')}`
