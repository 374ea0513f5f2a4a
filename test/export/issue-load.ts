import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '@penstock/db'
import { sql } from 'kysely'
import type { CoreProcess } from '../core/core-process.ts'

const MAX_IN_PROGRESS = 32
const STUCK_MS = 120_000

/** Creates issues with numbered titles. */
export class IssueLoad {
  readonly acknowledged = new Set<string>()
  elapsedMs = 0
  readonly #projectId: number
  readonly #perSecond: number
  #last = 0

  constructor(projectId: number, perSecond: number) {
    this.#projectId = projectId
    this.#perSecond = perSecond
  }

  /** Resolves when `count` more issues are acknowledged. Requests may still be in progress then. */
  async send(service: CoreProcess, count: number): Promise<void> {
    const enough = this.acknowledged.size + count
    const beganMs = performance.now()
    let inProgress = 0
    for (let sent = 0; this.acknowledged.size < enough; ) {
      const due = Math.floor(((performance.now() - beganMs) * this.#perSecond) / 1_000) + 1
      for (; sent < due && inProgress < MAX_IN_PROGRESS; sent += 1) {
        inProgress += 1
        void this.#create(service).finally(() => {
          inProgress -= 1
        })
      }
      await sleep(2)
    }
    this.elapsedMs += performance.now() - beganMs
  }

  async #create(service: CoreProcess): Promise<void> {
    this.#last += 1
    const title = `issue ${this.#last}`
    // A request without an answer may have been stored or not.
    const answer = await service.call('POST', `/projects/${this.#projectId}/issues`, { title }).catch(() => undefined)
    if (answer?.status === 201) this.acknowledged.add(title)
  }
}

/** Makes the deliveries of a killed process due, as if their leases had ended. */
export async function endLeases(db: Db<object>): Promise<void> {
  await db.write((tx) => sql`update deliveries set due_at_ms = enqueued_at_ms where state = 'open'`.execute(tx))
}

/** Resolves when no delivery is open. @throws Error if none is settled for two minutes */
export async function untilDrained({ read }: Db<object>): Promise<void> {
  let [settled, sinceMs] = [-1, performance.now()]
  for (; ; await sleep(100)) {
    // The number of open ones can grow: the search for recipients enqueues their mails.
    const { rows } = await sql<{ open: number; settled: number }>`
      select count(*) filter (where state = 'open') as open, count(*) filter (where state <> 'open') as settled
      from deliveries`.execute(read)
    const now = rows[0]!
    if (now.open === 0) return
    if (now.settled !== settled) [settled, sinceMs] = [now.settled, performance.now()]
    else if (performance.now() - sinceMs > STUCK_MS) throw new Error(`${now.open} deliveries stay open`)
  }
}
