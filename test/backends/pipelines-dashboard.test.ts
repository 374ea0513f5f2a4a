import type { OtlpRequest } from '@penstock/otlp'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeWithPrograms } from '../collector/program-suite.ts'
import { convertedFixtures, exportFixtures, type Requests } from '../contract/exported-fixtures.ts'
import { caseFile, caseNames } from '../fixtures.ts'
import { neededBackend } from './backend.ts'
import { interpolated, queriesOf, readDashboard, type Target } from './dashboard.ts'
import { type Jaeger, startJaeger } from './jaeger.ts'
import { bucketQuantile, groupedBy, largest, quantile, sumOf } from './numbers.ts'
import { type JobFact, jobsOf, type PipelineFact, pipelinesOf } from './pipeline-facts.ts'
import { type Prometheus, type PrometheusSeries, startPrometheus } from './prometheus.ts'
import { type PrometheusSample, samplesOf, seriesKey } from './prometheus-samples.ts'
import { type LogRow, startVictoriaLogs, type VictoriaLogs } from './victoria-logs.ts'

/** More than the age of the oldest fixture. */
const windowDays = 20_000
const daySeconds = 86_400
const intervalDays = 7
const endSeconds = Math.ceil(Date.now() / 1000) + 600

/** The fixtures without the two that Prometheus does not store completely: see docs/guides/backends.md. */
const files = caseNames
  .filter((name) => !['e57-timestamps-in-the-future', 'e47-two-pipelines-each-the-source-of-the-other'].includes(name))
  .map(caseFile)

const queries = queriesOf(readDashboard('pipelines'))

/** The content of the fixtures for the chosen projects. */
interface Facts {
  readonly pipelines: readonly PipelineFact[]
  readonly jobs: readonly JobFact[]
  readonly samples: readonly PrometheusSample[]
}

/** The figures that each query of PromQL should return, by the values of its labels. */
const figures: Readonly<Record<string, (facts: Facts) => Readonly<Record<string, number>>>> = {
  'Runs A': ({ pipelines }) => ({ '': pipelines.length }),
  'Failure rate A': ({ pipelines }) => {
    const failed = pipelines.filter(({ result }) => result === 'failure').length
    return { '': failed / pipelines.filter(({ result }) => result === 'failure' || result === 'success').length }
  },
  'Duration of runs A': ({ pipelines }) => ({ '': bucketQuantile(0.5, durationsOf(pipelines)) }),
  'Duration of runs B': ({ pipelines }) => ({ '': bucketQuantile(0.9, durationsOf(pipelines)) }),
  'Duration of runs C': ({ pipelines }) => ({ '': bucketQuantile(0.99, durationsOf(pipelines)) }),
  'Time in the queue A': ({ pipelines }) => ({ '': sumOf(queuesOf(pipelines)) / queuesOf(pipelines).length }),
  'Time in the queue B': (facts) => ({ '': quantile(0.9, longestBySeries(facts)) }),
  'Time in the queue C': ({ pipelines }) => ({ '': Math.max(...queuesOf(pipelines)) }),
  'Slowest stages A': ({ samples }) => {
    const of = (suffix: string) =>
      groupedBy(
        samples.filter(({ labels }) => labels.__name__ === `cicd_pipeline_task_duration_seconds_${suffix}`),
        ({ labels }) => keyOf(labels.vcs_repository_name, labels.cicd_pipeline_task_type),
      )
    const counts = of('count')
    const means = [...of('sum')].map(([key, group]) => [key, totalOf(group) / totalOf(counts.get(key)!)] as const)
    return largest(10, Object.fromEntries(means))
  },
  'Failures by reason A': ({ samples }) => {
    const errors = samples.filter(({ labels }) => labels.__name__ === 'cicd_pipeline_run_errors_total')
    const byReason = groupedBy(errors, ({ labels }) => labels.error_type ?? '')
    return Object.fromEntries([...byReason].map(([reason, group]) => [reason, totalOf(group)]))
  },
}

/** The figures that each query of PromQL should return of the pipelines that finished within an interval. */
const figuresOverTime: Readonly<
  Record<string, (finished: readonly PipelineFact[]) => Readonly<Record<string, number>>>
> = {
  'Runs by result A': (finished) =>
    Object.fromEntries(
      [...groupedBy(finished, ({ result }) => result ?? '')].map(([key, group]) => [key, group.length]),
    ),
  'Median duration of runs A': (finished) => {
    const durations = durationsOf(finished)
    return durations.length === 0 ? {} : { '': bucketQuantile(0.5, durations) }
  },
}

/** The rows that each query of LogsQL should return. */
const rows: Readonly<Record<string, (jobs: readonly JobFact[]) => readonly LogRow[]>> = {
  'Slowest jobs A': (jobs) => {
    const ran = groupedBy(
      jobs.filter(({ duration }) => duration !== undefined && duration > 0),
      ({ project, name }) => keyOf(project, name),
    )
    const longest = largest(
      10,
      Object.fromEntries([...ran].map(([key, runs]) => [key, Math.max(...runs.map((run) => run.duration!))])),
    )
    return Object.entries(longest).map(([key, seconds]) => ({
      ...jobFields(key),
      longest: String(seconds),
      runs: String(ran.get(key)!.length),
    }))
  },
  'Flaky jobs A': (jobs) => {
    const retried = groupedBy(
      jobs.filter(({ attempt, result }) => attempt !== undefined && attempt > 1n && result === 'success'),
      ({ project, name }) => keyOf(project, name),
    )
    return [...retried].map(([key, runs]) => ({ ...jobFields(key), retried: String(runs.length) }))
  },
  'Logs of failed jobs A': (jobs) =>
    jobs.filter(({ status }) => status === 'failed').map(({ spanId, name }) => ({ span_id: spanId, 'job.name': name })),
}

describeWithPrograms(
  'the queries of docs/guides/dashboards/pipelines.json',
  [neededBackend('jaeger'), neededBackend('prometheus'), neededBackend('victoria-logs')],
  () => {
    let sent: Requests
    let prometheus: Prometheus
    let jaeger: Jaeger
    let logs: VictoriaLogs
    beforeAll(async () => {
      sent = await convertedFixtures([], files)
      prometheus = await startPrometheus({ windowDays })
      jaeger = await startJaeger('memory')
      logs = await startVictoriaLogs({ retentionDays: windowDays })
      await exportFixtures(prometheus.otlpUrl, ['--signals', 'metrics'], files)
      await exportFixtures(jaeger.otlpUrl, ['--signals', 'traces'], files)
      await exportFixtures(logs.otlpUrl, ['--signals', 'logs'], files)
    })
    afterAll(async () => {
      await prometheus?.stop()
      await jaeger?.stop()
      await logs?.stop()
    })

    test('are all compared', () => {
      const compared = [figures, figuresOverTime, rows].flatMap((table) => Object.keys(table))
      expect([...queries.keys()].toSorted()).toEqual(
        [...compared, 'Longest failed pipelines of the service A'].toSorted(),
      )
    })

    describe.each([
      { which: 'all projects', project: '.*' },
      { which: 'one project', project: 'kiln-controller' },
    ])('for $which', ({ project }) => {
      const values = { project, __range: `${windowDays}d`, __interval: `${intervalDays}d` }
      const isChosen = (name: string) => new RegExp(`^(?:${project})$`).test(name)
      const promql = (name: string) => interpolated(queries.get(name)!.expr!, values)

      function facts(): Facts {
        return {
          pipelines: pipelinesOf(sent.traces).filter((each) => isChosen(each.project)),
          jobs: jobsOf(sent.logs).filter((each) => isChosen(each.project)),
          samples: (sent.metrics as OtlpRequest<'metrics'>[])
            .flatMap(samplesOf)
            .filter(({ labels }) => isChosen(labels.vcs_repository_name ?? '')),
        }
      }

      test.each(Object.keys(figures))('%s', async (name) => {
        const found = await prometheus.instant(promql(name), endSeconds)
        const actual = Object.fromEntries(
          found.map(({ metric, values: [last] }) => [labelsKey(metric), Number(last![1])]),
        )
        expectFigures(actual, figures[name]!(facts()))
      })

      test.each(Object.keys(figuresOverTime))('%s, in each interval', async (name) => {
        const stepSeconds = intervalDays * daySeconds
        const startSeconds = endSeconds - Math.floor(windowDays / intervalDays) * stepSeconds
        const found = await prometheus.range(promql(name), { startSeconds, endSeconds, stepSeconds })
        const byTime = new Map<number, Record<string, number>>()
        for (const { metric, values: points } of found) {
          for (const [ms, value] of points) {
            if (Number.isNaN(Number(value))) continue
            byTime.set(ms, { ...byTime.get(ms), [labelsKey(metric)]: Number(value) })
          }
        }
        const intervals = groupedBy(facts().pipelines, ({ endMs }) => {
          const intervalsAgo = Math.floor((endSeconds * 1000 - endMs) / (stepSeconds * 1000))
          return (endSeconds - intervalsAgo * stepSeconds) * 1000
        })
        expect(intervals.size).toBeGreaterThan(0)
        for (const [ms, finished] of intervals) expectFigures(byTime.get(ms) ?? {}, figuresOverTime[name]!(finished))
        expect([...byTime.keys()].filter((ms) => !intervals.has(ms))).toEqual([])
      })

      test.each(Object.keys(rows))('%s', async (name) => {
        const target = queries.get(name) as Target
        const found = await logs.query(interpolated(target.expr!, values))
        const expected = rows[name]!(facts().jobs)
        expect(expected.length).toBeGreaterThan(project === '.*' ? 0 : -1)
        const shown = found.map((row) => pick(row, Object.keys(expected[0] ?? {})))
        expect(inOrder(shown)).toEqual(inOrder(expected))
      })

      test('Longest failed pipelines of the service A', async () => {
        const failed = facts().pipelines.filter(({ result }) => result === 'failure')
        const byService = groupedBy(failed, ({ service }) => service)
        const [service, expected] = [...byService].find(([, each]) => each.length < 20)!
        const target = queries.get('Longest failed pipelines of the service A')!
        const found = await jaeger.search({
          service: interpolated(target.service!, { service }),
          tags: JSON.stringify(Object.fromEntries([target.tags!.split('=')])),
          limit: String(target.limit),
          start: '0',
          end: String(endSeconds * 1_000_000),
        })
        expect(found.map(({ traceID }) => traceID).toSorted()).toEqual(
          [...new Set(expected.map(({ traceId }) => traceId))].toSorted(),
        )
      })
    })
  },
)

const durationsOf = (pipelines: readonly PipelineFact[]): number[] =>
  pipelines.flatMap(({ duration }) => (duration !== undefined && duration > 0 ? [duration] : []))

const queuesOf = (pipelines: readonly PipelineFact[]): number[] =>
  pipelines.flatMap(({ queued }) => (queued !== undefined && queued > 0 ? [queued] : []))

/** Returns the longest time in the queue of each series. */
function longestBySeries({ samples }: Facts): number[] {
  const queued = samples.filter(({ labels }) => labels.__name__ === 'svc_cicd_pipeline_run_queued_duration_seconds')
  const bySeries = groupedBy(queued, ({ labels }) => seriesKey(labels))
  return [...bySeries.values()].map((group) => Math.max(...group.map(({ value }) => value)))
}

const totalOf = (samples: readonly PrometheusSample[]): number => sumOf(samples.map(({ value }) => value))

/** Returns a key for the values of several labels. */
const keyOf = (...labels: readonly (string | undefined)[]): string => labels.map((label) => label ?? '').join('|')

const labelsKey = (metric: PrometheusSeries['metric']): string =>
  'vcs_repository_name' in metric || 'cicd_pipeline_task_type' in metric
    ? keyOf(metric.vcs_repository_name, metric.cicd_pipeline_task_type)
    : (Object.values(metric)[0] ?? '')

function jobFields(key: string): LogRow {
  const [project = '', name = ''] = key.split('|')
  return { 'vcs.repository.name': project, 'job.name': name }
}

const pick = (row: LogRow, names: readonly string[]): LogRow =>
  Object.fromEntries(names.map((name) => [name, row[name] ?? '']))

const inOrder = (table: readonly LogRow[]): string[] =>
  table.map((row) => JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)))).toSorted()

function expectFigures(actual: Readonly<Record<string, number>>, expected: Readonly<Record<string, number>>): void {
  expect(Object.keys(actual).toSorted()).toEqual(Object.keys(expected).toSorted())
  for (const [key, figure] of Object.entries(expected))
    expect([key, actual[key]]).toEqual([key, expect.closeTo(figure, 6)])
}
