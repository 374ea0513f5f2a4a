import { chmodSync, existsSync, mkdirSync, readdirSync, type Stats, statSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import type { Log } from '@penstock/runtime'
import { UsageError } from './environment.ts'
import { isSystemError, systemReason } from './system-error.ts'

/**
 * The entries that penstock keeps in the data directory. "Closing" an entry removes the access of other users to it; a
 * `tree` is closed together with its contents.
 */
const entryKinds = [
  { kind: 'key', name: /^(?:pepper|pepper-salt|secrets\.key)$/ },
  { kind: 'file', name: /^(?:core|gateway|observe)\.db(?:-wal|-shm|-journal|\.moved)?$/ },
  { kind: 'file', name: /^(?:pepper|pepper-salt|secrets\.key)\..+$/ },
  { kind: 'file', name: /^(?:(?:observe|penstock)\.lock(?:-journal)?|readyz\.probe)$/ },
  { kind: 'file', name: /^plane\.json(?:\..+)?$/ },
  { kind: 'file', name: /^backfill-.+\.ndjson(?:\..+)?$/ },
  { kind: 'file', name: /^sources\.json(?:\..+)?$/ },
  { kind: 'file', name: /^sample-workspace\.pending$/ },
  { kind: 'tree', name: /^(?:repositories|mail|restore-in-progress|restore-ready|before-restore-.+)$/ },
] as const

/** The directory in which a backup is prepared. The other contents are as before; while it exists, no process starts. */
export const RESTORE_DIRECTORY = 'restore-in-progress'
/** Its name while its contents replace the former ones. Some of them may have been moved already. */
export const RESTORE_READY_DIRECTORY = 'restore-ready'

type EntryKind = (typeof entryKinds)[number]['kind']

interface OpenEntry {
  readonly name: string
  readonly path: string
  readonly kind: EntryKind
}

/** The permission bits of the group and of all others. */
const OTHERS = 0o077
/** The permission bits of all others, without the group. */
const ALL = 0o007
/** Permissions of the group and of all others to create, rename and delete entries. */
const WRITE_BY_GROUP = 0o020
const WRITE_BY_ALL = 0o002
/** The sticky bit of a directory: users can rename and delete only their own files in it, as in /tmp. */
const STICKY = 0o1000
/** The maximum number of other files that the log names. */
const MAX_NAMES = 5
/**
 * The access that users other than the owner have to the data directory itself. A `closable` directory is closed by the
 * next start. An `open` directory keeps its mode, and other users can only list it. In a `writable` directory, other
 * users can replace files.
 */
type DirectoryAccess =
  | { readonly kind: 'closed' | 'closable' }
  | { readonly kind: 'open'; readonly why: string; readonly mode: string; readonly otherNames: readonly string[] }
  | { readonly kind: 'writable'; readonly problem: string; readonly remedy: string }

/** Entries that file systems create at their root. */
const ignoredNames = new Set(['lost+found'])
const hasModes = process.platform !== 'win32'

/**
 * Creates and closes the data directory for a process that uses it.
 *
 * @throws {UsageError} as `createDataDirectory`, and if a restore into it was not finished
 */
export function prepareDataDirectory(dataDir: string, log: Log): void {
  requireNoRestore(dataDir)
  createDataDirectory(dataDir, log)
}

/**
 * Creates the data directory if it is missing. Closes the directory, and the entries that penstock keeps in it, to
 * other users. Files that this process creates later are open to their owner only, with any initial umask.
 *
 * The directory itself keeps its mode if it holds other entries too, or if another user owns it, as with a mounted
 * volume; the log says so.
 *
 * @throws {UsageError} if the directory cannot be used, if every user can read a key in it, if other users can replace
 *   files in it, or if a file cannot be closed
 */
export function createDataDirectory(dataDir: string, log: Log): void {
  // Windows has no such modes, and a worker thread cannot set its own umask.
  if (hasModes) process.umask(OTHERS)
  orRefuse(`cannot use the data directory ${dataDir}`, () => mkdirSync(dataDir, { recursive: true, mode: 0o700 }))
  const names = hasModes ? closeDirectory(dataDir) : []
  if (names.length > 0) {
    const message = 'other users could read the data directory; it is now accessible only to its owner'
    log.warn({ event: 'data_directory.closed', directory: dataDir, names }, message)
  }
  const access = directoryAccess(dataDir)
  if (access.kind !== 'open') return
  const { why, mode, otherNames } = access
  const fields = { event: 'data_directory.open', directory: dataDir, mode, names: otherNames.slice(0, MAX_NAMES) }
  log.info(
    fields,
    `Other users can list the data directory. It stays as it is because ${why}; the files of penstock are closed`,
  )
}

/** @throws {UsageError} if a restore is in progress, or was interrupted */
export function requireNoRestore(dataDir: string): void {
  const unfinished = `a restore into ${dataDir} was not finished: run penstock restore again`
  if (existsSync(join(dataDir, RESTORE_READY_DIRECTORY))) throw new UsageError(unfinished)
  const staging = join(dataDir, RESTORE_DIRECTORY)
  if (existsSync(staging)) throw new UsageError(`${unfinished}, or remove ${staging} to keep what was there before`)
}

/** Returns what other users can do with the data directory, which must exist. On Windows, it is always `closed`. */
export function directoryAccess(dataDir: string): DirectoryAccess {
  const { mode, uid } = statSync(dataDir)
  if (!hasModes || (mode & OTHERS) === 0) return { kind: 'closed' }
  const isOurs = uid === process.getuid?.()
  const otherNames = readdirSync(dataDir).filter((name) => kindOf(name) === undefined)
  if (isOurs && otherNames.length === 0) return { kind: 'closable' }
  // A volume that belongs to another user is often handed to this one by its group.
  const writers = mode & (isOurs ? WRITE_BY_ALL | WRITE_BY_GROUP : WRITE_BY_ALL)
  if (writers !== 0 && (mode & STICKY) === 0) {
    const who = (writers & WRITE_BY_ALL) === 0 ? 'its group' : 'every user'
    const letters = `${writers & WRITE_BY_GROUP ? 'g' : ''}${writers & WRITE_BY_ALL ? 'o' : ''}`
    return {
      kind: 'writable',
      problem: `${who} can replace files in ${dataDir}`,
      remedy: `chmod ${letters}-w ${dataDir}`,
    }
  }
  const why = isOurs ? 'it holds other files' : 'it belongs to another user'
  return { kind: 'open', why, mode: (mode & 0o777).toString(8), otherNames }
}

/** Returns the entries of penstock in the data directory that users other than the owner may read or change; empty on Windows. */
export function listOpenEntries(dataDir: string): OpenEntry[] {
  if (!hasModes || !existsSync(dataDir)) return []
  return readdirSync(dataDir)
    .sort()
    .flatMap((name) => {
      const kind = kindOf(name)
      const path = join(dataDir, name)
      return kind !== undefined && kind !== 'ignored' && isOpenToOthers(path) ? [{ name, path, kind }] : []
    })
}

/** Returns whether users other than the owner may read or change the file; false if it does not exist. */
const isOpenToOthers = (path: string): boolean => hasModes && isOpenTo(OTHERS, path)

const isOpenTo = (permissions: number, path: string): boolean => ((statIfThere(path)?.mode ?? 0) & permissions) !== 0

function closeDirectory(dataDir: string): string[] {
  const open = orRefuse(`cannot use the data directory ${dataDir}`, () => listOpenEntries(dataDir))
  // Volume managers for containers give files to a group again at each start, so a key open to the group is closed like
  // any other file.
  const key = open.find(({ kind, path }) => kind === 'key' && isOpenTo(ALL, path))
  if (key !== undefined) throw new UsageError(`every user can read the key ${key.path}; run: chmod 600 ${key.path}`)
  const isClosed = closeOwn(dataDir)
  for (const { path, kind } of open) {
    orRefuse(`other users can read ${path}, and its mode cannot be changed`, () => close(path, kind))
  }
  return [...(isClosed ? ['.'] : []), ...open.map(({ name }) => name)]
}

/** Closes the directory itself if nothing else is in it. @throws {UsageError} if other users can replace files in it */
function closeOwn(dataDir: string): boolean {
  const access = directoryAccess(dataDir)
  if (access.kind === 'writable') throw new UsageError(`${access.problem}; run: ${access.remedy}`)
  if (access.kind !== 'closable') return false
  orRefuse(`cannot close the data directory ${dataDir}`, () => closeOne(dataDir, statSync(dataDir).mode))
  return true
}

/**
 * Closes an entry, and a directory only after its contents. If a start is killed in between, the directory is still
 * open, so the next start closes the rest.
 */
function close(path: string, kind: EntryKind): void {
  const stats = statIfThere(path)
  if (stats === undefined) return
  if (kind === 'tree' && stats.isDirectory()) {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      if (entry.isDirectory() || entry.isFile()) close(join(path, entry.name), 'tree')
    }
  }
  closeOne(path, stats.mode)
}

function closeOne(path: string, mode: number): void {
  try {
    if ((mode & OTHERS) !== 0) chmodSync(path, mode & 0o7700)
  } catch (error) {
    // SQLite deletes its log when the last process closes the database.
    if (!isSystemError(error) || error.code !== 'ENOENT') throw error
  }
}

const statIfThere = (path: string): Stats | undefined => statSync(path, { throwIfNoEntry: false })

const kindOf = (name: string): EntryKind | 'ignored' | undefined =>
  ignoredNames.has(name) ? 'ignored' : entryKinds.find((row) => row.name.test(name))?.kind

function orRefuse<Result>(what: string, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    if (!isSystemError(error)) throw error
    throw new UsageError(`${what}: ${systemReason(error)}`)
  }
}
