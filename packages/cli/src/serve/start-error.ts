import { isUnavailable } from '@penstock/db'
import { ConfigError, NewerVersionError } from '@penstock/gateway'
import { UsageError } from '../environment.ts'
import { isSystemError, systemReason } from '../system-error.ts'
import { type Settings, settingTable } from './setting-table.ts'
import { WorkerFailed } from './workers.ts'

/**
 * What keeps the gateway from starting, in one line for the operator. `undefined` for what is no fault of the settings or of
 * the machine but ours; that shows where it comes from. With the settings, a busy port says which of them is meant.
 */
export function startErrorOf(error: unknown, settings?: Settings): UsageError | undefined {
  if (error instanceof UsageError) return error
  if (error instanceof WorkerFailed || error instanceof ConfigError) return new UsageError(error.message)
  if (isSystemError(error)) return systemErrorOf(error, settings)
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code.startsWith('ERR_OSSL')) return new UsageError(`cannot use certificate and key: ${(error as Error).message}`)
  return undefined
}

/** Workers say `bind` of the port that their primary takes for them. */
function systemErrorOf(
  error: NodeJS.ErrnoException & { address?: string; port?: number },
  settings: Settings | undefined,
): UsageError | undefined {
  const { syscall, address, port, path } = error
  if (syscall === 'listen' || syscall === 'bind') {
    const variables = settings === undefined ? [] : variablesWithPort(settings, port)
    const whose = variables.length === 0 ? '' : ` (${variables.join(' or ')})`
    return new UsageError(`cannot listen on ${address}:${port}: ${systemReason(error)}${whose}`)
  }
  return path === undefined ? undefined : new UsageError(`cannot read ${path}: ${systemReason(error)}`)
}

const listeners = ['core.listen', 'core.metricsListen', 'observability.listen', 'gateway.http', 'gateway.grpc'] as const

const variablesWithPort = (settings: Settings, port: number | undefined): string[] =>
  listeners
    .filter((name) => [settings[name]].flat().some((address) => address?.port === port))
    .map((name) => settingTable[name].variable)

/**
 * Anything else that goes wrong is passed on as it is.
 *
 * @throws {UsageError} for a database that cannot be opened: damaged, no database at all, not to be reached, or made by a
 * newer version
 */
export async function orUnusable<Database>(database: string, opening: Promise<Database>): Promise<Database> {
  try {
    return await opening
  } catch (error) {
    if (isOfTheDatabase(error)) throw new UsageError(`cannot use ${database}: ${databaseReason(error)}`)
    throw error
  }
}

/** One line, with the system's own word for it where a server cannot be reached. */
export function databaseReason(error: Error): string {
  const cause = error.cause instanceof Error && 'code' in error.cause ? ` (${error.cause.code})` : ''
  return error.message.split('\n', 1)[0] + cause
}

/** What PostgreSQL says to whoever may not make tables. */
const INSUFFICIENT_PRIVILEGE = '42501'

function isOfTheDatabase(error: unknown): error is Error {
  if (error instanceof NewerVersionError || isSystemError(error) || isUnavailable(error)) return true
  if (!(error instanceof Error && 'code' in error)) return false
  return error.code === INSUFFICIENT_PRIVILEGE || String(error.code).startsWith('SQLITE_')
}
