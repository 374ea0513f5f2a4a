import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { contentTypes, encodeRequest, type OtlpRequest, type Signal, signalNames } from '@penstock/otlp'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Collector, startCollector } from '../collector/collector.ts'
import { describeWithCollector } from '../collector/collector-suite.ts'
import { readExported, waitForExported } from '../collector/exported-file.ts'
import { freePort } from '../collector/free-port.ts'
import { penstock, Sink } from '../command-line.ts'
import { conversionOf } from '../conversion.ts'
import { pipelineHook } from '../load/payloads.ts'
import { decoded } from './agent.ts'
import { compareModels } from './compare-models.ts'
import { generatePipelines, hookOf, ndjsonOf } from './generated-pipelines.ts'
import { itemsByKey } from './items.ts'
import { collectorChanges, DifferenceTally } from './known-differences.ts'

/** A configuration that writes OTLP/HTTP requests to a file immediately, on a port that can be reused after a stop. */
const config = (http: string) => `
extensions:
  bearertokenauth:
    token: \${env:COLLECTOR_TOKEN}
receivers:
  otlp:
    protocols:
      http:
        endpoint: \${env:COLLECTOR_HTTP_ENDPOINT}
        ${http}
exporters:
  file:
    path: \${env:COLLECTOR_FILE}
    rotation:
      max_megabytes: 10000
service:
  extensions: [bearertokenauth]
  pipelines:
    traces: { receivers: [otlp], exporters: [file] }
    metrics: { receivers: [otlp], exporters: [file] }
    logs: { receivers: [otlp], exporters: [file] }
`
const open = config('')
const guarded = config('auth: { authenticator: bearertokenauth }')

const TOKEN = 'the-right-token-4711'

describeWithCollector('penstock export to a failing collector', () => {
  let directory: string
  let file: string
  let address: string
  let collector: Collector

  const start = (yaml: string) =>
    startCollector({
      config: { yaml },
      env: { COLLECTOR_HTTP_ENDPOINT: address, COLLECTOR_FILE: file, COLLECTOR_TOKEN: TOKEN },
    })
  const exportArgs = (...more: string[]) => ['export', '-', '--endpoint', `http://${address}`, ...more]
  const received = <S extends Signal>(signal: S) => decoded(signal, readExported(file, signal))

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'failure-'))
    file = join(directory, 'telemetry.jsonl')
    address = `127.0.0.1:${await freePort()}`
  })
  afterEach(async () => {
    await collector.stop()
    await rm(directory, { recursive: true })
  })

  /** Expects that every item was received, and returns how many were received more than once. */
  function expectAllReceived(hooks: readonly object[]): number {
    const conversions = hooks.map((hook) => conversionOf(hook))
    const tally = new DifferenceTally(collectorChanges)
    let repeated = 0
    for (const signal of signalNames) {
      const expected = itemsByKey(conversions.map((conversion): OtlpRequest => conversion[signal]))
      const actual = itemsByKey(received(signal))
      repeated += actual.repeated.length
      expect([...actual.byKey.keys()].toSorted()).toEqual([...expected.byKey.keys()].toSorted())
      for (const [key, item] of expected.byKey) tally.add(key, compareModels(item, actual.byKey.get(key)))
    }
    expect(tally.unexplained).toEqual([])
    return repeated
  }

  test('delivers everything by retries if the collector is restarted', async () => {
    const pipelines = generatePipelines(120)
    collector = await start(open)
    let stopped: Promise<void> | undefined
    let restart: Promise<void> | undefined
    async function* input() {
      yield ndjsonOf(pipelines.slice(0, 60))
      // Requests are in progress when the collector stops.
      await waitForExported(file, 'logs', 30)
      stopped = collector.stop()
      await stopped
      yield ndjsonOf(pipelines.slice(60))
    }
    async function restartCollector() {
      await stopped
      collector = await start(open)
    }

    const run = await penstock(exportArgs(), {
      stdin: input(),
      stderr: new Sink().onWrite((text) => {
        if (/attempt \d+ failed.*connection refused/.test(text)) restart ??= restartCollector()
      }),
      random: Math.random,
    })

    await restart
    expect(restart).toBeDefined()
    expect([run.exitCode, run.stdout]).toEqual([0, expect.stringMatching(/\neverything accepted\n$/)])
    expectAllReceived(pipelines.map(hookOf))
  })

  test('exits with 1 if the collector rejects the token, and does not print the token', async () => {
    const wrong = 'a-wrong-token-0815'
    collector = await start(guarded)
    const stdin = ndjsonOf(generatePipelines(50))

    const refused = await penstock(exportArgs('--token', wrong), { stdin })

    const output = `${refused.stdout}${refused.stderr}`
    expect([refused.exitCode, output]).toEqual([1, expect.stringContaining('HTTP 401 Unauthorized')])
    expect(output).not.toContain(wrong)
    expect(refused.stdout).toMatch(/\nsome items were not accepted; stopped: HTTP 401/)
    expect(signalNames.flatMap((signal) => received(signal))).toEqual([])

    const none = await penstock(exportArgs(), { stdin })
    expect([none.exitCode, none.stdout]).toEqual([1, expect.stringContaining('HTTP 401 Unauthorized')])

    const accepted = await penstock(exportArgs(), { stdin, env: { SVC_OBSERVABILITY_TOKEN: TOKEN } })
    expect(accepted.exitCode).toBe(0)
    expect(received('traces')).toHaveLength(50)
  })

  test('delivers 10,000 jobs in chunks to a collector that accepts at most 20 MiB per request', async () => {
    const hook = pipelineHook(7, 10_000)
    collector = await start(open)

    const whole = encodeRequest('traces', conversionOf(hook).traces, 'json')
    expect(whole.length).toBeGreaterThan(20 * 1024 * 1024)
    const headers = { 'content-type': contentTypes.json }
    const answer = await fetch(`http://${address}/v1/traces`, { method: 'POST', headers, body: Buffer.from(whole) })
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('too large')])
    expect(received('traces')).toEqual([])

    const run = await penstock(exportArgs('--encoding', 'json'), { stdin: JSON.stringify(hook) })

    expect([run.exitCode, run.stdout]).toEqual([0, expect.stringMatching(/\neverything accepted\n$/)])
    expect(expectAllReceived([hook])).toBe(0)
    expect(received('traces').length).toBeGreaterThan(19)
  })
})
