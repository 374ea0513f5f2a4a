import type { OtlpRequest } from '@penstock/otlp'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { neededCollector } from '../collector/collector-suite.ts'
import { describeWithPrograms } from '../collector/program-suite.ts'
import { convertedFixtures, exportFixtures } from '../contract/exported-fixtures.ts'
import { neededBackend } from './backend.ts'
import { type Labels, type Prometheus, startPrometheus } from './prometheus.ts'
import { prometheusLosses } from './prometheus-losses.ts'
import { exemplarsOf, samplesOf, seriesKey, targetsOf } from './prometheus-samples.ts'
import { openWay, routes } from './routes.ts'

/** More than the age of the oldest fixture. */
const windowDays = 20_000
const endSeconds = Math.ceil(Date.now() / 1000) + 600

describeWithPrograms('Prometheus', [neededBackend('prometheus'), neededCollector()], () => {
  let sent: OtlpRequest<'metrics'>[]
  beforeAll(async () => {
    sent = (await convertedFixtures()).metrics
  })

  describe.each(routes)('%s', (route) => {
    let prometheus: Prometheus
    beforeAll(async () => {
      prometheus = await startPrometheus({ windowDays })
      const to = { endpoint: prometheus.otlpUrl, config: 'prometheus.yaml', variable: 'PROMETHEUS_OTLP_ENDPOINT' }
      const way = await openWay(route, to)
      const { exitCode, stdout, stderr } = await exportFixtures(way.endpoint, ['--signals', 'metrics'])
      await way.stop()
      console.log(exitCode, stdout, stderr.slice(-3000))
    })
    afterAll(() => prometheus?.stop())

    test('has every sample, with its value, time and labels', async () => {
      const found = await prometheus.instant(`{__name__!="target_info"}[${windowDays}d]`, endSeconds)
      const actual = found.flatMap(({ metric, values }) =>
        values.map(([ms, value]) => `${seriesKey(metric)} ${ms} ${Number(value)}`),
      )
      const expected = sent.flatMap(samplesOf).map(({ labels, ms, value }) => `${seriesKey(labels)} ${ms} ${value}`)
      expect(actual.toSorted()).toEqual(expected.toSorted())
      expect(expected.length).toBeGreaterThan(3000)
    })

    test('has the exemplars of counters and histograms', async () => {
      const found = await prometheus.api<ExemplarData>('query_exemplars', {
        query: '{__name__=~".+"}',
        start: '0',
        end: String(endSeconds),
      })
      const actual = found.flatMap(({ seriesLabels, exemplars }) =>
        exemplars.map(
          ({ labels, value, timestamp }) =>
            `${seriesKey(seriesLabels)} ${labels.trace_id} ${labels.span_id} ${Math.round(timestamp * 1000)} ${Number(value)}`,
        ),
      )
      const expected = sent
        .flatMap(exemplarsOf)
        .map(({ labels, traceId, spanId, ms, value }) => `${seriesKey(labels)} ${traceId} ${spanId} ${ms} ${value}`)
      expect(actual.toSorted()).toEqual(expected.toSorted())
    })

    test('has every attribute of the resources in target_info', async () => {
      const found = await prometheus.instant(`last_over_time(target_info[${windowDays}d])`, endSeconds)
      const expected = new Set(sent.flatMap(targetsOf).map(seriesKey))
      expect(found.map(({ metric }) => seriesKey(metric)).toSorted()).toEqual([...expected].toSorted())
    })

    test('has no descriptions', async () => {
      expect(await prometheus.api('metadata', {})).toEqual({})
    })
  })

  test.each(prometheusLosses)('$id: occurs in what is sent', ({ applies }) => {
    const all = sent.flatMap(({ resources }) =>
      resources.flatMap(({ resource, scopes }) =>
        scopes.flatMap(({ items }) =>
          items.flatMap((metric) => metric.data!.dataPoints.map((point) => applies(point, metric, resource))),
        ),
      ),
    )
    expect(all).toContain(true)
  })
})

type ExemplarData = readonly {
  readonly seriesLabels: Labels
  readonly exemplars: readonly { readonly labels: Labels; readonly value: string; readonly timestamp: number }[]
}[]
