import { isUnavailable } from '@penstock/db'
import { ConfigError } from '@penstock/gateway'
import { databaseErrorText } from '../process/database-error.ts'
import { UsageError } from '../process/environment.ts'
import { isSystemError, systemReason } from '../process/system-error.ts'
import { type Settings, settingTable } from '../settings/setting-table.ts'
import { WorkerFailed } from './workers.ts'

/**
 * Returns a usage error with a one-line message for the operator if a known problem prevents the start. Returns
 * `undefined` for a bug, which is shown with its stack instead. If `settings` are given, the message about a busy port
 * names the variable that sets the port.
 */
export function startErrorOf(error: unknown, settings?: Settings): UsageError | undefined {
  if (error instanceof UsageError) return error
  if (error instanceof WorkerFailed || error instanceof ConfigError) return new UsageError(error.message)
  if (isSystemError(error)) return systemErrorOf(error, settings)
  // A database can go away after it was opened.
  if (error instanceof Error && isUnavailable(error)) return new UsageError(databaseErrorText(error))
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code.startsWith('ERR_OSSL')) return new UsageError(`cannot use certificate and key: ${(error as Error).message}`)
  return undefined
}

/**
 * Returns the usage error for a system error. In workers the system call is `bind`, because their
 * primary binds the port for them.
 */
function systemErrorOf(
  error: NodeJS.ErrnoException & { address?: string; port?: number },
  settings: Settings | undefined,
): UsageError | undefined {
  const { syscall, address, port, path } = error
  if (syscall === 'listen' || syscall === 'bind') {
    const variables = settings === undefined ? [] : variablesWithPort(settings, port)
    const suffix = variables.length === 0 ? '' : ` (${variables.join(' or ')})`
    return new UsageError(`cannot listen on ${address}:${port}: ${systemReason(error)}${suffix}`)
  }
  return path === undefined ? undefined : new UsageError(`cannot read ${path}: ${systemReason(error)}`)
}

const listeners = ['core.listen', 'core.metricsListen', 'observability.listen', 'gateway.http', 'gateway.grpc'] as const

const variablesWithPort = (settings: Settings, port: number | undefined): string[] =>
  listeners
    .filter((name) => [settings[name]].flat().some((address) => address?.port === port))
    .map((name) => settingTable[name].variable)
