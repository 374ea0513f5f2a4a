import { accumulate, newAccumulator } from '@penstock/converter'
import type { Metric, OtlpRequest, ResourceGroup } from '@penstock/otlp'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Collector } from '../collector/collector.ts'
import { describeWithCollector } from '../collector/collector-suite.ts'
import { penstock } from '../command-line.ts'
import { conversionOf } from '../conversion.ts'
import { type Agent, itemCount, startAgent } from './agent.ts'
import { expectedTotals } from './expected-totals.ts'
import { type GeneratedPipeline, generatePipelines, hookOf, ndjsonOf } from './generated-pipelines.ts'
import { parsePrometheusText } from './prometheus-text.ts'
import { allPoints, isAccumulated, lastTotals } from './series.ts'

const pipelines = generatePipelines(200)

const metricsOf = (pipeline: GeneratedPipeline, metricsMode: 'per-run' | 'windowed'): OtlpRequest<'metrics'> =>
  conversionOf(hookOf(pipeline), { metricsMode }).metrics

/** Returns how many data points `delta_to_cumulative` has dropped, by error, and under '' how many it has added. */
async function processedPoints(collector: Collector): Promise<Record<string, number>> {
  const samples = parsePrometheusText(await collector.ownMetrics())
  const counters = samples.filter(({ name }) => /^otelcol_deltatocumulative_datapoints(_total)?$/.test(name))
  return Object.fromEntries(counters.map(({ labels, value }) => [labels.error ?? '', value]))
}

describeWithCollector('delta_to_cumulative of a real collector', () => {
  let agent: Agent

  beforeEach(async () => {
    agent = await startAgent({ ownMetrics: true })
  })
  afterEach(() => agent.stop())

  test('adds up the windows of 200 pipelines that ran at the same time, and drops none', async () => {
    const startNs = 1_800_000_000_000_000_000n
    let state = newAccumulator('windowed', startNs)
    const sent: OtlpRequest<'metrics'>[] = []
    for (const [i, window] of windowsOf(pipelines).entries()) {
      const resources = window.flatMap((pipeline) => metricsOf(pipeline, 'windowed').resources)
      const next = accumulate(state, { resources }, startNs + BigInt(i + 1) * 60_000_000_000n)
      await agent.send('metrics', next.request)
      sent.push(next.request)
      // A process that is restarted in between has no state of the previous one.
      state = i === 5 ? newAccumulator('windowed', next.state.lastNs) : next.state
    }

    const points = sent.reduce((sum, request) => sum + itemCount(request), 0)
    const totals = allPoints(await agent.totals(points))
    const added = allPoints(sent).filter(isAccumulated).length
    expect(await processedPoints(agent.collector)).toEqual({ '': added })
    expect(lastTotals(totals)).toEqual(expectedTotals(pipelines))
    expect(added).toBeGreaterThan(1_000)
  })

  test('adds up the windows of consecutive runs of penstock export, and drops none', async () => {
    let exported = 0
    for (const window of windowsOf(pipelines)) {
      const args = ['export', '-', '--endpoint', agent.collector.httpEndpoint, '--metrics-mode', 'windowed']
      const run = await penstock(args, { stdin: ndjsonOf(window) })
      expect([run.exitCode, run.stderr]).toEqual([0, expect.not.stringContaining('skipped')])
      exported += window.length
    }

    expect(exported).toBe(pipelines.length)
    const { '': kept, ...dropped } = await processedPoints(agent.collector)
    expect(dropped).toEqual({})
    expect(kept).toBeGreaterThan(1_000)
    // All received points are included, because the file of totals is written in the same request.
    expect(lastTotals(allPoints(await agent.totals(kept!)))).toEqual(expectedTotals(pipelines))
  })

  test('drops points of single runs on shared series, which is why windows are needed', async () => {
    const sent: OtlpRequest<'metrics'>[] = []
    for (const pipeline of pipelines) {
      const request = withoutTraceId(metricsOf(pipeline, 'per-run'))
      await agent.send('metrics', request)
      sent.push(request)
    }

    const added = allPoints(sent).filter(isAccumulated).length
    const { '': kept = 0, ...dropped } = await processedPoints(agent.collector)
    const droppedPoints = Object.values(dropped).reduce((a, b) => a + b, 0)
    expect(kept + droppedPoints).toBe(added)
    expect(droppedPoints).toBeGreaterThan(added / 4)
    const gauges = allPoints(sent).length - added
    const totals = lastTotals(allPoints(await agent.totals(kept + gauges)))
    expect(totals).not.toEqual(expectedTotals(pipelines))
  })
})

/** Splits pipelines into windows of increasing size: one pipeline, then two, and so on. */
function windowsOf(all: readonly GeneratedPipeline[]): GeneratedPipeline[][] {
  const windows: GeneratedPipeline[][] = []
  for (let from = 0, size = 1; from < all.length; from += size, size += 1) windows.push(all.slice(from, from + size))
  return windows
}

function withoutTraceId({ resources }: OtlpRequest<'metrics'>): OtlpRequest<'metrics'> {
  return {
    resources: resources.map((group): ResourceGroup<Metric> => {
      const attributes = group.resource.attributes.filter(({ key }) => key !== 'svc.cicd.pipeline.trace_id')
      expect(attributes).toHaveLength(group.resource.attributes.length - 1)
      return { ...group, resource: { ...group.resource, attributes } }
    }),
  }
}
