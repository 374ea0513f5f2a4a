import type { OtlpRequest } from '@penstock/otlp'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { neededCollector } from '../collector/collector-suite.ts'
import { describeWithPrograms } from '../collector/program-suite.ts'
import { convertedFixtures, exportFixtures } from '../contract/exported-fixtures.ts'
import { neededBackend } from './backend.ts'
import { type Prometheus, startPrometheus } from './prometheus.ts'
import { samplesOf, seriesKey } from './prometheus-samples.ts'
import { openWay, routes } from './routes.ts'

/** More than the age of the oldest fixture. */
const windowDays = 20_000

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
      const nowSeconds = Math.ceil(Date.now() / 1000) + 600
      const found = await prometheus.instant(`{__name__!="target_info"}[${windowDays}d]`, nowSeconds)
      const actual = found.flatMap(({ metric, values }) =>
        values.map(([ms, value]) => `${seriesKey(metric)} ${ms} ${Number(value)}`),
      )
      const expected = sent.flatMap(samplesOf).map(({ labels, ms, value }) => `${seriesKey(labels)} ${ms} ${value}`)
      expect(actual.toSorted()).toEqual(expected.toSorted())
    })
  })
})
