import type { Page } from 'playwright-core'
import { expect, vi } from 'vitest'
import { startSink } from '../gateway/accepting-sink.ts'
import { startGateway } from '../gateway/running-gateway.ts'
import { testWithChromium } from './chromium.ts'
import { openConsole, violations } from './console-window.ts'

vi.setConfig({ testTimeout: 240_000 })

const TRACE = '0'.repeat(31)

interface PageStates {
  readonly path: string
  readonly heading: string
  /** The request without which the page shows nothing. */
  readonly request: string
  readonly failure: string
  /** The heading of the page for an empty store, and the next step that it offers. */
  readonly empty: string
  readonly step: readonly ['link' | 'button', name: string]
  /** The same with a filter, which the step removes. */
  readonly filtered?: { readonly path: string; readonly empty: string }
}

const pages: readonly PageStates[] = [
  {
    ...{ path: '/pipelines', heading: 'Pipelines', request: 'pipelines?*' },
    ...{ failure: 'The runs could not be loaded.', empty: 'No telemetry yet', step: ['button', 'Copy the setting'] },
    filtered: { path: '/pipelines?status=failed&range=24h', empty: 'No runs match in the last 24 hours' },
  },
  {
    ...{ path: '/insights', heading: 'Insights', request: 'insights?*', failure: 'The insights could not be loaded.' },
    ...{ empty: 'No finished runs in the last 7 days', step: ['link', 'Show the last 30 days'] },
    filtered: { path: '/insights?ref=main&range=24h', empty: 'No finished runs match in the last 24 hours' },
  },
  {
    ...{ path: '/traces', heading: 'Traces', request: 'traces?*', failure: 'The traces could not be loaded.' },
    ...{ empty: 'No traces in the last 7 days', step: ['link', 'Create an ingest token'] },
    filtered: { path: '/traces?longer=1s&range=24h', empty: 'No traces match in the last 24 hours' },
  },
  {
    ...{ path: '/logs', heading: 'Logs', request: 'logs?*', failure: 'The log records could not be loaded.' },
    ...{ empty: 'No log records in the last 7 days', step: ['link', 'Create an ingest token'] },
    filtered: { path: '/logs?q=word&range=24h', empty: 'No log records match in the last 24 hours' },
  },
  {
    ...{ path: '/explore/metrics', heading: 'Metrics', request: 'metric_names?*' },
    ...{
      failure: 'The metrics could not be loaded.',
      empty: 'No metrics yet',
      step: ['link', 'Create an ingest token'],
    },
    filtered: { path: '/explore/metrics?service=none&range=24h', empty: 'This service has no metrics' },
  },
  {
    ...{ path: '/compare', heading: 'Compare', request: 'compare?*', failure: 'The runs could not be compared.' },
    ...{ empty: 'Select two runs', step: ['link', 'Go to Pipelines'] },
  },
  {
    ...{ path: `/traces/${TRACE}1`, heading: 'Trace', request: `traces/${TRACE}1*` },
    ...{
      failure: 'The trace could not be loaded.',
      empty: 'No such trace is stored',
      step: ['link', 'Go to Pipelines'],
    },
  },
]

/** Compare asks for nothing until two runs are named. */
const withRuns = (path: string) => (path === '/compare' ? `${path}?a=${TRACE}1&b=${TRACE}2` : path)

/** Lets the requests of a page wait, until the returned function ends them. */
async function held(page: Page, pattern: string): Promise<() => Promise<void>> {
  let resolve = () => {}
  const promise = new Promise<void>((ended) => {
    resolve = ended
  })
  await page.route(`**/api/v1/observe/${pattern}`, async (route) => {
    await promise
    await route.fulfill({
      status: 503,
      json: { error: { code: 'unavailable', message: 'The store is busy.', request_id: 'req_of_the_test' } },
    })
  })
  return async () => {
    resolve()
    await page.getByRole('alert').waitFor()
    await page.unroute(`**/api/v1/observe/${pattern}`)
  }
}

testWithChromium('each page says that it loads, what failed, and what to do with an empty store', async (browser) => {
  const gateway = await startGateway()
  const { page, strayed } = await openConsole(browser, gateway, '/api-keys')
  for (const { path, heading, request, failure, empty, step, filtered } of pages) {
    const fail = await held(page, request)
    await page.goto(gateway.managementUrl + withRuns(path))
    await page.getByRole('heading', { level: 1, name: heading }).waitFor()
    await page.locator('main [aria-busy=true] .skeleton').first().waitFor()
    await fail()
    expect(await page.getByRole('alert').innerText()).toBe(`${failure} The store is busy. Request req_of_the_test.`)
    await page.getByRole('button', { name: 'Try again' }).click()
    if (path === '/compare') {
      await page.getByRole('heading', { name: 'One of these runs is not stored' }).waitFor()
      await page.goto(gateway.managementUrl + path)
    }
    await page.getByRole('heading', { name: empty }).waitFor()
    const [role, name] = step
    await page.getByRole('main').getByRole(role, { name }).waitFor()
    if (filtered === undefined) continue
    await page.goto(gateway.managementUrl + filtered.path)
    await page.getByRole('heading', { name: filtered.empty }).waitFor()
    await page.getByRole('link', { name: 'Clear filters' }).click()
    await page.getByRole('heading', { name: filtered.empty }).waitFor({ state: 'detached' })
    expect(new URL(page.url()).search).toBe('?range=24h')
  }
  expect(strayed).toEqual([])
})

testWithChromium('without a store each page says so, and Ingest and API keys work', async (browser) => {
  const sink = await startSink()
  const gateway = await startGateway({ PENSTOCK_UPSTREAM: sink.url })
  const { page } = await openConsole(browser, gateway, '/pipelines')
  for (const { path, heading } of pages) {
    await page.goto(gateway.managementUrl + path)
    await page.getByRole('heading', { level: 1, name: heading }).waitFor()
    await page.getByRole('heading', { name: 'Telemetry goes to your upstream' }).waitFor()
    for (const name of ['PENSTOCK_UPSTREAM', 'PENSTOCK_OBSERVE_URL'])
      await page.getByText(name, { exact: true }).waitFor()
  }
  expect(await violations(page)).toEqual([])
  await page.getByRole('link', { name: 'Go to Ingest' }).click()
  await page.getByRole('switch', { name: 'Ingest enforcement' }).waitFor()
  await page.getByRole('link', { name: 'API keys' }).click()
  await page.getByRole('table', { name: 'API keys' }).waitFor()
})
