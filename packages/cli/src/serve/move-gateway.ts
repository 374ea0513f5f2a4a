import { existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError, connectToStore, MoveError, movePlane } from '@penstock/gateway'
import { jsonLog } from '@penstock/runtime'
import type { OptionValues } from 'commander'
import { prepareDataDirectory } from '../process/data-directory.ts'
import { databaseErrorText, isDatabaseError, requireUsable } from '../process/database-error.ts'
import { type Environment, exitCodes, UsageError } from '../process/environment.ts'
import { write } from '../process/output.ts'
import { databaseUrl } from '../settings/setting-shapes.ts'
import type { Settings } from '../settings/setting-table.ts'
import { formatCount } from '../text/wording.ts'
import { MOVED_STORE_FILE, openDatabaseOf, requireStore, STORE_FILE, settingsOf } from './operator.ts'

const TARGET = 'the database of --to'

/**
 * Moves the gateway's plane from the data directory to PostgreSQL, and renames the file that it was in.
 *
 * @returns the exit code: 1 if the move has begun and could not be completed
 * @throws {UsageError} if the plane cannot be moved; nothing has changed then
 */
export async function moveGateway(to: string, flags: OptionValues, environment: Environment): Promise<number> {
  const { env, clock, stderr, signal } = environment
  if (databaseUrl.parse(to) === undefined) throw new UsageError(`--to must be ${databaseUrl.form}`)
  const settings: Settings = settingsOf(flags, without(env, 'PENSTOCK_GATEWAY_DATABASE_URL'))
  const source = { dataDir: settings.dataDir, 'gateway.databaseUrl': undefined }
  requireStore(flags, { ...environment, env: without(env, 'PENSTOCK_GATEWAY_DATABASE_URL') })
  prepareDataDirectory(
    settings.dataDir,
    jsonLog(stderr, () => clock.nowMs()),
  )
  const moving = { source: await openDatabaseOf(source), target: connectToStore(to) }
  try {
    await requireUsable(TARGET, moving.target.read.introspection.getTables())
    await movePlane({
      ...moving,
      nowMs: () => clock.nowMs(),
      signal,
      onTable: ({ name, rows, copied, digest }) =>
        write(stderr, `${name}: ${formatCount(rows)} rows, ${formatCount(copied)} copied now, SHA-256 sum ${digest}\n`),
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
  retire(settings.dataDir)
  await write(stderr, notice(settings.dataDir))
  return exitCodes.ok
}

/** Renames the file, so that no gateway uses the plane that stays behind. */
function retire(dataDir: string): void {
  const file = join(dataDir, STORE_FILE)
  if (existsSync(`${file}-wal`)) {
    throw new UsageError(`another process uses ${file}: stop it, and run the same command again`)
  }
  renameSync(file, join(dataDir, MOVED_STORE_FILE))
}

const notice = (dataDir: string): string =>
  [
    `moved; the old file is now ${join(dataDir, MOVED_STORE_FILE)}`,
    'Next: set PENSTOCK_GATEWAY_DATABASE_URL on every host, and copy the pepper of this data directory to every other one.',
    '',
  ].join('\n')

const without = (env: Environment['env'], name: string): Environment['env'] =>
  Object.fromEntries(Object.entries(env).filter(([variable]) => variable !== name))
