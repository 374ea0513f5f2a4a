import { type Clock, type Log, RepeatingTask } from '@penstock/runtime'
import { rfc3339 } from '../contract/rfc3339.ts'
import { insertAuditEvent } from '../operations/audit-event.ts'
import type { GatewayDb } from '../store/tables.ts'
import { claimNotice, lastValidTokenEndMs, listExpiringTokens } from './expiry-store.ts'
import { dueNotices, ENDED, type ExpiryNotice } from './expiry-warnings.ts'

export interface ExpiryDeps {
  readonly db: GatewayDb
  readonly clock: Clock
  readonly log: Log
  /** Called with each notice after it is recorded, for a webhook. A failure is logged and not retried. */
  readonly onNotice?: (notice: ExpiryNotice) => Promise<void>
}

const CHECK_INTERVAL_MS = 60_000
/** The tokens per page. Their notices are recorded in one transaction. */
const BATCH_SIZE = 100

/** Announces expiries of tokens until it is closed. */
export class ExpiryWatch {
  readonly #repeating: RepeatingTask

  constructor(deps: ExpiryDeps) {
    const { clock, log } = deps
    const pace = { everyMs: CHECK_INTERVAL_MS, clock, log }
    this.#repeating = new RepeatingTask('expiry.unchecked', pace, () => announceExpiries(deps))
  }

  async close(): Promise<void> {
    await this.#repeating.end()
  }
}

/**
 * Gives every notice that is due now, in the log and through `onNotice` (O-9, A-5). The expiry of a token is audited
 * (O-14). Each notice is given once, however many processes run this.
 */
export async function announceExpiries(deps: ExpiryDeps): Promise<void> {
  const { db, clock } = deps
  const nowMs = clock.nowMs()
  const lastEndMs = await lastValidTokenEndMs(db.read, nowMs)
  let page = await listExpiringTokens(db.read, nowMs, BATCH_SIZE, undefined)
  while (page.length > 0) {
    const due = dueNotices(page, lastEndMs, nowMs)
    for (const notice of await claimNotices(db, due, nowMs)) await announce(deps, notice, nowMs)
    page = await listExpiringTokens(db.read, nowMs, BATCH_SIZE, page.at(-1))
  }
}

/** The origin of audit events that the gateway causes itself. */
const gatewayOrigin = { actor: undefined, source: undefined, requestId: undefined }

async function claimNotices(db: GatewayDb, due: readonly ExpiryNotice[], nowMs: number): Promise<ExpiryNotice[]> {
  if (due.length === 0) return []
  return await db.write(async (tx) => {
    const claimed: ExpiryNotice[] = []
    for (const notice of due) {
      if (!(await claimNotice(tx, notice))) continue
      claimed.push(notice)
      if (notice.stepMs !== ENDED) continue
      const { id, expiresAtMs } = notice.token
      const after = { expires_at: rfc3339(expiresAtMs) }
      await insertAuditEvent(tx, gatewayOrigin, { event: 'token.expired', subjectId: id, after }, nowMs)
    }
    return claimed
  })
}

async function announce({ log, onNotice }: ExpiryDeps, notice: ExpiryNotice, nowMs: number): Promise<void> {
  const { token, stepMs, isLast } = notice
  const isEnded = stepMs === ENDED
  const fields = {
    event: isEnded ? 'token.expired' : 'token.expiring',
    token_id: token.id,
    token_name: token.name,
    expires_at: rfc3339(token.expiresAtMs),
    ...(!isEnded && { expires_in_seconds: Math.floor((token.expiresAtMs - nowMs) / 1_000) }),
    last_valid_token: isLast,
  }
  const outcome = isEnded ? 'has expired' : 'will expire'
  if (isLast) log.error(fields, `the last valid ingest token ${outcome}`)
  else log.warn(fields, `an ingest token ${outcome}`)
  try {
    await onNotice?.(notice)
  } catch (error) {
    log.warn(
      { event: 'expiry.notice_failed', token_id: token.id, err: error },
      'an expiry notice could not be delivered',
    )
  }
}
