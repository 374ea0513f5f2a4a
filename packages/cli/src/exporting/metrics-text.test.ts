import { expect, test } from 'vitest'
import { metricsText } from './metrics-text.ts'

test("lists series below their instrument's help and type, with and without labels", () => {
  const text = metricsText([
    { name: 'otelcol_exporter_queue_size', labels: {}, value: 3 },
    { name: 'penstock_export_delivered', labels: { signal: 'traces' }, value: 5 },
    { name: 'penstock_export_delivered', labels: { signal: 'logs' }, value: 0 },
  ])
  expect(text).toMatch(
    /^# HELP otelcol_exporter_queue_size .+\n# TYPE otelcol_exporter_queue_size gauge\notelcol_exporter_queue_size 3\n#/m,
  )
  expect(text).toMatch(
    /^# TYPE penstock_export_delivered counter\npenstock_export_delivered\{signal="traces"\} 5\npenstock_export_delivered\{signal="logs"\} 0\n#/m,
  )
})
