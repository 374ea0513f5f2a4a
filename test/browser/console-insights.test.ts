import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { Finding, Insights, RunStatistics } from '../../packages/web/src/api/answers.ts'
import { differenceText, durationText } from '../../packages/web/src/components/duration.ts'
import { findingPartText } from '../../packages/web/src/components/finding.tsx'
import { numberText, percentText } from '../../packages/web/src/components/text.tsx'
import { type ServedSamples, serveSamples } from '../cli/served-samples.ts'
import { testWithChromium } from './chromium.ts'
import { cellTexts, openConsole } from './console-window.ts'
import { criticalSeconds, percentile, type RawJob, type RawRun, rawRuns, secondsOf } from './raw-runs.ts'

vi.setConfig({ hookTimeout: 300_000, testTimeout: 240_000 })

const DAY_MS = 86_400_000
/** The range of the tests has fixed ends, so that no run leaves it between two looks. */
const range = {
  since: new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS - 6 * DAY_MS).toISOString(),
  until: new Date().toISOString(),
}
const query = new URLSearchParams(range)

let samples: ServedSamples
let insights: Insights
let runs: RawRun[]
let critical: ReadonlyMap<string, number>
beforeAll(async () => {
  samples = await serveSamples()
  insights = await samples.get(`insights?${query}`)
  const traces: { trace_id: string }[] = [...(await samples.get(`pipelines?${query}&limit=200`))]
  expect(traces.length).toBeLessThan(200)
  const raw = await Promise.all(
    traces.map(async ({ trace_id }) => rawRuns((await samples.get(`traces/${trace_id}`)).resourceSpans)),
  )
  critical = new Map(raw.flatMap((trace) => [...criticalSeconds(trace)]))
  const [since, until] = [range.since, range.until].map((time) => BigInt(Date.parse(time)) * 1_000_000n)
  runs = raw.flat().filter(({ start }) => start >= since! && start < until!)
})
afterAll(() => samples?.end())

interface Attempt {
  readonly run: RawRun
  readonly job: RawJob
}
const attempts = (): Attempt[] => runs.flatMap((run) => run.jobs.map((job) => ({ run, job })))

function grouped<Item>(items: readonly Item[], keyOf: (item: Item) => readonly unknown[]): [string, Item[]][] {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const key = JSON.stringify(keyOf(item))
    groups.set(key, [...(groups.get(key) ?? []), item])
  }
  return [...groups]
}

function statisticsOf(of: readonly RawRun[]): RunStatistics {
  const count = (status: string) => of.filter((run) => run.status === status).length
  const [success, failed, canceled] = [count('success'), count('failed'), count('canceled')]
  const durations = of.filter(({ status }) => ['success', 'failed', 'canceled'].includes(status)).map(secondsOf)
  const queues = of.flatMap(({ queue }) => queue ?? [])
  return {
    ...{ runs: of.length, success, failed, canceled },
    duration_p50: percentile(durations, 0.5),
    duration_p95: percentile(durations, 0.95),
    queue_p50: percentile(queues, 0.5),
    queue_p95: percentile(queues, 0.95),
    failure_rate: success + failed === 0 ? null : failed / (success + failed),
  }
}

/** Returns a value with its numbers rounded, because sums of the same numbers in another order differ in the last digits. */
const rounded = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (_, inner) => (typeof inner === 'number' ? Number(inner.toFixed(6)) : inner))

const keysOf = (value: object, like: object) =>
  Object.fromEntries(Object.keys(like).map((key) => [key, value[key as keyof typeof value]]))

/** Compares lists as sets: jobs that are equal in the order of a list may change places. */
function expectSame(actual: readonly object[], expected: readonly object[]): void {
  expect(expected.length).toBeGreaterThan(0)
  const inOrder = (list: readonly object[]) => list.map((each) => JSON.stringify(rounded(each))).toSorted()
  expect(inOrder(actual.map((each) => keysOf(each, expected[0]!)))).toEqual(inOrder(expected))
}

test('statistics of runs are those of the raw spans', () => {
  const roots = runs.filter(({ isChild }) => !isChild)
  expect(roots.length).toBeGreaterThan(50)
  expect(rounded(insights.totals)).toEqual(rounded(statisticsOf(roots)))
  const within = ({ start }: RawRun, bucket: Insights['buckets'][number]) =>
    start >= BigInt(bucket.start_ns) && start < BigInt(bucket.end_ns)
  for (const bucket of insights.buckets) {
    const { start_ns, end_ns, ...statistics } = bucket
    expect(rounded(statistics)).toEqual(rounded(statisticsOf(roots.filter((run) => within(run, bucket)))))
  }
})

test('the ranking by time on the critical path is that of the raw spans', () => {
  const ranking = grouped(attempts(), ({ run, job }) => [run.project, job.stage, job.name]).map(([key, of]) => {
    const [project, stage, name] = JSON.parse(key)
    const durations = of.map(({ job }) => secondsOf(job)).filter((seconds) => seconds > 0)
    return {
      ...{ name, stage, project },
      runs: new Set(of.map(({ run }) => run)).size,
      critical_seconds: of.reduce((sum, { job }) => sum + (critical.get(job.spanId) ?? 0), 0),
      p50: percentile(durations, 0.5),
      p95: percentile(durations, 0.95),
    }
  })
  const largest = ranking
    .filter((job) => job.critical_seconds > 0)
    .toSorted((a, b) => b.critical_seconds - a.critical_seconds)
  expectSame(insights.slowest_jobs, largest.slice(0, 50))
  const order = insights.slowest_jobs.map(({ critical_seconds }) => critical_seconds)
  expect(order).toEqual(order.toSorted((a, b) => b - a))
})

const results = () =>
  attempts().filter(({ job }) => !job.isBridge && (job.status === 'success' || job.status === 'failed'))
const countOf = (of: readonly Attempt[], status: string) => of.filter(({ job }) => job.status === status).length

test('flaky and failing jobs are those of the raw spans', () => {
  const flaky = grouped(results(), ({ run, job }) => [run.project, job.name]).flatMap(([key, of]) => {
    const [project, name] = JSON.parse(key)
    const commits = grouped(of, ({ run }) => [run.sha])
    const both = commits.filter(([, each]) => countOf(each, 'success') > 0 && countOf(each, 'failed') > 0)
    const [success, failed] = [countOf(of, 'success'), countOf(of, 'failed')]
    const last_results = of.toSorted((a, b) => (a.job.start < b.job.start ? -1 : 1)).map(({ job }) => job.status)
    const entry = { name, project, success, failed, shas: both.length, shas_total: commits.length }
    return both.length === 0
      ? []
      : [{ ...entry, rate: both.length / commits.length, last_results: last_results.slice(-24) }]
  })
  expectSame(insights.flaky_jobs, flaky)
  const failing = grouped(results(), ({ run, job }) => [run.project, job.stage, job.name]).flatMap(([key, of]) => {
    const [project, stage, name] = JSON.parse(key)
    const [success, failed] = [countOf(of, 'success'), countOf(of, 'failed')]
    return failed === 0 ? [] : [{ ...{ name, stage, project, success, failed }, rate: failed / (success + failed) }]
  })
  expectSame(insights.failing_jobs, failing)
})

test('retries and minutes are those of the raw spans', () => {
  const ran = attempts().filter(({ job }) => !job.isBridge)
  const retries = grouped(ran, ({ run, job }) => [run.project, job.stage, job.name]).flatMap(([key, of]) => {
    const [project, stage, name] = JSON.parse(key)
    const retried = grouped(of, ({ run }) => [run.spanId]).filter(([, each]) => each.length > 1)
    const lost = retried.flatMap(([, each]) =>
      each.toSorted((a, b) => (a.job.start < b.job.start ? -1 : 1)).slice(0, -1),
    )
    const entry = { name, stage, project, runs: retried.length, retries: lost.length }
    return lost.length === 0 ? [] : [{ ...entry, lost_seconds: lost.reduce((sum, { job }) => sum + secondsOf(job), 0) }]
  })
  expectSame(insights.retries, retries)
  const long = ran.filter(({ job }) => secondsOf(job) > 0)
  const by = {
    project: ({ run }: Attempt) => [run.project],
    runner: ({ job }: Attempt) => (job.runner === undefined ? [] : [job.runner]),
    tag: ({ job }: Attempt) => job.tags,
  }
  const minutes = Object.entries(by).flatMap(([by, namesOf]) => {
    const named = long.flatMap((attempt) => namesOf(attempt).map((name) => ({ name, job: attempt.job })))
    return grouped(named, ({ name }) => [name]).map(([key, of]) => ({
      ...{ by, name: JSON.parse(key)[0], jobs: of.length },
      minutes: of.reduce((sum, { job }) => sum + secondsOf(job), 0) / 60,
    }))
  })
  expectSame(insights.minutes, minutes)
})

/** Returns the sentence of a finding and its links, as the page should show them. */
function shownFinding({ parts, link }: Finding): { text: string; links: (string | undefined)[][] } {
  const texts = parts.map((part) => findingPartText(part, Date.now()))
  const own = parts.map((part) => ('name' in part ? part.link : undefined))
  const evidence = parts.findIndex((part, index) => own[index] === undefined && ('name' in part || 'day_ns' in part))
  const links = parts.flatMap((_, index) => {
    const target = index === evidence ? link : own[index]
    return target === undefined ? [] : [[texts[index], target]]
  })
  const hasEvidence = links.some(([, target]) => target === link)
  return {
    text: `${texts.join('')}.${hasEvidence ? '' : ' Show the runs'}`,
    links: hasEvidence ? links : [...links, ['Show the runs', link]],
  }
}

const tableOf = (page: Page, name: string) => page.getByRole('table', { name, exact: true })

const short = (project: string | null) => project!.split('/').at(-1)!

testWithChromium('the page shows the numbers of the API, and their addresses are kept', async (browser) => {
  const { page, strayed, complaints } = await openConsole(browser, samples, `/insights?${query}`, samples.key)
  const figures = page.locator('.figures dd:not(.delta)')
  await figures.first().waitFor()
  const { totals, minutes } = insights
  const compute = minutes.filter(({ by }) => by === 'project').reduce((sum, entry) => sum + entry.minutes, 0)
  expect(await figures.allInnerTexts()).toEqual([
    durationText(totals.duration_p50),
    durationText(totals.duration_p95),
    percentText(totals.failure_rate),
    `${numberText(Math.round(compute))} min`,
  ])
  const slowest = (await cellTexts(tableOf(page, 'Slowest jobs'))).map((row) => row.slice(0, -1))
  const isSlower = (change: number, p50: number) => change >= 1 && change >= 0.05 * (p50 - change)
  const changeText = (change: number | null, p50: number | null) =>
    change === null ? '–' : `${isSlower(change, p50!) ? '▲ ' : ''}${differenceText(change)}`
  expect(slowest).toEqual(
    insights.slowest_jobs.map((job) => [
      ...[job.name, short(job.project), numberText(job.runs), durationText(job.p50), durationText(job.p95)],
      ...[durationText(job.critical_seconds), changeText(job.change_seconds, job.p50)],
    ]),
  )
  expect(await cellTexts(tableOf(page, 'Flaky jobs'))).toEqual(
    insights.flaky_jobs.map((job) => [
      ...[job.name, short(job.project), `${job.shas} of ${job.shas_total}`, percentText(job.rate), ''],
    ]),
  )
  expect(await cellTexts(tableOf(page, 'Failing jobs'))).toEqual(
    insights.failing_jobs.map((job) => [job.name, short(job.project), numberText(job.failed), percentText(job.rate)]),
  )
  expect(await cellTexts(tableOf(page, 'Retries'))).toEqual(
    insights.retries.map((job) => [
      ...[job.name, short(job.project), numberText(job.runs), numberText(job.retries), durationText(job.lost_seconds)],
    ]),
  )
  const stands = page.getByRole('region', { name: 'Stands out' }).getByRole('listitem')
  const shown = await stands.evaluateAll((items) =>
    items.map((item) => ({
      text: item.textContent,
      links: [...item.querySelectorAll('a')].map((link) => [link.textContent, link.getAttribute('href')]),
    })),
  )
  expect(shown).toEqual(insights.findings.map(shownFinding))
  expect(insights.findings.map(({ rule }) => rule)).toEqual(expect.arrayContaining(['slower_yesterday', 'flaky_job']))

  const minutesTable = tableOf(page, 'Compute minutes')
  const minutesRows = (by: string) =>
    minutes
      .filter((entry) => entry.by === by)
      .map(({ name, minutes: spent, jobs }) => [
        ...[name, numberText(Math.round(spent)), numberText(jobs), percentText(spent / compute), ''],
      ])
  expect(await cellTexts(minutesTable)).toEqual(minutesRows('project'))
  await page.getByRole('link', { name: 'Runner', exact: true }).click()
  await expect.poll(() => cellTexts(minutesTable)).toEqual(minutesRows('runner'))
  await page.getByRole('link', { name: 'Tag', exact: true }).click()
  await expect.poll(() => cellTexts(minutesTable)).toEqual(minutesRows('tag'))
  await page.reload()
  await expect.poll(() => cellTexts(minutesTable)).toEqual(minutesRows('tag'))
  await page.goBack()
  await expect.poll(() => cellTexts(minutesTable)).toEqual(minutesRows('runner'))
  expect(new URL(page.url()).searchParams.get('minutes')).toBe('runner')
  expect([strayed, complaints()]).toEqual([[], []])
})

testWithChromium('a finding about a job leads to its marked row', async (browser) => {
  const { page } = await openConsole(browser, samples, `/insights?${query}`, samples.key)
  const stands = page.getByRole('region', { name: 'Stands out' }).getByRole('listitem')
  for (const [rule, table] of [
    ['slower_yesterday', 'Slowest jobs'],
    ['flaky_job', 'Flaky jobs'],
  ] as const) {
    const index = insights.findings.findIndex((finding) => finding.rule === rule)
    const [, job] = insights.findings[index]!.parts
    const name = (job as { name: string }).name
    await stands.nth(index).getByRole('link', { name, exact: true }).click()
    const marked = tableOf(page, table).locator('tr[aria-current=true]')
    await expect.poll(() => marked.locator('th').allInnerTexts()).toEqual([name])
    await expect.poll(() => marked.evaluate((row) => row.getBoundingClientRect().bottom <= innerHeight)).toBe(true)
    await page.goBack()
    await stands.nth(index).waitFor()
  }
})

testWithChromium('numbers of the chart open the runs behind them, and are saved as CSV', async (browser) => {
  const { page } = await openConsole(browser, samples, `/insights?${query}`, samples.key)
  await page.getByText('Show these numbers as a table').click()
  const table = tableOf(page, 'Duration over time')
  const filled = insights.buckets.filter((bucket) => bucket.runs > 0)
  expect((await cellTexts(table)).map((row) => row.slice(1))).toEqual(
    filled.map((bucket) => [
      ...[numberText(bucket.runs), durationText(bucket.duration_p50), durationText(bucket.duration_p95)],
      ...[percentText(bucket.failure_rate), durationText(bucket.queue_p50), durationText(bucket.queue_p95)],
    ]),
  )
  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download CSV of Slowest jobs' }).click()
  const lines = (await readFile(await (await saved).path(), 'utf8')).trim().split('\r\n')
  expect(lines.slice(1)).toEqual(
    insights.slowest_jobs.map((job) =>
      [job.name, job.stage, job.project, job.runs, job.p50, job.p95, job.critical_seconds, job.change_seconds].join(
        ',',
      ),
    ),
  )
  const middle = Math.floor(filled.length / 2)
  const { runs: count, start_ns, end_ns } = filled[middle]!
  await table
    .getByRole('row')
    .nth(middle + 1)
    .getByRole('link')
    .click()
  // The rows of a table that loads have no links.
  const shown = page
    .getByRole('table', { name: 'Pipeline runs' })
    .locator('tbody tr')
    .filter({ has: page.locator('a') })
  await expect.poll(() => shown.count()).toBe(count)
  const ids = await shown.locator('a').evaluateAll((links) => links.map((link) => link.getAttribute('href')))
  const inBucket = runs.filter(({ isChild, start }) => !isChild && start >= BigInt(start_ns) && start < BigInt(end_ns))
  expect(new Set(ids.filter((href) => href?.startsWith('/traces/')))).toEqual(
    new Set(inBucket.map(({ traceId }) => `/traces/${traceId}`)),
  )
  await page.goBack()
  await page.getByRole('region', { name: 'Duration' }).waitFor()
})

/** Returns the last attempt of each job of a root run, by name and stage; a job that did not run has no time. */
function lastAttempts({ jobs }: RawRun): Map<string, { readonly seconds: number | null; readonly status: string }> {
  const inOrder = jobs.toSorted((a, b) => (a.start < b.start ? -1 : 1))
  return new Map(
    inOrder.map((job) => [`${job.name}, ${job.stage}`, { seconds: secondsOf(job) || null, status: job.status }]),
  )
}

const shownDifferences = async (page: Page) =>
  (await cellTexts(tableOf(page, 'Differences'))).map(([name, stage, a, b, delta]) => [
    `${name}, ${stage}`,
    a,
    b,
    delta,
  ])

testWithChromium('Compare shows the jobs of two runs, and of a run and what is usual for it', async (browser) => {
  const ofCheckout = runs.filter(
    (run) => !run.isChild && run.project === 'mossgate/shop/checkout' && run.ref === 'main',
  )
  const passed = ofCheckout
    .filter(({ status }) => status === 'success')
    .toSorted((a, b) => (a.start < b.start ? 1 : -1))
  const runsBefore = (run: RawRun) =>
    passed.filter(({ start, trigger }) => start < run.start && trigger === run.trigger).slice(0, 20)
  const [a, b] = [passed.find((run) => runsBefore(run).length > 2)!, passed.at(-1)!]
  const { page, strayed, complaints } = await openConsole(
    browser,
    samples,
    `/compare?a=${a.traceId}&b=${b.traceId}&all=1`,
    samples.key,
  )
  await tableOf(page, 'Differences').waitFor()
  const [sideA, sideB] = [lastAttempts(a), lastAttempts(b)]
  const text = (seconds: number | null | undefined) => durationText(seconds)
  const arrow = (delta: number, from: number) =>
    Math.abs(delta) < Math.max(1, from * 0.05) ? '' : delta > 0 ? '▲ ' : '▼ '
  const change = (from: number | null | undefined, to: number | null | undefined) => {
    if (from == null && to == null) return '–'
    const delta = (to ?? 0) - (from ?? 0)
    return `${from == null || to == null ? '' : arrow(delta, from)}${differenceText(delta)}`
  }
  const rowOf = (key: string, from: number | null | undefined, to: number | null | undefined) => [
    ...[key, text(sideA.get(key)?.seconds)],
    change(from, to),
  ]
  const expected = [...new Set([...sideA.keys(), ...sideB.keys()])].map((key) => {
    const [inA, inB] = [sideA.get(key)?.seconds, sideB.get(key)?.seconds]
    const [name, before, delta] = rowOf(key, inA, inB)
    return [name, before, text(inB), delta]
  })
  expect((await shownDifferences(page)).toSorted()).toEqual(expected.toSorted())
  const { jobs } = await samples.get(`compare?a=${a.traceId}&b=${b.traceId}`)
  expect((await shownDifferences(page)).map(([key]) => key)).toEqual(
    jobs.map((job: { name: string; stage: string }) => `${job.name}, ${job.stage}`),
  )
  await page.getByRole('checkbox', { name: 'Only differences above 2 s' }).check()
  const large = expected.filter(
    ([key]) => Math.abs((sideB.get(key!)?.seconds ?? 0) - (sideA.get(key!)?.seconds ?? 0)) > 2,
  )
  await expect.poll(async () => (await shownDifferences(page)).toSorted()).toEqual(large.toSorted())
  await page.reload()
  await expect.poll(async () => (await shownDifferences(page)).toSorted()).toEqual(large.toSorted())
  await page.getByRole('link', { name: 'Swap A and B' }).click()
  await expect
    .poll(async () => (await shownDifferences(page))[0]?.slice(1, 3))
    .toEqual([...(large.find(([key]) => key === `${jobs[0].name}, ${jobs[0].stage}`) ?? [])].slice(1, 3).toReversed())
  await page.goBack()
  await expect.poll(async () => (await shownDifferences(page)).toSorted()).toEqual(large.toSorted())

  await page.getByRole('link', { name: 'Compare A with what is usual' }).click()
  const last = runsBefore(a)
  await page.getByText(`The median of the last ${last.length} successful runs before A`).waitFor()
  expect(await page.locator('.side-run dd').allInnerTexts()).toContain(text(percentile(last.map(secondsOf), 0.5)))
  await page.getByRole('checkbox', { name: 'Only differences above 2 s' }).uncheck()
  const medians = (key: string) =>
    percentile(
      last.flatMap((run) => lastAttempts(run).get(key)?.seconds ?? []),
      0.5,
    )
  await expect
    .poll(async () => (await shownDifferences(page)).toSorted())
    .toEqual(
      [...sideA.keys()]
        .map((key) => {
          const median = medians(key)
          const [name, own, delta] = rowOf(key, median, sideA.get(key)?.seconds)
          return [name, own, text(median), delta]
        })
        .toSorted(),
    )
  expect([strayed, complaints()]).toEqual([[], []])
})
