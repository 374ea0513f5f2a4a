import type { Clock } from '@penstock/runtime'

/**
 * Waits for work, but not longer than `ms`. The work itself is not ended. Node does not emit the events of some connections that fail, so
 * no wait for upstream may depend on an event alone.
 *
 * @throws an error with the code `ETIMEDOUT` if the work is not done in time
 */
export async function within<T>(ms: number, clock: Clock, work: Promise<T>): Promise<T> {
  const done = new AbortController()
  const late = clock.sleep(ms, done.signal).then(() => {
    throw Object.assign(new Error('not in time'), { code: 'ETIMEDOUT' })
  })
  try {
    return await Promise.race([work, late])
  } finally {
    done.abort()
  }
}
