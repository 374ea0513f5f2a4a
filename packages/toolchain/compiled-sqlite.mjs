/*
 * The cache of better-sqlite3's native module, in the user's cache. Compiling it takes a minute of processor time, so set-up in other
 * checkouts, and the image, take the file that one of them has compiled.
 */
import { copyFileSync, mkdirSync, renameSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'

const cacheRoot = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'penstock')

/** The path of the native module in the package better-sqlite3. */
export const moduleInPackage = join('build', 'Release', 'better_sqlite3.node')

/** Returns the path of the native module of a version that is compiled with the headers of a version of Node, whether it exists or not. */
export function toCachedModule(sqliteVersion, headersVersion) {
  const names = [sqliteVersion, 'node', headersVersion, process.platform, process.arch]
  return join(cacheRoot, `better-sqlite3-${names.join('-')}.node`)
}

/** Keeps a native module in the cache. The copy is renamed, so that an incomplete one is never used. */
export function keepModule(compiled, cached) {
  mkdirSync(dirname(cached), { recursive: true })
  copyFileSync(compiled, `${cached}.${process.pid}`)
  renameSync(`${cached}.${process.pid}`, cached)
}
