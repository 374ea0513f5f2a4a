import { getSystemErrorMap } from 'node:util'
import { OutputError, UsageError } from './environment.ts'

/** The operating system has refused something. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'errno' in error && 'code' in error
}

/** `no such file or directory`; Node's own message repeats the path and the system call. */
export function systemReason(error: NodeJS.ErrnoException): string {
  const [, reason] = getSystemErrorMap().get(error.errno ?? 0) ?? []
  return reason ?? error.code ?? 'unknown reason'
}

/** The result of `work`, done before anything else; what the operating system refuses becomes `what: reason`. */
export function orUsageError<T>(what: string, work: Promise<T>): Promise<T> {
  return orError(UsageError, what, work)
}

/** The same for what is written in the course of a run. */
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
