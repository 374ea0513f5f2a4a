import { describe, expect, test } from 'vitest'
import { instruments } from './instruments.ts'
import { countersOnly, mergeReports } from './merge-reports.ts'
import { prometheusText } from './prometheus-text.ts'
import { MetricRegistry } from './registry.ts'

describe('prometheusText', () => {
  test('O-1: counters keep their names, without a suffix', () => {
    const registry = new MetricRegistry()
    registry.cell('otelcol_receiver_requests', { receiver: 'otlp', transport: 'http', outcome: 'success' }).value = 3

    expect(prometheusText([registry.report()])).toBe(
      [
        '# HELP otelcol_receiver_requests Requests answered, by receiver, transport and outcome: success, refused (by us), failure (by upstream).',
        '# TYPE otelcol_receiver_requests counter',
        'otelcol_receiver_requests{outcome="success",receiver="otlp",transport="http"} 3',
        '',
      ].join('\n'),
    )
  })

  test('O-12: buckets are cumulative and end in +Inf', () => {
    const registry = new MetricRegistry()
    for (const count of [1, 2, 3, 100]) registry.record('otelcol_ingestauth_coalesced_requests', {}, count)

    const [, , ...samples] = prometheusText([registry.report()]).split('\n')
    expect(samples).toEqual([
      'otelcol_ingestauth_coalesced_requests_bucket{le="1"} 1',
      'otelcol_ingestauth_coalesced_requests_bucket{le="2"} 2',
      'otelcol_ingestauth_coalesced_requests_bucket{le="4"} 3',
      'otelcol_ingestauth_coalesced_requests_bucket{le="8"} 3',
      'otelcol_ingestauth_coalesced_requests_bucket{le="16"} 3',
      'otelcol_ingestauth_coalesced_requests_bucket{le="32"} 3',
      'otelcol_ingestauth_coalesced_requests_bucket{le="64"} 3',
      'otelcol_ingestauth_coalesced_requests_bucket{le="+Inf"} 4',
      'otelcol_ingestauth_coalesced_requests_sum 106',
      'otelcol_ingestauth_coalesced_requests_count 4',
      '',
    ])
  })

  test('the bound of a bucket follows the other labels', () => {
    const registry = new MetricRegistry()
    registry.record('otelcol_exporter_request_duration', { upstream: 'http://store:4318' }, 0.00001)

    const page = prometheusText([registry.report()])
    expect(page).toContain('otelcol_exporter_request_duration_bucket{upstream="http://store:4318",le="0.000005"} 0\n')
    expect(page).toContain('otelcol_exporter_request_duration_bucket{upstream="http://store:4318",le="0.00001"} 1\n')
  })

  test('O-3: special characters in a token name are escaped', () => {
    const registry = new MetricRegistry()
    const labels = { token_id: 'a', token_name: 'back\\slash "quoted"\nsecond line }, x', signal: 'logs' }
    registry.cell('otelcol_ingestauth_token_requests', labels).value = 1

    expect(prometheusText([registry.report()])).toContain(
      String.raw`{signal="logs",token_id="a",token_name="back\\slash \"quoted\"\nsecond line }, x"} 1`,
    )
  })

  test.each([
    [Number.NaN, 'NaN'],
    [Number.POSITIVE_INFINITY, '+Inf'],
    [Number.NEGATIVE_INFINITY, '-Inf'],
    [0.25, '0.25'],
    [1e21, '1e+21'],
  ])('%s is written %s', (value, text) => {
    const registry = new MetricRegistry()
    registry.cell('otelcol_ingestauth_snapshot_age_seconds').value = value
    expect(prometheusText([registry.report()])).toContain(`otelcol_ingestauth_snapshot_age_seconds ${text}\n`)
  })

  test('the page is sorted by instrument and labels', () => {
    const registry = new MetricRegistry()
    registry.cell('otelcol_ingestauth_epoch').value = 7
    registry.cell('otelcol_receiver_client_aborted', { transport: 'http' }).value = 1
    registry.cell('otelcol_receiver_client_aborted', { transport: 'grpc' }).value = 2

    const samples = prometheusText([registry.report()])
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
    expect(samples).toEqual([
      'otelcol_ingestauth_epoch 7',
      'otelcol_receiver_client_aborted{transport="grpc"} 2',
      'otelcol_receiver_client_aborted{transport="http"} 1',
    ])
  })

  test('the order of labels does not create a second series', () => {
    const registry = new MetricRegistry()
    registry.cell('otelcol_exporter_send_failed_requests', { upstream: 'e', error_type: 'x' }).value = 1
    registry.cell('otelcol_exporter_send_failed_requests', { error_type: 'x', upstream: 'e' }).value = 2

    const page = prometheusText([registry.report()])
    expect(page.match(/otelcol_exporter_send_failed_requests\{.*/g)).toEqual([
      'otelcol_exporter_send_failed_requests{error_type="x",upstream="e"} 3',
    ])
  })

  test('without series the page is empty', () => {
    expect(prometheusText([])).toBe('')
  })
})

describe('mergeReports', () => {
  const first = new MetricRegistry()
  const second = new MetricRegistry()
  for (const [registry, factor] of [
    [first, 1],
    [second, 10],
  ] as const) {
    registry.cell('otelcol_ingestauth_decisions', { reason: 'missing' }).value = 2 * factor
    registry.cell('otelcol_receiver_active_connections', { transport: 'http' }).value = 3 * factor
    registry.cell('otelcol_ingestauth_snapshot_age_seconds').value = 4 * factor
    registry.cell('otelcol_ingestauth_epoch').value = 5 * factor
    registry.record('otelcol_ingestauth_coalesced_requests', {}, factor)
  }
  const merged = mergeReports([first.report(), second.report()])
  const mergedValue = (name: string) => merged.cells.find((cell) => cell.name === name)?.value

  test('sums counters, and gauges of things that each process has its own of', () => {
    expect(mergedValue('otelcol_ingestauth_decisions')).toBe(22)
    expect(mergedValue('otelcol_receiver_active_connections')).toBe(33)
  })

  test('O-6: takes the oldest snapshot and the lowest epoch', () => {
    expect(mergedValue('otelcol_ingestauth_snapshot_age_seconds')).toBe(40)
    expect(mergedValue('otelcol_ingestauth_epoch')).toBe(5)
  })

  test('sums histograms by bucket', () => {
    expect(merged.histograms).toEqual([
      { name: 'otelcol_ingestauth_coalesced_requests', labels: {}, counts: [1, 0, 0, 0, 1, 0, 0, 0], sum: 11 },
    ])
  })

  test('keeps the totals of a process that has ended', () => {
    const { cells, histograms } = countersOnly(first.report())
    expect(cells.map(({ name }) => name)).toEqual(['otelcol_ingestauth_decisions'])
    expect(histograms).toHaveLength(1)
  })

  test('gauges, and only gauges, define how they are merged', () => {
    const undecided = Object.entries(instruments).filter(
      ([, { kind, aggregation }]) => (kind === 'gauge') !== (aggregation !== undefined),
    )
    expect(undecided).toEqual([])
  })
})

test('O-8: replacing a gauge removes series that are no longer present', () => {
  const registry = new MetricRegistry()
  registry.replace('otelcol_ingestauth_token_expiry_seconds', [
    [{ token_id: 'a' }, 60],
    [{ token_id: 'b' }, 70],
  ])
  registry.replace('otelcol_ingestauth_token_expiry_seconds', [[{ token_id: 'b' }, 65]])
  expect(registry.report().cells).toEqual([
    { name: 'otelcol_ingestauth_token_expiry_seconds', labels: { token_id: 'b' }, value: 65 },
  ])
})
