import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Collector, startCollector } from './collector.ts'
import { describeWithCollector } from './collector-suite.ts'
import { readExported, type Signal, waitForExported } from './exported-file.ts'
import { freePort } from './free-port.ts'

const agentConfig = fileURLToPath(new URL('../../collector-config/agent.yaml', import.meta.url))

const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'shop' } }] }

const trace = {
  resourceSpans: [
    {
      resource,
      scopeSpans: [
        {
          spans: [
            {
              traceId: '5b8efff798038103d269b633813fc60c',
              spanId: 'eee19b7ec3c1b174',
              name: 'RUN shop',
              kind: 2,
              startTimeUnixNano: '1767225600000000000',
              endTimeUnixNano: '1767225660000000000',
            },
          ],
        },
      ],
    },
  ],
}

const log = {
  resourceLogs: [
    {
      resource,
      scopeLogs: [
        { logRecords: [{ timeUnixNano: '1767225660000000000', body: { stringValue: 'Pipeline success: shop' } }] },
      ],
    },
  ],
}

/** Returns one delta point of a counter, for the seconds `from` to `to` after New Year 2026. */
function runCount({ from, to, runs }: { from: number; to: number; runs: number }) {
  const dataPoint = {
    startTimeUnixNano: `${1767225600 + from}000000000`,
    timeUnixNano: `${1767225600 + to}000000000`,
    asInt: String(runs),
  }
  const sum = { aggregationTemporality: 1, isMonotonic: true, dataPoints: [dataPoint] }
  const metric = { name: 'cicd.pipeline.run.count', unit: '{run}', sum }
  return { resourceMetrics: [{ resource, scopeMetrics: [{ metrics: [metric] }] }] }
}

describeWithCollector('collector-config/agent.yaml', () => {
  let directory: string
  let telemetryFile: string
  let cumulativeFile: string
  let prometheusAddress: string
  let collector: Collector

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'collector-'))
    telemetryFile = join(directory, 'telemetry.jsonl')
    cumulativeFile = join(directory, 'cumulative.jsonl')
    prometheusAddress = `127.0.0.1:${await freePort()}`
    collector = await startCollector({
      config: { file: agentConfig },
      env: {
        COLLECTOR_FILE: telemetryFile,
        COLLECTOR_CUMULATIVE_FILE: cumulativeFile,
        COLLECTOR_PROMETHEUS_ENDPOINT: prometheusAddress,
      },
    })
  })
  afterEach(async () => {
    await collector.stop()
    await rm(directory, { recursive: true })
  })

  async function post(signal: Signal, body: unknown) {
    const response = await fetch(`${collector.httpEndpoint}/v1/${signal}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    expect([response.status, await response.json()]).toEqual([200, { partialSuccess: {} }])
  }

  test('loads without a warning', () => {
    expect(collector.logs()).not.toMatch(/\t(warn|error)\t/)
  })

  test('listens for gRPC and HTTP on loopback', () => {
    expect(collector.httpEndpoint).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect(collector.grpcEndpoint).toMatch(/^127\.0\.0\.1:\d+$/)
  })

  test.each<{ signal: Signal; body: object }>([
    { signal: 'traces', body: trace },
    { signal: 'metrics', body: runCount({ from: 0, to: 60, runs: 1 }) },
    { signal: 'logs', body: log },
  ])('writes the $signal it receives to the file', async ({ signal, body }) => {
    await post(signal, body)

    const [line, ...more] = await waitForExported(telemetryFile, signal, 1)

    expect(JSON.parse(line!)).toMatchObject(body)
    expect(more).toEqual([])
  })

  test('has written everything it accepted when it stops', async () => {
    await post('traces', trace)
    await post('logs', log)
    await post('traces', trace)

    await collector.stop()

    expect(readExported(telemetryFile, 'traces')).toHaveLength(2)
    expect(readExported(telemetryFile, 'logs')).toHaveLength(1)
  })

  test('adds up delta points to totals, in the file and for Prometheus', async () => {
    await post('metrics', runCount({ from: 0, to: 60, runs: 3 }))
    await post('metrics', runCount({ from: 60, to: 120, runs: 4 }))

    const totals = (await waitForExported(cumulativeFile, 'metrics', 2)).map((line) => JSON.parse(line))
    const page = await fetch(`http://${prometheusAddress}/metrics`)

    expect(totals).toMatchObject([cumulativeRunCount('3'), cumulativeRunCount('7')])
    expect(await page.text()).toMatch(/^cicd_pipeline_run_count_total\{.*job="shop".*\} 7$/m)
  })

  test('drops a delta point that overlaps the previous one, which is why metrics are windowed', async () => {
    await post('metrics', runCount({ from: 30, to: 90, runs: 3 }))
    await post('metrics', runCount({ from: 0, to: 120, runs: 4 }))
    await post('metrics', runCount({ from: 90, to: 150, runs: 5 }))

    const totals = (await waitForExported(cumulativeFile, 'metrics', 2)).map((line) => JSON.parse(line))

    expect(totals).toMatchObject([cumulativeRunCount('3'), cumulativeRunCount('8')])
  })
})

function cumulativeRunCount(total: string) {
  const sum = { aggregationTemporality: 2, isMonotonic: true, dataPoints: [{ asInt: total }] }
  return { resourceMetrics: [{ scopeMetrics: [{ metrics: [{ name: 'cicd.pipeline.run.count', sum }] }] }] }
}
