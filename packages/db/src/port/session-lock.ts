import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'

/** A lock that belongs to a connection of its own. The server releases it when the process ends in any way. */
export interface SessionLock {
  /** Aborts when the connection is lost, and the lock with it. */
  readonly lost: AbortSignal
  release(): Promise<void>
}

/** The first part of the advisory lock's key; the second is the schema and the name. It must never change. */
const SESSION_LOCK = 1_885_697_140
/** How long the release waits for the server's consent. */
const END_LIMIT_MS = 1_000

/**
 * Connects and takes the lock with this name, until it is released. Returns `undefined` if another process has it.
 *
 * @param lossOf returns the reason with which `lost` aborts, for the error of the connection
 */
export async function lockSession(
  client: pg.Client,
  name: string,
  lossOf: (error: unknown) => unknown,
): Promise<SessionLock | undefined> {
  const lost = new AbortController()
  const lose = (error: unknown) => lost.abort(lossOf(error))
  client.on('error', lose)
  client.on('end', () => lose(new Error('The server has closed the connection')))
  const release = async () => {
    await Promise.race([client.end().catch(() => {}), sleep(END_LIMIT_MS, undefined, { ref: false })])
  }
  try {
    await client.connect()
    const key = `hashtext(coalesce(current_schema(), '') || ' ' || $1)`
    const { rows } = await client.query<{ taken: boolean }>(
      `select pg_try_advisory_lock(${SESSION_LOCK}, ${key}) as taken`,
      [name],
    )
    if (rows[0]!.taken) return { lost: lost.signal, release }
  } catch (error) {
    await release()
    throw error
  }
  await release()
  return undefined
}
