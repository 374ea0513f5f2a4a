import type { Clock } from '@penstock/runtime'
import type { EnforcementMode, Snapshot } from '../contract/snapshot.ts'
import { statusAt } from '../tokens/token-status.ts'
import type { GateMetrics } from './gate-metrics.ts'
import type { Labels } from './registry.ts'

const modeNumber = { off: 0, report: 1, warn: 2, enforce: 3 } satisfies Record<EnforcementMode, number>

/**
 * Registers the gauges that describe the current snapshot (O-6 to O-8). They are updated before each report. Without a
 * snapshot, they have no series.
 */
export function registerSnapshotGauges(
  metrics: GateMetrics,
  snapshot: () => Snapshot | undefined,
  clock: Pick<Clock, 'nowMs' | 'monotonicMs'>,
): void {
  const { registry } = metrics
  let pruned: Snapshot['byId'] | undefined
  metrics.onReport(() => {
    const current = snapshot()
    if (current === undefined) return
    const nowMs = clock.nowMs()
    registry.cell('otelcol_ingestauth_snapshot_age_seconds').value =
      (clock.monotonicMs() - current.confirmedAtMs) / 1000
    registry.cell('otelcol_ingestauth_epoch').value = current.epoch
    registry.cell('otelcol_ingestauth_enforcement_mode').value = modeNumber[current.mode]

    let valid = 0
    const expiries: [Labels, number][] = []
    for (const token of current.byId.values()) {
      if (statusAt(token, nowMs) !== 'valid') continue
      valid += 1
      if (token.expiresAtMs !== undefined) {
        expiries.push([{ token_id: token.id }, (token.expiresAtMs - nowMs) / 1000])
      }
    }
    registry.cell('otelcol_ingestauth_valid_tokens').value = valid
    registry.replace('otelcol_ingestauth_token_expiry_seconds', expiries)

    if (pruned !== current.byId) metrics.tokens.retainOnly(current.byId)
    pruned = current.byId
  })
}
