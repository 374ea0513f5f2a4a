import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { describeWithCollector } from '../collector/collector-suite.ts'
import { freePort } from '../collector/free-port.ts'
import { penstock } from '../command-line.ts'
import { type Agent, startAgent } from './agent.ts'
import { expectedTotals } from './expected-totals.ts'
import { type GeneratedPipeline, generatePipelines, ndjsonOf } from './generated-pipelines.ts'
import { totalsOfPage } from './prometheus-totals.ts'
import { allPoints, isAccumulated, keyOf, type SeriesPoint } from './series.ts'

const pipelines = generatePipelines(90)
const batches = [pipelines.slice(0, 1), pipelines.slice(1, 30), pipelines.slice(30, 31), pipelines.slice(31)]

describeWithCollector('cumulative metrics that Prometheus scrapes from a collector', () => {
  let agent: Agent
  let directory: string

  beforeEach(async () => {
    agent = await startAgent()
    directory = await mkdtemp(join(tmpdir(), 'totals-'))
  })
  afterEach(async () => {
    await agent.stop()
    await rm(directory, { recursive: true })
  })

  /** Expects that each series has one start time, and that each point is later than the one before. */
  function expectGrowingSeries(points: readonly SeriesPoint[]): void {
    const times = new Map<string, { startNs: bigint; lastNs: bigint }>()
    for (const each of points.filter(isAccumulated)) {
      const { startTimeUnixNano: startNs, timeUnixNano: lastNs } = each.point
      const earlier = times.get(keyOf(each)) ?? { startNs, lastNs: startNs - 1n }
      expect(startNs).toBe(earlier.startNs)
      expect(lastNs).toBeGreaterThan(earlier.lastNs)
      times.set(keyOf(each), { startNs, lastNs })
    }
  }

  const exportBatch = (batch: readonly GeneratedPipeline[], ...more: string[]) => {
    const args = ['export', '-', '--signals', 'metrics', '--metrics-mode', 'cumulative']
    return penstock([...args, '--endpoint', agent.collector.httpEndpoint, ...more], { stdin: [ndjsonOf(batch)] })
  }

  test('continue from run to run with a state file', async () => {
    const state = join(directory, 'totals.json')
    let exported: GeneratedPipeline[] = []
    for (const batch of batches) {
      expect(await exportBatch(batch, '--state', state)).toMatchObject({ exitCode: 0 })
      exported = [...exported, ...batch]
      expect(totalsOfPage(await agent.scrape())).toEqual(expectedTotals(exported))
    }
    expectGrowingSeries(allPoints(await agent.received('metrics', 0)))
    const totals = expectedTotals(exported)
    expect(totals.size).toBeGreaterThan(300)
  })

  test('do not include pipelines that no collector has accepted, which can be exported again', async () => {
    const [, second, , last] = batches
    const state = ['--state', join(directory, 'totals.json')]
    expect(await exportBatch(second!, ...state)).toMatchObject({ exitCode: 0 })
    const unreachable = `http://127.0.0.1:${await freePort()}`
    expect(await exportBatch(last!, ...state, '--endpoint', unreachable, '--retry-for', '0.2')).toMatchObject({
      exitCode: 1,
    })
    expect(await exportBatch(last!, ...state)).toMatchObject({ exitCode: 0 })

    expect(totalsOfPage(await agent.scrape())).toEqual(expectedTotals([...second!, ...last!]))
  })

  test('begin at zero in every run without a state file', async () => {
    const [, second, , last] = batches
    await exportBatch(second!)
    await exportBatch(last!)

    const totals = totalsOfPage(await agent.scrape())
    for (const [key, total] of expectedTotals(last!)) expect([key, totals.get(key)]).toEqual([key, total])
    expect(totals).not.toEqual(expectedTotals([...second!, ...last!]))
  })
})
