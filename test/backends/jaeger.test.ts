import type { OtlpRequest } from '@penstock/otlp'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { neededCollector } from '../collector/collector-suite.ts'
import { describeWithPrograms } from '../collector/program-suite.ts'
import { compareModels } from '../contract/compare-models.ts'
import { convertedFixtures, exportFixtures, type Requests } from '../contract/exported-fixtures.ts'
import { itemsByKey } from '../contract/items.ts'
import { DifferenceTally, type KnownDifference } from '../contract/known-differences.ts'
import { neededBackend } from './backend.ts'
import { type Jaeger, type JaegerStorage, startJaeger } from './jaeger.ts'
import { jaegerDiskLosses, jaegerMemoryLosses, jaegerUiLosses } from './jaeger-losses.ts'
import { openWay, routes } from './routes.ts'
import { withSortedAttributes } from './sorted-attributes.ts'

const losses: Readonly<Record<JaegerStorage, readonly KnownDifference[]>> = {
  memory: jaegerMemoryLosses,
  disk: jaegerDiskLosses,
}

describeWithPrograms('Jaeger', [neededBackend('jaeger'), neededCollector()], () => {
  let converted: Requests
  let traceIds: string[]
  beforeAll(async () => {
    converted = await convertedFixtures()
    traceIds = [...new Set([...itemsByKey(converted.traces).byKey.keys()].map((key) => key.split(' ')[0]!))]
  })

  describe.each(routes)('%s', (route) => {
    describe.each(Object.keys(losses) as JaegerStorage[])('with its traces in %s', (storage) => {
      let jaeger: Jaeger
      beforeAll(async () => {
        jaeger = await startJaeger(storage)
        const to = { endpoint: jaeger.otlpUrl, config: 'jaeger.yaml', variable: 'JAEGER_OTLP_ENDPOINT' }
        const way = await openWay(route, to)
        const { exitCode, stderr } = await exportFixtures(way.endpoint, ['--signals', 'traces'])
        await way.stop()
        expect([exitCode, stderr]).toEqual([0, expect.stringContaining(`${converted.traces.length} converted`)])
      })
      afterAll(() => jaeger?.stop())

      test('returns every span, with the known differences only', async () => {
        const received = await inTurn(traceIds, (id) => jaeger.trace(id))
        expectSpans(converted.traces, received, losses[storage])
      })

      test('shows every span to its user interface and to Grafana, with the known differences only', async () => {
        const received = await inTurn(traceIds, (id) => jaeger.shownTrace(id))
        expectSpans(converted.traces, received, jaegerUiLosses)
      })
    })
  })
})

function expectSpans(
  sent: readonly OtlpRequest<'traces'>[],
  received: readonly OtlpRequest<'traces'>[],
  known: readonly KnownDifference[],
): void {
  const expected = itemsByKey(sent)
  const actual = itemsByKey(received)
  expect(actual.repeated).toEqual([])
  expect([...actual.byKey.keys()].toSorted()).toEqual([...expected.byKey.keys()].toSorted())
  const tally = new DifferenceTally(known)
  for (const [key, item] of expected.byKey) {
    tally.add(key, compareModels(withSortedAttributes(item), withSortedAttributes(actual.byKey.get(key))))
  }
  expect(tally.unexplained).toEqual([])
  expect(tally.compared).toBeGreaterThan(30_000)
  expect(tally.unobserved).toEqual([])
}

/** Returns the answers to several questions, a few of which are asked at the same time. */
async function inTurn<T>(ids: readonly string[], ask: (id: string) => Promise<T>): Promise<T[]> {
  const answers: T[] = []
  for (let from = 0; from < ids.length; from += 10) {
    answers.push(...(await Promise.all(ids.slice(from, from + 10).map(ask))))
  }
  return answers
}
