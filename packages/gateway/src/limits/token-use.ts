import { type IngestSignal, ingestSignalNames } from '../contract/signals.ts'

export interface Use {
  requests: number
  bytes: number
}

export type LimitScope = IngestSignal | 'all'

/** The usage of one token since 00:00 UTC: `own` in this process, `restored` in all processes before it started. */
export class TokenUse {
  readonly own: Readonly<Record<LimitScope, Use>> = emptyUse()
  readonly restored: Readonly<Record<LimitScope, Use>> = emptyUse()

  add(signal: IngestSignal, requests: number, bytes: number): void {
    addTo(this.own, signal, requests, bytes)
  }

  restore(signal: IngestSignal, requests: number, bytes: number): void {
    addTo(this.restored, signal, requests, bytes)
  }

  reset(): void {
    for (const use of [...Object.values(this.own), ...Object.values(this.restored)]) {
      use.requests = 0
      use.bytes = 0
    }
  }
}

function addTo(uses: Readonly<Record<LimitScope, Use>>, signal: IngestSignal, requests: number, bytes: number): void {
  uses[signal].requests += requests
  uses[signal].bytes += bytes
  uses.all.requests += requests
  uses.all.bytes += bytes
}

function emptyUse(): Record<LimitScope, Use> {
  const rows = [...ingestSignalNames, 'all'].map((name) => [name, { requests: 0, bytes: 0 }])
  return Object.fromEntries(rows) as Record<LimitScope, Use>
}
