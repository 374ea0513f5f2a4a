import { silentLog } from '@penstock/runtime'
import { expect, test } from 'vitest'
import { mergeReports } from '../metrics/merge-reports.ts'
import { MetricRegistry } from '../metrics/registry.ts'
import type { IngestPlane, PlaneReport } from './ingest-plane.ts'
import { PlaneReports } from './plane-reports.ts'

interface ScriptedPlane extends IngestPlane {
  count(requests: number): void
  answer: () => Promise<PlaneReport>
}

function planeOf(connections: number): ScriptedPlane {
  const registry = new MetricRegistry()
  registry.cell('otelcol_receiver_active_connections', { transport: 'http' }).value = connections
  return {
    refresh: async () => {},
    drain: async () => {},
    count: (requests) => {
      registry.cell('otelcol_ingestauth_decisions', { reason: 'ok' }).value += requests
      registry.record('otelcol_ingestauth_coalesced_requests', {}, 1)
    },
    answer: async () => ({
      metrics: registry.report(),
      clientStats: { clients: [] } as unknown as PlaneReport['clientStats'],
      wrongPaths: [],
      state: 'ready',
      startedMs: 0,
      isStoreFailing: false,
    }),
    report() {
      return this.answer()
    },
  }
}

async function seen(reports: PlaneReports) {
  const { cells, histograms } = mergeReports(await reports.metrics())
  const of = (name: string) => cells.find((cell) => cell.name === name)?.value
  return {
    decisions: of('otelcol_ingestauth_decisions'),
    connections: of('otelcol_receiver_active_connections'),
    batches: histograms[0]?.sum,
  }
}

test('O-2: the counters of ended planes are kept; their gauges are dropped', async () => {
  const [first, second, third] = [planeOf(5), planeOf(7), planeOf(1)]
  let planes = [first, second]
  const reports = new PlaneReports(() => planes, silentLog)
  first.count(10)
  second.count(1)
  expect(await seen(reports)).toEqual({ decisions: 11, connections: 12, batches: 2 })
  planes = [second, third]
  third.count(100)
  expect(await seen(reports)).toEqual({ decisions: 111, connections: 8, batches: 3 })
  planes = [third]
  expect(await seen(reports)).toEqual({ decisions: 111, connections: 1, batches: 3 })
  expect(await seen(reports)).toEqual({ decisions: 111, connections: 1, batches: 3 })
})

test('O-2: a plane that does not answer keeps its counters, and is missing from the reports', async () => {
  const plane = planeOf(5)
  const reports = new PlaneReports(() => [plane], silentLog)
  plane.count(3)
  expect(await seen(reports)).toEqual({ decisions: 3, connections: 5, batches: 1 })
  const { answer } = plane
  plane.answer = async () => {
    throw new Error('no report in time')
  }
  expect(await seen(reports)).toEqual({ decisions: 3, connections: undefined, batches: 1 })
  expect(await reports.all()).toEqual([])
  plane.answer = answer
  expect(await seen(reports)).toEqual({ decisions: 3, connections: 5, batches: 1 })
})

test('O-2: an answer that arrives after its plane has ended is not counted twice', async () => {
  const plane = planeOf(5)
  let planes = [plane]
  const reports = new PlaneReports(() => planes, silentLog)
  plane.count(3)
  await seen(reports)
  const { answer } = plane
  let release = () => {}
  plane.answer = async () => {
    await new Promise<void>((resolve) => {
      release = resolve
    })
    return answer()
  }
  const late = seen(reports)
  planes = []
  expect((await seen(reports)).decisions).toBe(3)
  release()
  expect((await late).decisions).toBe(3)
  expect((await seen(reports)).decisions).toBe(3)
})
