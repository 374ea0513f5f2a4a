import { isUnavailable } from '@penstock/db'
import { type Clock, FailureLog, type Log } from '@penstock/runtime'
import type { DrainOptions } from './drain.ts'

interface DrainErrorsOptions {
  readonly log: Log
  readonly clock: Clock
  /** The work of the drain in log lines, such as `exports`. */
  readonly work: string
}

/**
 * Returns the error handlers of a drain: an outage of the database has a line when it begins and one when it ends.
 *
 * @param onOther called for every other error
 */
export function drainErrors(
  { log, clock, work }: DrainErrorsOptions,
  onOther: (error: unknown) => void,
): Required<Pick<DrainOptions, 'onError' | 'onRecovered'>> {
  const outage = new FailureLog({
    log,
    clock,
    event: 'database.unavailable',
    message: 'the database cannot be used; the work is tried again until it can',
    fields: { work },
  })
  return {
    onError: (error) => (isUnavailable(error) ? outage.failed(error) : onOther(error)),
    onRecovered: () => outage.succeeded(),
  }
}
