import type { Clock, Log } from '@penstock/runtime'
import { type ClickHouse, ClickHouseUnavailable } from '../schema/clickhouse-client.ts'
import { createViews, ViewsNotSupported } from './create-views.ts'
import { UnknownRetention } from './view-retention.ts'

/** The state of the views, as far as this process creates them. */
export type ViewState =
  /** The setting does not let it create any. */
  | { readonly kind: 'not_created' }
  | { readonly kind: 'filling' }
  | { readonly kind: 'created' }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'failed' }

interface ViewMaintenanceOptions {
  /** A connection of its own that lets statements take minutes. It is closed with this. */
  readonly db: ClickHouse
  readonly clock: Clock
  readonly log: Log
}

/** How often tables of the exporter that are new, and changes of its retention, are looked for. */
const INTERVAL_MS = 10 * 60_000
const RETRY_MS = 30_000

/** Creates and fills the views in the background, and keeps their retention that of the exporter's tables. */
export class ViewMaintenance {
  readonly #options: ViewMaintenanceOptions
  readonly #closing = new AbortController()
  #state: ViewState = { kind: 'filling' }
  #ended: Promise<void> = Promise.resolve()

  constructor(options: ViewMaintenanceOptions) {
    this.#options = options
  }

  get state(): ViewState {
    return this.#state
  }

  start(): void {
    this.#ended = this.#run()
  }

  /** Interrupts the statement that runs; the next process repeats it. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#ended
    await this.#options.db.close()
  }

  async #run(): Promise<void> {
    const { clock } = this.#options
    const { signal } = this.#closing
    while (!signal.aborted) {
      await this.#maintain()
      // A user without the right may get it later, and the exporter may create its tables later.
      await clock.sleep(this.#state.kind === 'failed' ? RETRY_MS : INTERVAL_MS, signal).catch(() => {})
    }
  }

  async #maintain(): Promise<void> {
    const { db, clock, log } = this.#options
    const { signal } = this.#closing
    try {
      await createViews({
        db,
        clock,
        signal,
        onFill: ({ name, source }) => {
          this.#state = { kind: 'filling' }
          log.info({ event: 'observe.views_filling', view: name, source }, 'A view in ClickHouse is filled')
        },
      })
      if (this.#state.kind !== 'created')
        log.info({ event: 'observe.views_created' }, 'The views in ClickHouse are complete')
      this.#state = { kind: 'created' }
    } catch (error) {
      if (!signal.aborted) this.#fail(error)
    }
  }

  #fail(error: unknown): void {
    const { log } = this.#options
    const refusal = refusalOf(error)
    if (refusal === undefined) {
      log.warn(
        { event: 'observe.views_failed', error: String(error) },
        'The views in ClickHouse could not be created or filled; this is tried again',
      )
      this.#state = { kind: 'failed' }
      return
    }
    // Said once: the same happens at every attempt.
    if (this.#state.kind !== 'refused') {
      log.warn(
        { event: 'observe.views_refused', reason: refusal },
        "The views in ClickHouse cannot be created; queries read the exporter's tables, which is slower",
      )
    }
    this.#state = { kind: 'refused', reason: refusal }
  }
}

/** Returns why views can never be created as things are; `undefined` for failures that pass. */
function refusalOf(error: unknown): string | undefined {
  if (error instanceof ClickHouseUnavailable && error.isRefused) return 'the user may not create tables and views'
  if (error instanceof ViewsNotSupported || error instanceof UnknownRetention) return error.message
  return undefined
}
