import { expect, test } from 'vitest'
import type { Snapshot } from '../contract/snapshot.ts'
import { tokenRecord } from '../contract/token-record.harness.ts'
import type { TokenRecord } from '../contract/token-record.ts'
import { GateMetrics } from './gate-metrics.ts'
import { prometheusText } from './prometheus-text.ts'
import { registerSnapshotGauges } from './snapshot-gauges.ts'

const token = (id: string, rest: Partial<TokenRecord> = {}) =>
  tokenRecord({ id, name: id, signals: new Set(['traces']), ...rest })

function snapshot(tokens: readonly TokenRecord[], imported: readonly TokenRecord[] = []): Snapshot {
  return {
    epoch: 42,
    mode: 'warn',
    graceUntilMs: undefined,
    byId: new Map([...tokens, ...imported].map((each) => [each.id, each])),
    byMac: new Map(imported.map((each) => [each.id.repeat(8), each])),
    confirmedAtMs: 10_000,
  }
}

const samples = (metrics: GateMetrics): string[] =>
  prometheusText([metrics.report()])
    .split('\n')
    .filter((line) => /^otelcol_ingestauth_(snapshot|epoch|enforcement|valid|token_)/.test(line))

test('O-6, O-7, O-8: the gauges describe the snapshot', () => {
  const metrics = new GateMetrics()
  const current = snapshot(
    [
      token('lasting'),
      token('expiring', { expiresAtMs: 75_000 }),
      token('expired', { expiresAtMs: 15_000 }),
      token('disabled', { disabled: true }),
      token('revoked', { revokedAtMs: 1 }),
    ],
    [token('imported', { expiresAtMs: 20_000 })],
  )
  registerSnapshotGauges(metrics, () => current, { nowMs: () => 15_000, monotonicMs: () => 17_000 })

  expect(samples(metrics)).toEqual([
    'otelcol_ingestauth_snapshot_age_seconds 7',
    'otelcol_ingestauth_epoch 42',
    'otelcol_ingestauth_enforcement_mode 2',
    'otelcol_ingestauth_valid_tokens 3',
    'otelcol_ingestauth_token_expiry_seconds{token_id="expiring"} 60',
    'otelcol_ingestauth_token_expiry_seconds{token_id="imported"} 5',
  ])
})

test('before the first snapshot there are no series', () => {
  const metrics = new GateMetrics()
  registerSnapshotGauges(metrics, () => undefined, { nowMs: () => 0, monotonicMs: () => 0 })
  expect(samples(metrics)).toEqual([])
})

test('a token that is no longer in the snapshot loses its series', () => {
  const metrics = new GateMetrics()
  let current = snapshot([token('a'), token('b')])
  registerSnapshotGauges(metrics, () => current, { nowMs: () => 15_000, monotonicMs: () => 15_000 })
  metrics.tokenUsed(token('a'), 'traces', 1, 15_000)
  expect(samples(metrics).join()).toContain('token_requests{signal="traces",token_id="a"')

  current = snapshot([token('b')])
  expect(samples(metrics).join()).not.toContain('token_id="a"')
})
