import type { Page } from 'playwright-core'
import { expect, vi } from 'vitest'
import { type RunningGateway, startGateway } from '../gateway/running-gateway.ts'
import { testWithChromium } from './chromium.ts'
import { openConsole } from './console-window.ts'
import { beginsNs, textAttribute } from './sent-signals.ts'

vi.setConfig({ testTimeout: 300_000 })

const bidi = '\u202Egnp.exe\u2066'
/** A text that runs if a page takes it as markup, an address, a style or a selector, with text in another direction. */
const hostile = `"'><img src=x onerror="window.ran=1"><script>window.ran=1</script><svg onload=window.ran=1>\${1}{{1}}javascript:window.ran=1//${bidi}`
const long = 'x'.repeat(1_000_000)
const script = 'javascript:window.ran=1'

const TRACES = ['e1', 'e2'].map((id) => id.padEnd(32, '0'))
const timeOf = (seconds: number) => String(beginsNs + BigInt(seconds) * 1_000_000_000n)
const resource = { attributes: [textAttribute('service.name', hostile), textAttribute(hostile, hostile)] }
const scope = { name: hostile, version: hostile, attributes: [textAttribute(hostile, hostile)] }

/** The attributes that the console knows, and one that it does not know. */
const textKeys = [
  ...['pipeline.ref', 'pipeline.name', 'cicd.pipeline.name', 'vcs.ref.head.name', 'vcs.ref.head.revision'],
  ...['vcs.owner.name', 'vcs.repository.name', 'svc.cicd.pipeline.trigger.type', 'svc.cicd.pipeline.run.title'],
  ...['svc.user.username', 'error.type', 'job.stage', 'job.name', 'cicd.pipeline.task.name'],
  ...['cicd.pipeline.task.type', 'cicd.worker.name', 'cicd.worker.id', 'svc.cicd.worker.tags'],
  hostile,
]
const urlKeys = ['cicd.pipeline.run.url.full', 'cicd.pipeline.task.run.url.full', 'vcs.repository.url.full']
const attributes = (own: Readonly<Record<string, string>>) => [
  ...textKeys.filter((key) => !(key in own)).map((key) => textAttribute(key, hostile)),
  ...urlKeys.map((key) => textAttribute(key, script)),
  textAttribute('huge', long),
  ...Object.entries(own).map(([key, value]) => textAttribute(key, value)),
]

/** Sends telemetry of each signal with the hostile text in every field that is a text. It may be refused in part. */
async function send(gateway: RunningGateway, signal: string, body: object): Promise<void> {
  const headers = { 'Content-Type': 'application/json', 'User-Agent': '<b onmouseover=window.ran=1>agent</b>' }
  const response = await fetch(`${gateway.otlpUrl}/v1/${signal}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  })
  expect(response.status).toBe(200)
}

async function sendHostile(gateway: RunningGateway): Promise<void> {
  const spansOf = (traceId: string, index: number) => {
    const job = (spanId: string, status: string, begins: number) => ({
      ...{ traceId, spanId, parentSpanId: '00000000000000f1', name: `job: ${hostile}`, traceState: hostile },
      ...{ startTimeUnixNano: timeOf(begins), endTimeUnixNano: timeOf(begins + 20 + 9 * index) },
      attributes: attributes({ 'cicd.pipeline.task.run.id': `${spanId}${hostile}`, 'job.status': status }),
      status: { code: status === 'failed' ? 2 : 1, message: hostile },
      events: [{ timeUnixNano: timeOf(begins + 1), name: hostile, attributes: [textAttribute(hostile, hostile)] }],
      links: [{ traceId: TRACES[0], spanId, traceState: hostile, attributes: [textAttribute(hostile, hostile)] }],
    })
    const begins = index * 100
    const run = {
      ...{ traceId, spanId: '00000000000000f1', name: `RUN ${hostile}`, status: { code: 2, message: hostile } },
      ...{ startTimeUnixNano: timeOf(begins), endTimeUnixNano: timeOf(begins + 60 + index) },
      attributes: attributes({ 'cicd.pipeline.run.id': `${index}${hostile}`, 'pipeline.status': 'failed' }).filter(
        // With those of a job it would be one.
        ({ key }) => !/^(cicd\.pipeline\.task|job)\./.test(key),
      ),
    }
    return [run, job('00000000000000f2', 'failed', begins + 1), job('00000000000000f3', 'success', begins + 25)]
  }
  for (const [index, traceId] of TRACES.entries()) {
    await send(gateway, 'traces', {
      resourceSpans: [{ resource, scopeSpans: [{ scope, spans: spansOf(traceId, index) }] }],
    })
  }
  const record = (bodyText: string) => ({
    ...{ timeUnixNano: timeOf(2), severityNumber: 17, severityText: hostile, eventName: hostile },
    ...{ traceId: TRACES[0], spanId: '00000000000000f2', body: { stringValue: bodyText } },
    attributes: [textAttribute(hostile, hostile)],
  })
  const logRecords = [record(hostile), record(`${hostile}${long}`)]
  await send(gateway, 'logs', { resourceLogs: [{ resource, scopeLogs: [{ scope, logRecords }] }] })
  const point = {
    ...{ startTimeUnixNano: timeOf(0), timeUnixNano: timeOf(3), asDouble: 1 },
    attributes: [textAttribute(hostile, hostile)],
    exemplars: [{ timeUnixNano: timeOf(3), asDouble: 1, traceId: TRACES[0], spanId: '00000000000000f2' }],
  }
  const metric = { name: hostile, unit: hostile, description: hostile, gauge: { dataPoints: [point] } }
  await send(gateway, 'metrics', { resourceMetrics: [{ resource, scopeMetrics: [{ scope, metrics: [metric] }] }] })
}

/** The pages, each with what is there when it is complete. */
const pages: readonly (readonly [path: string, complete: string])[] = [
  ['/pipelines', 'table[aria-label="Pipeline runs"] tbody tr a'],
  ['/insights?rows=all', 'table[aria-label="Slowest jobs"] tbody tr'],
  ['/traces', 'table[aria-label="Traces"] tbody tr a'],
  [`/traces/${TRACES[0]}?span=00000000000000f2`, '.pane .kv dd'],
  [`/compare?a=${TRACES[0]}&b=${TRACES[1]}`, 'table[aria-label="Differences"] tbody tr'],
  ['/logs', '[role="log"] .rec .body'],
  [`/explore/metrics?name=${encodeURIComponent(hostile)}`, 'table[aria-label="Data points"] tbody tr'],
  ['/ingest', 'table[aria-label="Clients that would be refused"] tbody tr'],
  ['/api-keys', 'table[aria-label="Ingest tokens"] tbody tr'],
]

/** Asks a page what the texts could have caused. */
const probe = (page: Page) =>
  page.evaluate<object>(`({
    ran: window.ran ?? 0,
    isWider: document.documentElement.scrollWidth > innerWidth,
    running: [...document.querySelectorAll('a[href], form[action]')].map((each) => each.protocol ?? each.action).filter((each) => !/^(https?:|blob:)/.test(each)),
    elements: document.querySelectorAll('main script, main img, main iframe, main b[onmouseover]').length,
    handlers: [...document.querySelectorAll('main *')].filter((each) => each.getAttributeNames().some((name) => name.startsWith('on'))).length,
  })`)
const harmless = { ran: 0, isWider: false, running: [], elements: 0, handlers: 0 }

testWithChromium('no field of telemetry becomes markup, a script or an address on any page', async (browser) => {
  const gateway = await startGateway()
  await sendHostile(gateway)
  await gateway.token({ name: `<i onclick=window.ran=1>${bidi}` })
  const { page, complaints, strayed } = await openConsole(browser, gateway, '/api-keys')
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 800 })
    for (const [path, complete] of pages) {
      await page.goto(gateway.managementUrl + path)
      await page.locator(complete).first().waitFor()
      expect([width, path, await probe(page)]).toEqual([width, path, harmless])
    }
  }
  // The same texts as filters, which pages repeat in their fields and sentences.
  const text = encodeURIComponent(hostile)
  for (const path of [
    `/pipelines?ref=${text}x&q=${text}`,
    `/logs?q=${text}x&service=${text}`,
    `/insights?job=${text}`,
  ]) {
    await page.goto(gateway.managementUrl + path)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await expect.poll(() => page.locator('main [aria-busy=true]').count()).toBe(0)
    expect([path, await probe(page)]).toEqual([path, harmless])
  }
  await page.goto(`${gateway.managementUrl}/traces/${TRACES[0]}?span=00000000000000f2`)
  for (const tab of ['Logs', 'Events']) {
    await page.getByRole('tab', { name: tab }).click()
    expect([tab, await probe(page)]).toEqual([tab, harmless])
  }
  await page.goto(`${gateway.managementUrl}/logs`)
  await page.locator('[role="log"] .rec').first().getByRole('button').first().click()
  expect(await probe(page)).toEqual(harmless)
  expect(await page.title()).toMatch(/Penstock$/)
  expect([complaints(), strayed]).toEqual([[], []])
})
