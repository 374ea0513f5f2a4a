import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, vi } from 'vitest'
import type { PipelineRun } from '../../packages/web/src/api/answers.ts'
import { durationText } from '../../packages/web/src/components/duration.ts'
import { type ServedSamples, serveSamples } from '../cli/served-samples.ts'
import { serving } from '../cli/serving.ts'
import { temporaryDirectory } from '../cli/temporary-directory.ts'
import { until } from '../gateway/until.ts'
import { openWindow, testWithChromium } from './chromium.ts'
import { openConsole } from './console-window.ts'

vi.setConfig({ hookTimeout: 300_000 })

let samples: ServedSamples
beforeAll(async () => {
  samples = await serveSamples()
})
afterAll(() => samples?.end())

const table = (page: Page) => page.getByRole('table', { name: 'Pipeline runs' })

/** Returns what each row of the table says: the address of its run, the status, the duration and the number of failed jobs. */
const rowsOf = (page: Page) =>
  table(page)
    .locator('tbody tr')
    .evaluateAll((rows) =>
      rows.map((row) => {
        const cells = [...row.children].map((cell) => (cell as HTMLElement).innerText.trim())
        return [row.querySelector('a')?.getAttribute('href'), cells[0], cells.at(-4), cells.at(-1)]
      }),
    )

const labels: Readonly<Record<string, string>> = {
  success: 'Passed',
  failed: 'Failed',
  canceled: 'Canceled',
  skipped: 'Skipped',
  manual: 'Manual',
  running: 'Running',
}

const expected = (runs: readonly PipelineRun[]) =>
  runs.map((run) => [
    `/traces/${run.trace_id}`,
    labels[run.status ?? ''] ?? run.status,
    run.duration_ns === '0' ? '–' : durationText(Number(run.duration_ns) / 1e9),
    String(run.jobs_failed),
  ])

testWithChromium(
  'runs, filters and pages are those of the API; address, reload and back keep the view',
  async (browser) => {
    // A fixed time: the earliest runs would leave a range that moves with the clock between two looks.
    const since = new Date(Date.now() - 13 * 86_400_000).toISOString()
    const { page, strayed, complaints } = await openConsole(
      browser,
      samples,
      `/pipelines?since=${since}&live=0`,
      samples.key,
    )
    const all: PipelineRun[] = await samples.get(`pipelines?since=${since}&limit=200`)
    await table(page).locator('tbody tr').nth(99).waitFor()
    expect(await rowsOf(page)).toEqual(expected(all.slice(0, 100)))

    await page.getByRole('button', { name: 'Older runs' }).click()
    await table(page).locator('tbody tr').nth(150).waitFor()
    expect((await rowsOf(page)).slice(0, 200)).toEqual(expected(all))

    await page.getByLabel('Status').selectOption('Failed')
    const failed: PipelineRun[] = await samples.get(`pipelines?since=${since}&limit=100&status=failed`)
    const isFailed = async () => JSON.stringify(await rowsOf(page)) === JSON.stringify(expected(failed))
    await until('the failed runs are shown', isFailed)
    expect([...new URL(page.url()).searchParams]).toEqual([
      ['since', since],
      ['live', '0'],
      ['status', 'failed'],
    ])
    await page.reload()
    await until('the failed runs are shown again', isFailed)
    await page.goBack()
    await until('all runs are shown', async () => (await rowsOf(page)).length === 100)

    const project = all[0]!.project!
    await page.getByLabel('Project').selectOption(project)
    const ofProject: PipelineRun[] = await samples.get(`pipelines?since=${since}&limit=100&project=${project}`)
    await until(
      'the runs of the project are shown',
      async () => JSON.stringify(await rowsOf(page)) === JSON.stringify(expected(ofProject)),
    )
    const title = ofProject.at(-1)!.title!
    await page.getByLabel('Search').fill(` ${title.toUpperCase()} `)
    const q = encodeURIComponent(title)
    const ofTitle: PipelineRun[] = await samples.get(`pipelines?since=${since}&limit=100&project=${project}&q=${q}`)
    await until(
      'the runs with the title are shown',
      async () => JSON.stringify(await rowsOf(page)) === JSON.stringify(expected(ofTitle)),
    )
    expect(new URL(page.url()).searchParams.get('q')).toBe(` ${title.toUpperCase()} `)
    await page.getByLabel('Search').fill('there is no such run')
    await page.getByRole('link', { name: 'Clear filters' }).click()
    await until('all runs are shown', async () => (await rowsOf(page)).length === 100)

    await table(page).locator('tbody tr').nth(45).scrollIntoViewIfNeeded()
    const scrolled = () => page.evaluate(() => scrollY)
    const before = await scrolled()
    expect(before).toBeGreaterThan(500)
    await table(page).locator('tbody tr').nth(45).getByRole('link').first().click()
    await page.getByRole('treegrid', { name: 'Spans' }).waitFor()
    expect(await scrolled()).toBe(0)
    await page.goBack()
    await until('the page is where it was left', async () => (await scrolled()) === before)

    await page.keyboard.press('g')
    await page.keyboard.press('i')
    await page.getByRole('link', { name: '14d' }).click()
    await page.getByRole('region', { name: 'Duration' }).waitFor()
    expect(new URL(page.url()).search).toBe('?range=14d')
    await page.goto(`${samples.managementUrl}/insights?since=${since}`)
    const { totals, slowest_jobs } = await samples.get(`insights?since=${since}`)
    // The table beside the chart, which is closed, can name the same duration.
    const p95 = page.getByText(durationText(totals.duration_p95), { exact: true })
    await p95.filter({ visible: true }).first().waitFor()
    const jobs = page.getByRole('table', { name: 'Slowest jobs' }).locator('tbody th')
    // biome-ignore lint/suspicious/noExplicitAny: see above
    await expect.poll(() => jobs.allInnerTexts()).toEqual(slowest_jobs.map((job: any) => job.name))
    expect([strayed, complaints()]).toEqual([[], []])
  },
)

testWithChromium(
  'the form stands on every path, says that a key is wrong, and leads to the path asked for',
  async (browser) => {
    await using directory = await temporaryDirectory()
    const service = await serving([], { PENSTOCK_DATA_DIR: join(directory.path, 'data') })
    const key = /API key, shown only now: +(\S+)/.exec(service.stdout.text)![1]!
    const { context } = await openWindow(browser, service.managementUrl)
    const page = await context.newPage()
    await page.goto(`${service.managementUrl}/logs?severity=error`)
    await page.getByLabel('API key').fill('psak_wrong')
    await page.keyboard.press('Enter')
    expect(await page.getByRole('alert').innerText()).toBe('This key is not valid. It may have been revoked.')
    await page.getByLabel('API key').fill(key)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Logs' }).waitFor()
    expect(page.url()).toBe(`${service.managementUrl}/logs?severity=error`)
    const links = page.getByRole('navigation', { name: 'Main' }).getByRole('link')
    expect(await links.allInnerTexts()).toEqual([
      'Pipelines',
      'Insights',
      'Traces',
      'Logs',
      'Metrics',
      'Ingest',
      'API keys',
    ])

    await page.locator('main').focus()
    await page.keyboard.press('?')
    const dialog = page.getByRole('dialog', { name: 'Keys' })
    await dialog.getByText('Go to Pipelines').waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await page.keyboard.press('g')
    await page.keyboard.press('p')
    await page.getByRole('heading', { name: 'Pipelines' }).waitFor()
    await page.getByText('No telemetry yet').waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('API key').waitFor()
  },
)
