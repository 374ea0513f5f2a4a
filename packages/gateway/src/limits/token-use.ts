import { type IngestSignal, ingestSignalNames } from '../contract/signals.ts'

export interface Use {
  requests: number
  bytes: number
}

export type LimitScope = IngestSignal | 'all'
type Uses = Readonly<Record<LimitScope, Use>>

/**
 * The usage of one token since 00:00 UTC, in this process and, as of the last exchange, in all others:
 *
 *     this process      | earlier | own |
 *     all others        | others  |  ?  |
 *                              exchange
 */
export class TokenUse {
  /** The use of this process since the last exchange. */
  readonly own: Uses = emptyUse()
  /** The use of this process before the last exchange. */
  readonly earlier: Uses = emptyUse()
  /** The use that other processes, or this one before a restart, had stored at the last exchange. */
  readonly others: Uses = emptyUse()
  /** The use that this process has stored. */
  readonly #stored: Uses = emptyUse()

  add(signal: IngestSignal, requests: number, bytes: number): void {
    addTo(this.own, signal, requests, bytes)
  }

  restore(signal: IngestSignal, requests: number, bytes: number): void {
    addTo(this.others, signal, requests, bytes)
  }

  addStored(signal: IngestSignal, requests: number, bytes: number): void {
    addTo(this.#stored, signal, requests, bytes)
  }

  /** Takes over what all processes have stored, including this one. */
  exchange(totals: readonly (Use & { readonly signal: IngestSignal })[]): void {
    const all = emptyUse()
    for (const { signal, requests, bytes } of totals) addTo(all, signal, requests, bytes)
    for (const scope of limitScopes) {
      for (const measure of ['requests', 'bytes'] as const) {
        this.earlier[scope][measure] += this.own[scope][measure]
        this.own[scope][measure] = 0
        this.others[scope][measure] = Math.max(0, all[scope][measure] - this.#stored[scope][measure])
      }
    }
  }

  reset(): void {
    for (const uses of [this.own, this.earlier, this.others, this.#stored]) {
      for (const use of Object.values(uses)) {
        use.requests = 0
        use.bytes = 0
      }
    }
  }
}

const limitScopes: readonly LimitScope[] = [...ingestSignalNames, 'all']

function addTo(uses: Uses, signal: IngestSignal, requests: number, bytes: number): void {
  uses[signal].requests += requests
  uses[signal].bytes += bytes
  uses.all.requests += requests
  uses.all.bytes += bytes
}

function emptyUse(): Uses {
  const rows = limitScopes.map((name) => [name, { requests: 0, bytes: 0 }])
  return Object.fromEntries(rows) as Record<LimitScope, Use>
}
