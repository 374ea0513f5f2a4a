import { existsSync } from 'node:fs'
import { mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { RESTORE_DIRECTORY, RESTORE_READY_DIRECTORY } from '../process/data-directory.ts'
import type { BackupManifest } from './backup-manifest.ts'

/** The file beside the staged entries that says how to put them into the data directory. */
const SWAP_FILE = 'swap.json'

/** The endings of the files that belong to an SQLite database. */
const endings = ['', '-wal', '-shm', '-journal']

interface Swap {
  /** The manifest of the backup that the entries come from. */
  readonly backup: BackupManifest
  /** The names of the entries. */
  readonly names: readonly string[]
  /** The directory in the data directory for the entries that they replace. */
  readonly former: string
}

/** Writes into the staged directory how to put its entries into the data directory, and makes all of it durable. */
export async function prepareSwap(
  staging: string,
  { dataDir, manifest, time }: { readonly dataDir: string; readonly manifest: BackupManifest; readonly time: Date },
): Promise<void> {
  const former = newName(dataDir, `before-restore-${time.toISOString().replaceAll(/[-:]|\.\d+/g, '')}`)
  const swap: Swap = { backup: manifest, names: await readdir(staging), former }
  await writeFile(join(staging, SWAP_FILE), JSON.stringify(swap))
  await syncTree(staging)
}

/** Returns the name, or the name with a number if the directory has an entry with that name. */
function newName(directory: string, name: string): string {
  let found = name
  for (let number = 2; existsSync(join(directory, found)); number += 1) found = `${name}-${number}`
  return found
}

/** Returns whether entries of the data directory may have been moved by a restore that was not completed. */
export const hasBegunSwap = (dataDir: string): boolean => existsSync(join(dataDir, RESTORE_READY_DIRECTORY))

/** Begins the swap. The restore can only be completed then: `completeSwap` does it, also in a later process. */
export async function beginSwap(dataDir: string): Promise<void> {
  await rename(join(dataDir, RESTORE_DIRECTORY), join(dataDir, RESTORE_READY_DIRECTORY))
  await sync(dataDir)
}

/**
 * Moves the former entries away and the new ones into their place, if a swap has begun. What another process has moved before it
 * ended is not moved again.
 *
 * @returns the manifest of the restored backup, or `undefined` if no swap has begun
 */
export async function completeSwap(
  dataDir: string,
  report: (line: string) => Promise<void>,
): Promise<BackupManifest | undefined> {
  if (!hasBegunSwap(dataDir)) return undefined
  const ready = join(dataDir, RESTORE_READY_DIRECTORY)
  // The file is removed last, so a directory without it has no other entries.
  const swap = await readSwap(ready)
  if (swap !== undefined) {
    const former = join(dataDir, swap.former)
    for (const name of swap.names) {
      // An entry that is not there any more was put into its place by an earlier process.
      if (!existsSync(join(ready, name))) continue
      for (const replaced of endings.map((ending) => name + ending)) {
        if (!existsSync(join(dataDir, replaced))) continue
        await mkdir(former, { recursive: true, mode: 0o700 })
        await rename(join(dataDir, replaced), join(former, replaced))
      }
      await rename(join(ready, name), join(dataDir, name))
    }
    await sync(dataDir)
    if (existsSync(former)) {
      const moved = (await readdir(former)).toSorted().join(', ')
      await report(`the former ${moved} are in ${former}: remove it when nothing in it is needed`)
    }
    await report(`${dataDir} has the contents of the backup of ${swap.backup.createdAt}`)
    await rm(join(ready, SWAP_FILE))
  }
  await rm(ready, { recursive: true })
  await sync(dataDir)
  return swap?.backup
}

async function readSwap(ready: string): Promise<Swap | undefined> {
  const file = join(ready, SWAP_FILE)
  return existsSync(file) ? JSON.parse(await readFile(file, 'utf8')) : undefined
}

/** Makes the files and directories of a tree durable. */
async function syncTree(directory: string): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) await syncTree(path)
    else if (entry.isFile()) await sync(path)
  }
  await sync(directory)
}

async function sync(path: string): Promise<void> {
  const handle = await open(path)
  await handle.sync().finally(() => handle.close())
}
