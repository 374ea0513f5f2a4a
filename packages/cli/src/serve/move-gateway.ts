import { existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError, connectToStore, MoveError, movePlane } from '@penstock/gateway'
import { jsonLog } from '@penstock/runtime'
import type { OptionValues } from 'commander'
import { useDataDirectory } from '../process/data-directory-use.ts'
import { databaseErrorText, isDatabaseError, requireUsable } from '../process/database-error.ts'
import { type Environment, exitCodes, UsageError } from '../process/environment.ts'
import { write } from '../process/output.ts'
import { databaseUrl } from '../settings/setting-shapes.ts'
import { counted, formatCount } from '../text/wording.ts'
import { MOVED_STORE_FILE, openDatabaseOf, requireStoreFile, STORE_FILE, settingsOf } from './operator.ts'

const TARGET = 'the database of --to'

/**
 * Moves the gateway's plane from the data directory to PostgreSQL, and renames the file that it was in.
 *
 * @returns the exit code: 1 if the move has begun and could not be completed
 * @throws {UsageError} if the plane cannot be moved; nothing has changed then
 */
export async function moveGateway(to: string, flags: OptionValues, environment: Environment): Promise<number> {
  const { env, clock, stderr } = environment
  if (databaseUrl.parse(to) === undefined) throw new UsageError(`--to must be ${databaseUrl.form}`)
  const { dataDir } = settingsOf(flags, env)
  requireStoreFile({ dataDir })
  const log = jsonLog(stderr, () => clock.nowMs())
  const use = await useDataDirectory(dataDir, log)
  try {
    return await movePlaneOf(dataDir, to, environment)
  } finally {
    use.release()
  }
}

async function movePlaneOf(dataDir: string, to: string, { clock, stderr, signal }: Environment): Promise<number> {
  // The plane comes from the file even if the settings name the target already.
  const source = await openDatabaseOf({ dataDir, 'gateway.databaseUrl': undefined })
  const moving = { source, target: connectToStore(to) }
  try {
    await requireUsable(TARGET, moving.target.read.introspection.getTables())
    await movePlane({
      ...moving,
      nowMs: () => clock.nowMs(),
      signal,
      onTable: ({ name, rows, copied, digest }) =>
        write(stderr, `${name}: ${counted(rows, 'row')}, ${formatCount(copied)} copied now, SHA-256 sum ${digest}\n`),
    })
  } catch (error) {
    if (error instanceof ConfigError) throw new UsageError(error.message)
    if (!(error instanceof MoveError || isDatabaseError(error))) throw error
    const message = error instanceof MoveError ? error.message : databaseErrorText(error)
    await write(stderr, `penstock: the move is not finished: ${message}\n`)
    return exitCodes.incomplete
  } finally {
    await moving.source.close()
    await moving.target.close()
  }
  const file = join(dataDir, STORE_FILE)
  // The last process that closes an SQLite database removes its log.
  if (existsSync(`${file}-wal`)) {
    const advice = 'stop it, and run the same command again'
    await write(stderr, `penstock: everything is copied, but another process uses ${file}: ${advice}\n`)
    return exitCodes.incomplete
  }
  // A gateway that is started without the new setting must not use the plane that stays behind. Another move that was
  // started right after this one may have renamed the file.
  if (existsSync(file)) renameSync(file, join(dataDir, MOVED_STORE_FILE))
  await write(stderr, notice(dataDir))
  return exitCodes.ok
}

const notice = (dataDir: string): string =>
  [
    `moved; the old file is now ${join(dataDir, MOVED_STORE_FILE)}`,
    'Next: set PENSTOCK_GATEWAY_DATABASE_URL on every host, and copy the pepper of this data directory to every other one.',
    '',
  ].join('\n')
