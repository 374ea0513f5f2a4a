import { expect, test } from 'vitest'
import { ExportMetrics, exportInstruments } from './export-metrics.ts'

test('has every series from the start', () => {
  const samples = new ExportMetrics().snapshot()
  expect(new Set(samples.map(({ name }) => name))).toEqual(new Set(Object.keys(exportInstruments)))
  expect(samples.every(({ value }) => value === 0)).toBe(true)
  expect(samples.filter(({ name }) => name === 'penstock_export_attempts').map(({ labels }) => labels)).toEqual(
    ['traces', 'metrics', 'logs'].flatMap((signal) =>
      ['delivered', 'retry', 'dead'].map((outcome) => ({ signal, outcome })),
    ),
  )
})

test('adds to counters, sets gauges, and accepts labels in any order', () => {
  const metrics = new ExportMetrics()
  metrics.add('penstock_export_dead', { reason: 'refused', signal: 'logs' }, 2)
  metrics.add('penstock_export_dead', { signal: 'logs', reason: 'refused' })
  metrics.set('otelcol_exporter_queue_size', {}, 7)
  metrics.set('otelcol_exporter_queue_size', {}, 5)
  expect(metrics.snapshot().filter(({ value }) => value > 0)).toEqual([
    { name: 'otelcol_exporter_queue_size', labels: {}, value: 5 },
    { name: 'penstock_export_dead', labels: { signal: 'logs', reason: 'refused' }, value: 3 },
  ])
})
