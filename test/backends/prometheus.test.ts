import { contentTypes, encodeRequest, type OtlpRequest } from '@penstock/otlp'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { neededCollector } from '../collector/collector-suite.ts'
import { describeWithPrograms } from '../collector/program-suite.ts'
import { convertedFixtures, exportFixtures } from '../contract/exported-fixtures.ts'
import { caseFile } from '../fixtures.ts'
import { neededBackend } from './backend.ts'
import { differences, noDifferences } from './differences.ts'
import { groupedBy, sumOf } from './numbers.ts'
import { type Labels, type Prometheus, startPrometheus } from './prometheus.ts'
import { isTooFarAhead, prometheusLosses } from './prometheus-losses.ts'
import { exemplarsOf, samplesOf, seriesKey, targetsOf } from './prometheus-samples.ts'
import { openWay, routes } from './routes.ts'

/** More than the age of the oldest fixture. */
const windowDays = 20_000
const endSeconds = Math.ceil(Date.now() / 1000) + 600

describeWithPrograms('Prometheus', [neededBackend('prometheus'), neededCollector()], () => {
  let sent: OtlpRequest<'metrics'>[]
  let accepted: OtlpRequest<'metrics'>[]
  beforeAll(async () => {
    sent = (await convertedFixtures()).metrics
    accepted = sent.filter((request) => !pointsOfRequest(request).some(({ point }) => isTooFarAhead(point)))
    expect(accepted).toHaveLength(sent.length - 1)
  })

  describe.each(routes)('%s', (route) => {
    let prometheus: Prometheus
    beforeAll(async () => {
      prometheus = await startPrometheus({ windowDays })
      const to = { endpoint: prometheus.otlpUrl, config: 'prometheus.yaml', variable: 'PROMETHEUS_OTLP_ENDPOINT' }
      const way = await openWay(route, to)
      const { exitCode, stdout } = await exportFixtures(way.endpoint, ['--signals', 'metrics'])
      await way.stop()
      // The request with points in the future.
      expect([exitCode, stdout]).toEqual([1, expect.stringContaining('some items were not accepted')])
    })
    afterAll(() => prometheus?.stop())

    test('has every sample, with its value, time and labels', async () => {
      const found = await prometheus.instant(`{__name__=~".+", __name__!="target_info"}[${windowDays}d]`, endSeconds)
      const actual = found.flatMap(({ metric, values }) =>
        values.map(([ms, value]) => [`${seriesKey(metric)} ${ms}`, Number(value)] as const),
      )
      const expected = groupedBy(accepted.flatMap(samplesOf), ({ labels, ms }) => `${seriesKey(labels)} ${ms}`)
      const keys = actual.map(([key]) => key)
      expect(differences(keys, [...expected.keys()])).toEqual(noDifferences)
      const isSent = ([key, value]: readonly [string, number]) =>
        expected.get(key)!.some((each) => each.value === value)
      expect(actual.filter((each) => !isSent(each))).toEqual([])
      expect(actual.length).toBeGreaterThan(3000)
      // The points of two children with the same time.
      expect([...expected.values()].filter((samples) => samples.length > 1).length).toBeGreaterThan(0)
    })

    test('has the exemplars of counters and histograms', async () => {
      const found = await prometheus.api<ExemplarData>('query_exemplars', {
        query: '{__name__=~".+"}',
        start: '0',
        end: String(endSeconds),
      })
      const actual = found.flatMap(({ seriesLabels, exemplars }) =>
        exemplars.map(({ labels, value, timestamp }) => ({
          series: seriesKey(seriesLabels),
          text: `${labels.trace_id} ${labels.span_id} ${Math.round(timestamp * 1000)} ${Number(value)}`,
        })),
      )
      const expected = accepted.flatMap(exemplarsOf).map(({ labels, traceId, spanId, ms, value }) => ({
        series: seriesKey(labels),
        text: `${traceId} ${spanId} ${ms} ${value}`,
      }))
      const bySeries = groupedBy(expected, ({ series }) => series)
      const stored = groupedBy(actual, ({ series }) => series)
      expect(differences([...stored.keys()], [...bySeries.keys()])).toEqual(noDifferences)
      for (const [series, exemplars] of bySeries) {
        const { missing, unexpected } = differences(textsOf(stored.get(series)!), textsOf(exemplars))
        expect([series, unexpected, exemplars.length === 1 ? missing : []]).toEqual([series, [], []])
      }
    })

    test('has every attribute of the resources in target_info', async () => {
      const found = await prometheus.instant(`last_over_time(target_info[${windowDays}d])`, endSeconds)
      const expected = new Set(accepted.flatMap(targetsOf).map(seriesKey))
      expect(
        differences(
          found.map(({ metric }) => seriesKey(metric)),
          [...expected],
        ),
      ).toEqual(noDifferences)
    })

    test('has no descriptions', async () => {
      expect(await prometheus.api('metadata', {})).toEqual({})
    })
  })

  test('adds up pipelines that are exported as running totals', async () => {
    const prometheus = await startPrometheus()
    onTestFinished(() => prometheus.stop())
    const options = ['--signals', 'metrics', '--metrics-mode', 'cumulative']
    expect((await exportFixtures(prometheus.otlpUrl, options)).stdout).toContain('everything accepted')

    const found = await prometheus.instant('{__name__=~".+_(total|bucket|count|sum)"}', Date.now() / 1000 + 1)
    const actual = found.map(({ metric, values }) => [seriesKey(metric), Number(values[0]![1])] as const)
    const expected = groupedBy(sent.flatMap(samplesOf), ({ labels: { svc_cicd_pipeline_trace_id: _, ...shared } }) =>
      seriesKey(shared),
    )
    const counted = actual.filter(([key]) => !/"(?:pipeline_jobs|cicd_pipeline_task)_total"/.test(key))
    expect(counted.length).toBeGreaterThan(500)
    for (const [key, total] of counted) {
      expect([key, total]).toEqual([key, expect.closeTo(sumOf(expected.get(key)!.map(({ value }) => value)), 6)])
    }
    const isCounted = (key: string) => /"__name__","(?:.+_(?:bucket|count|sum)|.+_total)"/.test(key)
    const missing = [...expected.keys()].filter((key) => isCounted(key) && !actual.some(([each]) => each === key))
    expect(missing).toEqual([])
  })

  test('answers with a status that is retried, unless it accepts deltas', async () => {
    const prometheus = await startPrometheus({ features: 'exemplar-storage' })
    onTestFinished(() => prometheus.stop())
    const response = await fetch(`${prometheus.otlpUrl}/v1/metrics`, {
      method: 'POST',
      headers: { 'content-type': contentTypes.protobuf },
      body: Buffer.from(encodeRequest('metrics', sent[0]!, 'protobuf')),
    })
    expect([response.status, await response.text()]).toEqual([500, expect.stringContaining('invalid temporality')])
  })

  test('refuses points that are older than the published window', async () => {
    const prometheus = await startPrometheus()
    onTestFinished(() => prometheus.stop())
    const send = (name: string) => exportFixtures(prometheus.otlpUrl, ['--signals', 'metrics'], [caseFile(name)])
    expect(await send('push-pipeline-five-jobs-three-stages')).toMatchObject({ exitCode: 0 })
    const old = await send('e57-timestamps-of-2009')
    expect([old.exitCode, old.stdout]).toEqual([1, expect.stringContaining('HTTP 400 Bad Request: too old sample')])
  })

  test.each(prometheusLosses)('$id: occurs in what is sent', ({ applies }) => {
    const all = sent.flatMap(pointsOfRequest).map(({ point, metric, resource }) => applies(point, metric, resource))
    expect(all).toContain(true)
  })
})

const pointsOfRequest = ({ resources }: OtlpRequest<'metrics'>) =>
  resources.flatMap(({ resource, scopes }) =>
    scopes.flatMap(({ items }) =>
      items.flatMap((metric) => metric.data!.dataPoints.map((point) => ({ point, metric, resource }))),
    ),
  )

const textsOf = (exemplars: readonly { readonly text: string }[]): string[] => exemplars.map(({ text }) => text)

type ExemplarData = readonly {
  readonly seriesLabels: Labels
  readonly exemplars: readonly { readonly labels: Labels; readonly value: string; readonly timestamp: number }[]
}[]
