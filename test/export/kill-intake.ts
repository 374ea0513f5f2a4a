import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { type CoreProcess, ROOT_TOKEN } from '../core/core-process.ts'
import { idOf } from '../gateway/numbered-body.ts'
import { SOURCE, SOURCE_SECRET } from './exporting-service.ts'
import { numberedPipeline } from './numbered-pipeline.ts'

/** The highest number of requests in progress; if it is reached, the rate falls. */
const MAX_IN_PROGRESS = 64
const TICK_MS = 5
/** One in this many records is put into the core, which costs several times as much as a hook. */
const PUT_ONE_IN = 10
/** One in this many pipelines is also sent while it runs. */
const RUNNING_ONE_IN = 7

/** The way of a record: a PUT into the core, or a hook. */
export type Way = 'put' | 'hook'

type Answer = 'acknowledged' | 'too busy' | 'unanswered'

/**
 * Sends records like forges do: some are put into the core, the others are posted to the hooks. Records that were not
 * acknowledged are sent again.
 */
export class RecordIntakeLoad {
  /** The ids of acknowledged finished pipelines. */
  readonly acknowledged = new Set<string>()
  readonly faults: string[] = []
  /** The latencies of acknowledged requests. */
  latenciesMs: Record<Way, number[]> = { put: [], hook: [] }
  /** The number of requests without a reply. */
  unanswered = 0
  tooBusy = 0
  #last = 0
  readonly #again: number[] = []

  /**
   * Sends `perSecond` records until `until` more are acknowledged, or the service is gone. Resolves when no request is in
   * progress.
   */
  async send(
    { url }: CoreProcess,
    projectId: number,
    {
      perSecond,
      until,
      onReached,
    }: { readonly perSecond: number; readonly until: number; readonly onReached?: () => void },
  ): Promise<void> {
    const pool = new Pool(new URL(url).origin, { connections: MAX_IN_PROGRESS, pipelining: 1 })
    const isEnough = this.acknowledged.size + until
    const inProgress = new Set<Promise<void>>()
    let isOver = false
    const one = async (number: number) => {
      const answer = await this.#both(pool, projectId, number)
      if (answer !== 'acknowledged') this.#again.push(number)
      if (answer === 'unanswered') {
        this.unanswered += 1
        isOver = true
      }
      if (answer === 'too busy') this.tooBusy += 1
      if (this.acknowledged.size >= isEnough && !isOver) {
        isOver = true
        onReached?.()
      }
    }
    for (let owed = 0, seenMs = performance.now(); !isOver; await sleep(TICK_MS)) {
      const nowMs = performance.now()
      owed = Math.min(owed + ((nowMs - seenMs) * perSecond) / 1_000, MAX_IN_PROGRESS)
      seenMs = nowMs
      for (; owed >= 1 && inProgress.size < MAX_IN_PROGRESS; owed -= 1) {
        const sending = one(this.#again.shift() ?? this.#next()).finally(() => inProgress.delete(sending))
        inProgress.add(sending)
      }
    }
    await Promise.all(inProgress)
    await pool.destroy()
  }

  /** Sends the records that have not been acknowledged yet. */
  async sendRest({ url }: CoreProcess, projectId: number): Promise<void> {
    const pool = new Pool(new URL(url).origin, { connections: 8, pipelining: 1 })
    for (const number of this.#again.splice(0)) {
      const answer = await this.#both(pool, projectId, number)
      if (answer !== 'acknowledged') this.faults.push(`${idOf(number)} is ${answer} at the end`)
    }
    await pool.close()
  }

  #next(): number {
    this.#last += 1
    return this.#last
  }

  async #both(pool: Pool, projectId: number, number: number): Promise<Answer> {
    if (number % RUNNING_ONE_IN === 0) {
      const answer = await this.#one(pool, projectId, number, 'running')
      if (answer !== 'acknowledged') return answer
    }
    const answer = await this.#one(pool, projectId, number, 'success')
    if (answer === 'acknowledged') this.acknowledged.add(idOf(number))
    return answer
  }

  async #one(pool: Pool, projectId: number, number: number, status: 'success' | 'running'): Promise<Answer> {
    const isPut = number % PUT_ONE_IN === 0
    const askedAtMs = performance.now()
    try {
      const { statusCode, body } = await pool.request({
        method: isPut ? 'PUT' : 'POST',
        path: isPut ? `/api/v4/projects/${projectId}/pipeline_records/${number}` : `/hooks/pipelines/${SOURCE}`,
        headers: {
          'content-type': 'application/json',
          ...(isPut
            ? { 'private-token': ROOT_TOKEN }
            : { 'x-gitlab-token': SOURCE_SECRET, 'x-gitlab-event': 'Pipeline Hook' }),
        },
        body: numberedPipeline(number, status),
      })
      const text = await body.text()
      if (statusCode < 300) {
        this.latenciesMs[isPut ? 'put' : 'hook'].push(performance.now() - askedAtMs)
        return 'acknowledged'
      }
      if (statusCode !== 503 && statusCode !== 429) this.faults.push(`${idOf(number)}: ${statusCode} ${text}`)
      return 'too busy'
    } catch (error) {
      // The service is gone, or went away during the request.
      if (/^(UND_ERR_SOCKET|ECONN|EPIPE)/.test((error as NodeJS.ErrnoException).code ?? '')) return 'unanswered'
      throw error
    }
  }
}
