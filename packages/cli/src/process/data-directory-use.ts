import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isInUse } from '@penstock/db'
import { UsageError } from './environment.ts'

const databases = ['core.db', 'gateway.db', 'observe.db']

/** @throws {UsageError} if another process has a database of the data directory open */
export function requireUnused(dataDir: string): void {
  const used = databases.map((name) => join(dataDir, name)).find((file) => existsSync(file) && isInUse(file))
  if (used === undefined) return
  throw new UsageError(`${used} is in use: stop every process of penstock on ${dataDir} first`)
}
