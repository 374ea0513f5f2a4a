import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { expect, vi } from 'vitest'
import { durationText } from '../../packages/web/src/components/duration.ts'
import { startGateway } from '../gateway/running-gateway.ts'
import { testWithChromium } from './chromium.ts'
import { callManagement, cellTexts, openConsole } from './console-window.ts'
import { golden } from './golden-telemetry.ts'
import {
  beginsNs,
  bounds,
  makePoints,
  makeRecords,
  makeTraces,
  type SentRecord,
  type SentTrace,
  sendOtlp,
  sendPoints,
  sendRecords,
  sendTraces,
  textAttribute,
} from './sent-signals.ts'

vi.setConfig({ testTimeout: 240_000 })

const rowsOf = (page: Page, name: string) => cellTexts(page.getByRole('table', { name }))

const since = new Date(Number(beginsNs / 1_000_000n)).toISOString()
const secondsOf = ({ startNs, endNs }: SentTrace) => Number(endNs - startNs) / 1e9

testWithChromium('Traces shows what was sent, newest first; filters, pages, reload and back', async (browser) => {
  const gateway = await startGateway()
  const sent = makeTraces(130)
  await sendTraces(gateway, sent)
  const { page, strayed, complaints } = await openConsole(browser, gateway, `/traces?since=${since}`)
  const shownRows = async () =>
    (await rowsOf(page, 'Traces')).map(([name, services, , ...numbers]) => [name, services, ...numbers])
  const expected = (traces: readonly SentTrace[]) =>
    traces
      .toReversed()
      .map((trace) => [
        ...[trace.name, trace.spans.billing === undefined ? 'shop' : 'shop and 1 more', durationText(secondsOf(trace))],
        ...[String(Object.keys(trace.spans).length), trace.hasError ? '1' : '0'],
      ])
  await page.getByRole('button', { name: 'Older traces' }).waitFor()
  expect(await shownRows()).toEqual(expected(sent.slice(-100)))
  const listed = await callManagement<{ trace_id: string }[]>(
    gateway,
    'GET',
    `/api/v1/observe/traces?since=${since}&limit=200`,
  )
  expect(listed.map(({ trace_id }) => trace_id)).toEqual(sent.toReversed().map(({ traceId }) => traceId))
  await page.getByRole('button', { name: 'Older traces' }).click()
  await expect.poll(shownRows).toEqual(expected(sent))
  const links = page.getByRole('table', { name: 'Traces' }).getByRole('link')
  expect(await links.evaluateAll((all) => all.map((link) => link.getAttribute('href')))).toEqual(
    sent.toReversed().map(({ traceId }) => `/traces/${traceId}`),
  )
  expect(await page.getByRole('img', { name: 'The durations of 130 traces over time' }).count()).toBe(1)

  await page.getByLabel('Status').selectOption('With errors')
  await expect.poll(shownRows).toEqual(expected(sent.filter(({ hasError }) => hasError)))
  await page.getByLabel('Status').selectOption('Any')
  await page.getByLabel('Service').selectOption('billing')
  await expect.poll(shownRows).toEqual(expected(sent.filter(({ spans }) => spans.billing !== undefined)))
  await page.getByLabel('Longer than').fill('300ms')
  const long = sent.filter((trace) => trace.spans.billing !== undefined && secondsOf(trace) >= 0.3)
  expect(long.length).toBeGreaterThan(3)
  await expect.poll(shownRows).toEqual(expected(long))
  await page.getByLabel('Service').selectOption('All services')
  await page.getByLabel('Attribute').fill('http.route=/pay')
  const paid = sent.filter((trace) => trace.route === '/pay' && secondsOf(trace) >= 0.3)
  await expect.poll(shownRows).toEqual(expected(paid))
  expect([...new URL(page.url()).searchParams]).toEqual([
    ['since', since],
    ['longer', '300ms'],
    ['attribute', 'http.route=/pay'],
  ])
  await page.reload()
  await expect.poll(shownRows).toEqual(expected(paid))
  await page
    .getByRole('link', { name: paid.at(-1)!.name })
    .first()
    .click()
  await page.getByRole('treegrid', { name: 'Spans' }).waitFor()
  await page.goBack()
  await expect.poll(shownRows).toEqual(expected(paid))
  expect([strayed, complaints()]).toEqual([[], []])
})

testWithChromium('Logs shows what was sent, newest first; filters, pages, reload and back', async (browser) => {
  const gateway = await startGateway()
  const traces = makeTraces(9)
  const sent = makeRecords(230, traces)
  await sendTraces(gateway, traces)
  await sendRecords(gateway, sent)
  const { page, strayed, complaints } = await openConsole(browser, gateway, `/logs?since=${since}`)
  const log = page.getByRole('log', { name: 'Log records' })
  const shownRows = () =>
    log.locator('.rec').evaluateAll((rows) =>
      rows.map((row) => {
        const [time, severity, service, body] = [...row.children]
        return [
          ...[time?.getAttribute('datetime'), severity?.textContent, service?.textContent, body?.textContent],
          row.querySelector('a')?.getAttribute('href') ?? '',
        ]
      }),
    )
  const expected = (records: readonly SentRecord[]) =>
    records
      .toReversed()
      .map(({ timeNs, severity, service, body, trace }) => [
        ...[new Date(Number(timeNs / 1_000_000n)).toISOString(), severity[1], service, body],
        trace === undefined ? '' : `/traces/${trace.traceId}?span=${trace.spans.shop![0]!.spanId}`,
      ])
  // Records of the same nanosecond are in the order of the API, which is compared without them.
  const distinct = (rows: readonly unknown[][]) => rows.map((row) => JSON.stringify(row)).toSorted()
  await page.getByRole('button', { name: 'Older records' }).waitFor()
  expect(await shownRows()).toEqual(expected(sent.slice(-200)))
  await page.getByRole('button', { name: 'Older records' }).click()
  await expect.poll(async () => distinct(await shownRows())).toEqual(distinct(expected(sent)))
  const api = await callManagement<{ record: { body: { stringValue: string } } }[]>(
    gateway,
    'GET',
    `/api/v1/observe/logs?since=${since}&limit=1000`,
  )
  expect((await shownRows()).map((row) => row[3])).toEqual(api.map(({ record }) => record.body.stringValue))

  await page.getByLabel('Severity').selectOption('Warn and above')
  const severe = sent.filter(({ severity }) => severity[0] >= 13)
  await expect.poll(shownRows).toEqual(expected(severe))
  const errors = severe.filter(({ severity }) => severity[0] === 17).length
  await page.getByText(`${severe.length} records, ${errors} errors`).waitFor()
  await page.getByLabel('Search').fill('CARD refused')
  const refused = severe.filter(({ body }) => body.startsWith('card refused'))
  await expect.poll(shownRows).toEqual(expected(refused))
  await page.getByLabel('Service').selectOption('billing')
  const ofBilling = refused.filter(({ service }) => service === 'billing')
  await expect.poll(shownRows).toEqual(expected(ofBilling))
  const { body } = ofBilling.at(-1)!
  await page.getByRole('button', { name: body }).click()
  await page.getByText('thread', { exact: true }).waitFor()
  await page.reload()
  await page.getByText('thread', { exact: true }).waitFor()
  expect(await shownRows()).toEqual(expected(ofBilling))
  expect(await page.getByRole('button', { name: body }).getAttribute('aria-expanded')).toBe('true')

  const { timeNs: openNs } = ofBilling.at(-1)!
  await page.getByRole('link', { name: 'Records around it' }).click()
  const around = sent.filter(
    ({ service, timeNs }) =>
      service === 'billing' && timeNs >= openNs - 60_000_000_000n && timeNs < openNs + 10_000_000_000n,
  )
  expect(around.length).toBeGreaterThan(1)
  await expect.poll(async () => distinct(await shownRows())).toEqual(distinct(expected(around)))
  expect(await page.getByRole('button', { expanded: true, name: body }).count()).toBe(1)

  const { traceId, spans } = traces[0]!
  await page.goto(`${gateway.managementUrl}/logs?since=${since}&trace=${traceId}`)
  const ofTrace = sent.filter(({ trace }) => trace?.traceId === traceId)
  await expect.poll(async () => distinct(await shownRows())).toEqual(distinct(expected(ofTrace)))
  await log.getByRole('link').first().click()
  await page.getByRole('complementary', { name: 'Selected span' }).waitFor()
  expect(page.url()).toBe(`${gateway.managementUrl}/traces/${traceId}?span=${spans.shop![0]!.spanId}`)
  await page.goBack()
  await expect.poll(async () => (await shownRows()).length).toBe(ofTrace.length)
  expect([strayed, complaints()]).toEqual([[], []])
})

/** Returns the quantile of a histogram, interpolated within its bucket. */
function quantile(counts: readonly number[], fraction: number): number {
  const total = counts.reduce((sum, count) => sum + count, 0)
  const index = counts.findIndex(
    (_, at) => counts.slice(0, at + 1).reduce((sum, each) => sum + each, 0) >= fraction * total,
  )
  if (index === bounds.length) return bounds.at(-1)!
  const below = counts.slice(0, index).reduce((sum, each) => sum + each, 0)
  const lower = index === 0 ? 0 : bounds[index - 1]!
  return lower + ((bounds[index]! - lower) * (fraction * total - below)) / counts[index]!
}

testWithChromium('Metrics shows values, quantiles and exemplars of what was sent', async (browser) => {
  const gateway = await startGateway()
  const traces = makeTraces(60)
  const points = makePoints(traces, 5)
  await sendTraces(gateway, traces)
  await sendPoints(gateway, points)
  const address = `/explore/metrics?since=${since}&name=http.server.request.duration`
  const { page, strayed, complaints } = await openConsole(browser, gateway, address)
  const number = new Intl.NumberFormat('en-GB', { maximumSignificantDigits: 4 })
  const text = (seconds: number) => `${number.format(seconds)} s`
  const table = page.getByRole('table', { name: 'Data points' })
  await table.waitFor()
  const shown = (await rowsOf(page, 'Data points')).map((row) => row.slice(1))
  const expected = points.toReversed().map(({ route, counts, sum, exemplar }) => {
    const count = counts.reduce((total, each) => total + each, 0)
    return [
      ...[
        `http.route=${route}`,
        text(sum / count),
        String(count),
        text(quantile(counts, 0.5)),
        text(quantile(counts, 0.95)),
      ],
      `${exemplar.traceId.slice(0, 8)}, trace`,
    ]
  })
  const inOrder = (rows: readonly (readonly string[])[]) => rows.map((row) => row.join(' ')).toSorted()
  expect(inOrder(shown)).toEqual(inOrder(expected))
  expect(await page.getByRole('region', { name: 'Chart' }).getByRole('listitem').allInnerTexts()).toHaveLength(4)
  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download CSV of Data points' }).click()
  expect((await readFile(await (await saved).path(), 'utf8')).trim().split('\r\n')).toHaveLength(points.length + 1)

  await page.getByRole('link', { name: 'http.server.request.duration 2 series', exact: true }).waitFor()
  await page.getByRole('link', { name: 'orders' }).click()
  await expect
    .poll(async () => (await rowsOf(page, 'Data points')).map((row) => row[2]).toSorted())
    .toEqual(points.map((_, index) => `${index * 3} order`).toSorted())
  expect(new URL(page.url()).searchParams.get('name')).toBe('orders')
  await page.reload()
  await page.getByRole('heading', { name: 'orders' }).waitFor()
  await page.goBack()
  await page.getByRole('heading', { name: 'http.server.request.duration' }).waitFor()
  await table.getByRole('link').first().click()
  await page.getByRole('complementary', { name: 'Selected span' }).waitFor()
  expect(traces.map(({ traceId }) => `/traces/${traceId}`)).toContain(new URL(page.url()).pathname)
  expect([strayed, complaints()]).toEqual([[], []])
})

testWithChromium('a pipeline that finishes and a log record appear without a reload', async (browser) => {
  const gateway = await startGateway()
  const { page } = await openConsole(browser, gateway, '/pipelines')
  await page.getByRole('heading', { name: 'No telemetry yet' }).waitFor()
  await page.evaluate('window.isSamePage = true')
  await sendOtlp(gateway, 'traces', golden('parent-pipeline-with-bridges', 'traces', beginsNs))
  const runs = page.getByRole('table', { name: 'Pipeline runs' }).locator('tbody tr')
  await expect.poll(() => runs.count()).toBe(1)
  expect(await runs.first().innerText()).toContain('Passed')
  await sendOtlp(gateway, 'traces', golden('failed-pipeline-with-skipped-deploy', 'traces', beginsNs + 1_000_000_000n))
  await expect.poll(() => runs.count()).toBe(2)
  expect(await runs.first().innerText()).toContain('Failed')
  await page.getByRole('switch', { name: 'Live' }).click()
  expect(new URL(page.url()).searchParams.get('live')).toBe('0')

  await page.keyboard.press('g')
  await page.keyboard.press('l')
  const log = page.getByRole('log', { name: 'Log records' })
  await page.getByRole('heading', { name: 'No log records in the last 7 days' }).waitFor()
  const streamed = page.waitForResponse((response) => response.url().includes('/observe/live?kind=logs'))
  await page.keyboard.press('.')
  await streamed
  for (const body of ['the first', 'the second']) {
    const record = {
      timeUnixNano: String(BigInt(Date.now()) * 1_000_000n),
      severityNumber: 9,
      body: { stringValue: body },
    }
    const resource = { attributes: [textAttribute('service.name', 'shop')] }
    await sendOtlp(gateway, 'logs', { resourceLogs: [{ resource, scopeLogs: [{ logRecords: [record] }] }] })
    await log.getByText(body).waitFor()
  }
  expect(await log.locator('.rec .body').allInnerTexts()).toEqual(['the second', 'the first'])
  expect(await page.evaluate('window.isSamePage')).toBe(true)
})
