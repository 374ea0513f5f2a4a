import { getSystemErrorMap } from 'node:util'
import { OutputError, UsageError } from './environment.ts'

/** Returns whether an error comes from the operating system. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'errno' in error && 'code' in error
}

/** Returns the reason alone, such as `no such file or directory`. Node's message also contains the path and the system call. */
export function systemReason(error: NodeJS.ErrnoException): string {
  const [, reason] = getSystemErrorMap().get(error.errno ?? 0) ?? []
  return reason ?? error.code ?? 'unknown reason'
}

/** Returns the result of `work`, and throws system errors as a `UsageError` with the message `what: reason`. */
export function orUsageError<T>(what: string, work: Promise<T>): Promise<T> {
  return orError(UsageError, what, work)
}

/** Does the same as `orUsageError` with an `OutputError`, for files that are written during a run. */
export function orOutputError<T>(what: string, work: Promise<T>): Promise<T> {
  return orError(OutputError, what, work)
}

async function orError<T>(kind: new (message: string) => Error, what: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!isSystemError(error)) throw error
    throw new kind(`${what}: ${systemReason(error)}`)
  }
}
