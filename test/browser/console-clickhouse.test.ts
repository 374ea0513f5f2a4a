import { decodeRequest } from '@penstock/otlp'
import { afterAll, beforeAll, expect, vi } from 'vitest'
import type { PipelineRun } from '../../packages/web/src/api/answers.ts'
import { type Serving, serving } from '../cli/serving.ts'
import { temporaryDirectory } from '../cli/temporary-directory.ts'
import { Chdb, describeWithChdb } from '../clickhouse/chdb.harness.ts'
import { exporterRows } from '../clickhouse/exporter-rows.ts'
import { exporterTables } from '../clickhouse/exporter-tables.ts'
import { insertRows } from '../clickhouse/insert-rows.ts'
import { until } from '../gateway/until.ts'
import { testWithChromium } from './chromium.ts'
import { openConsole } from './console-window.ts'
import { golden } from './golden-telemetry.ts'

vi.setConfig({ hookTimeout: 60_000, testTimeout: 120_000 })

const pipelines = ['parent-pipeline-with-bridges', 'failed-pipeline-with-skipped-deploy', 'canceled-pipeline']
const PARENT = '667f6c6d2142d9f78951e9420570f88b'
const MINUTE_NS = 60_000_000_000n

describeWithChdb('the console over ClickHouse', () => {
  let server: Chdb
  let service: Serving
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>
  beforeAll(async () => {
    server = await Chdb.start()
    for (const statement of exporterTables) await server.run(statement)
    const beginsNs = BigInt(Date.now() - 7_200_000) * 1_000_000n
    for (const [index, name] of pipelines.entries()) {
      for (const signal of ['traces', 'metrics', 'logs'] as const) {
        const body = JSON.stringify(golden(name, signal, beginsNs + BigInt(index) * MINUTE_NS))
        const rows = exporterRows(signal, decodeRequest(signal, Buffer.from(body), 'json'))
        for (const [table, each] of rows) await insertRows(server, table, each)
      }
    }
    directory = await temporaryDirectory()
    const { url, username, password } = server.address
    const address = new URL(url)
    address.username = username
    address.password = encodeURIComponent(password)
    service = await serving(
      [],
      {
        PENSTOCK_DATA_DIR: directory.path,
        // Nothing is sent to it.
        PENSTOCK_UPSTREAM: 'http://127.0.0.1:9',
        PENSTOCK_OBSERVE_URL: address.href,
        PENSTOCK_OBSERVE_CREATE_VIEWS: 'true',
      },
      { endsWithTest: false },
    )
  })
  afterAll(async () => {
    await service?.end()
    await server?.close()
    await directory?.[Symbol.asyncDispose]()
  })

  testWithChromium('pipelines, a trace, insights, logs, metrics and filters', async (browser) => {
    const key = /API key, shown only now: +(\S+)/.exec(service.stdout.text)![1]!
    // biome-ignore lint/suspicious/noExplicitAny: the test knows the shapes of the answers
    const get = async (path: string): Promise<any> => {
      const response = await fetch(`${service.managementUrl}/api/v1/observe/${path}`, {
        headers: { 'obs-api-key': key },
      })
      return await response.json()
    }
    const isReady = async () => (await get('status')).purpose.includes("from Penstock's views")
    await until('the views are filled and used', isReady)
    const runs: PipelineRun[] = await get('pipelines')
    expect(runs.map(({ status }) => status)).toEqual(['canceled', 'failed', 'success'])

    const { page, strayed, complaints } = await openConsole(browser, service, '/pipelines?live=0', key)
    const rows = page.getByRole('table', { name: 'Pipeline runs' }).locator('tbody tr:has(a)')
    await until('all runs are shown', async () => (await rows.count()) === runs.length)
    await page.getByLabel('Status').selectOption('Failed')
    await until('only the failed run is shown', async () => (await rows.count()) === 1)

    await page.goto(`${service.managementUrl}/traces/${PARENT}`)
    await page.getByRole('treegrid', { name: 'Spans' }).getByRole('row').filter({ hasText: 'job: image' }).waitFor()
    await page.goto(`${service.managementUrl}/insights`)
    await page.getByRole('region', { name: 'Duration' }).waitFor()
    const { slowest_jobs } = await get('insights')
    const jobs = page.getByRole('table', { name: 'Slowest jobs' }).locator('tbody th')
    expect(slowest_jobs.length).toBeGreaterThan(0)
    const names = slowest_jobs.map(({ name }: { name: string }) => name)
    await expect.poll(() => jobs.allInnerTexts()).toEqual(names)
    for (const heading of ['Logs', 'Metrics', 'Traces']) {
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: heading, exact: true }).click()
      await page.getByRole('heading', { name: heading, exact: true }).waitFor()
    }
    expect([strayed, complaints()]).toEqual([[], []])
  })
})
