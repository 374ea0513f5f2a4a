import type { Clock, Log } from '@penstock/runtime'
import { Agent } from 'undici'
import { rfc3339 } from '../contract/rfc3339.ts'
import { ENDED, type ExpiryNotice } from './expiry-warnings.ts'

/** The time limit of one attempt, from connecting to the end of the answer. */
const TIMEOUT_MS = 5_000
/** The delays before the second and the third attempt; the third is the last. */
const RETRY_DELAYS_MS = [1_000, 5_000]
/** The maximum number of pending notices. Further ones are only in the log. */
const MAX_PENDING = 1_000

/**
 * Posts expiry notices as JSON to a webhook, one after another and without delaying the caller (O-9). Any 2xx is a receipt.
 * A notice that cannot be delivered is logged, without the URL's path, which may be a secret.
 */
export class ExpiryWebhook {
  readonly #url: URL
  readonly #clock: Clock
  readonly #log: Log
  readonly #agent = new Agent({ connections: 1 })
  readonly #stop = new AbortController()
  readonly #pending: ExpiryNotice[] = []
  #delivering: Promise<void> | undefined

  constructor(deps: { readonly url: string; readonly clock: Clock; readonly log: Log }) {
    this.#url = new URL(deps.url)
    this.#clock = deps.clock
    this.#log = deps.log
  }

  post(notice: ExpiryNotice): void {
    if (this.#pending.length >= MAX_PENDING) this.#logFailure(notice, new Error('too many notices wait'))
    else this.#pending.push(notice)
    this.#delivering ??= this.#deliver()
  }

  /** Gives up notices that have not been delivered, and logs them. */
  async close(): Promise<void> {
    this.#stop.abort(new Error('the gateway ends'))
    await this.#delivering
    for (const notice of this.#pending.splice(0)) this.#logFailure(notice, this.#stop.signal.reason)
    await this.#agent.destroy()
  }

  async #deliver(): Promise<void> {
    while (this.#pending.length > 0 && !this.#stop.signal.aborted) {
      const notice = this.#pending.shift()!
      try {
        await this.#attempt(JSON.stringify(toPayload(notice, this.#clock.nowMs())), 0)
      } catch (error) {
        this.#logFailure(notice, error)
      }
    }
    this.#delivering = undefined
  }

  async #attempt(body: string, failures: number): Promise<void> {
    try {
      await this.#send(body)
    } catch (error) {
      const waitMs = RETRY_DELAYS_MS[failures]
      if (waitMs === undefined) throw error
      await this.#clock.sleep(waitMs, this.#stop.signal)
      await this.#attempt(body, failures + 1)
    }
  }

  async #send(body: string): Promise<void> {
    const timeout = new AbortController()
    const attempt = new AbortController()
    const timedOut = this.#clock.sleep(TIMEOUT_MS, timeout.signal).then(
      () => attempt.abort(new Error('no answer in time')),
      () => {},
    )
    try {
      const { origin, pathname, search } = this.#url
      const answer = await this.#agent.request({
        origin,
        path: pathname + search,
        method: 'POST',
        headers: { 'content-type': 'application/json', 'user-agent': 'penstock' },
        body,
        signal: AbortSignal.any([attempt.signal, this.#stop.signal]),
      })
      await answer.body.dump()
      if (answer.statusCode >= 300) throw new Error(`the receiver answered ${answer.statusCode}`)
    } finally {
      timeout.abort()
      await timedOut
    }
  }

  #logFailure({ token }: ExpiryNotice, error: unknown): void {
    const fields = { event: 'expiry.notice_failed', token_id: token.id, host: this.#url.host, err: error }
    this.#log.warn(fields, 'an expiry notice could not be delivered to the webhook')
  }
}

function toPayload({ token, stepMs }: ExpiryNotice, nowMs: number): object {
  return {
    event: stepMs === ENDED ? 'token.expired' : 'token.expiring',
    token_id: token.id,
    token_name: token.name,
    expires_at: rfc3339(token.expiresAtMs),
    expires_in_seconds: Math.max(0, Math.floor((token.expiresAtMs - nowMs) / 1_000)),
  }
}
