import process from 'node:process'
import type { Page } from 'playwright-core'
import { expect, vi } from 'vitest'
import type { PipelineRun } from '../../packages/web/src/api/answers.ts'
import { startGateway } from '../gateway/running-gateway.ts'
import { until } from '../gateway/until.ts'
import { testWithChromium } from './chromium.ts'
import { callManagement, openConsole, violations } from './console-window.ts'
import { golden } from './golden-telemetry.ts'
import { beginsNs, sendOtlp } from './sent-signals.ts'

vi.setConfig({ testTimeout: 240_000 })

/** A run of each forge, and one of an installation with a setting that names its forge. */
const cases = [
  'azure-build-of-one-job',
  'bitbucket-push-to-main',
  'buildkite-build-of-the-api',
  'circleci-rest-bundle',
  'failed-pipeline-with-skipped-deploy',
  'forgejo-bundle-with-steps',
  'gitea-rest-bundle',
  'github-push-run',
  'jenkins-multibranch-build',
] as const
const MINUTE_NS = 60_000_000_000n
/** Where pictures are written, to look at them; by default there are none. */
const pictures = process.env.PENSTOCK_PICTURES

const table = (page: Page) => page.getByRole('table', { name: 'Pipeline runs' })
const overflow = (page: Page) => page.evaluate(() => Math.max(0, document.documentElement.scrollWidth - innerWidth))
const forgesShown = (page: Page) =>
  table(page)
    .locator('tbody tr')
    .evaluateAll((rows) => rows.map((row) => row.querySelector('.forge')?.textContent ?? ''))

async function picture(page: Page, name: string): Promise<void> {
  if (pictures !== undefined) await page.screenshot({ path: `${pictures}/${name}.png` })
}

testWithChromium('runs of several forges: column, filter, head of a trace, and links to the forge', async (browser) => {
  const gateway = await startGateway()
  for (const [at, name] of cases.entries())
    await sendOtlp(gateway, 'traces', golden(name, 'traces', beginsNs + BigInt(at) * MINUTE_NS))
  const list = () => callManagement<PipelineRun[]>(gateway, 'GET', '/api/v1/observe/pipelines')
  await until('the runs are stored', async () => (await list()).length >= cases.length)

  const { page, strayed, complaints } = await openConsole(browser, gateway, '/pipelines')
  await page.setViewportSize({ width: 1500, height: 800 })
  await table(page)
    .locator('tbody tr')
    .nth(cases.length - 1)
    .waitFor()
  expect(await table(page).getByRole('columnheader', { name: 'Forge' }).count()).toBe(1)
  expect((await forgesShown(page)).map((text) => text.slice(2)).sort()).toEqual(
    ['Azure Pipelines', 'Bitbucket', 'Buildkite', 'CircleCI', 'Forgejo', 'Gitea', 'GitHub', 'Jenkins', 'svc'].sort(),
  )
  await picture(page, 'pipelines-wide')
  for (const { width, height } of [
    { width: 1280, height: 800 },
    { width: 390, height: 844 },
  ]) {
    await page.setViewportSize({ width, height })
    expect([width, await overflow(page), await violations(page)]).toEqual([width, 0, []])
    await page.emulateMedia({ colorScheme: 'light' })
    await picture(page, `pipelines-${width}`)
  }

  await page.setViewportSize({ width: 1280, height: 800 })
  await page.getByLabel('Forge').selectOption('GitHub')
  await until('the run of GitHub is shown', async () => (await forgesShown(page)).join() === 'GHGitHub')
  expect(new URL(page.url()).searchParams.get('forge')).toBe('github')
  await page.reload()
  await until('it is shown again', async () => (await forgesShown(page)).join() === 'GHGitHub')

  await table(page).locator('tbody a').first().click()
  const grid = page.getByRole('treegrid', { name: 'Spans' })
  await grid.waitFor()
  const facts = page.locator('dl.facts')
  expect(await facts.innerText()).toMatch(/Forge\s+GH\s*GitHub/)
  const run = 'https://github.com/ferrous-labs/anvil'
  expect(await page.getByRole('link', { name: 'Open in forge' }).getAttribute('href')).toMatch(
    new RegExp(`^${run}/actions/runs/\\d+$`),
  )
  expect(await facts.getByRole('link').getAttribute('href')).toMatch(new RegExp(`^${run}/commit/[0-9a-f]{40}$`))
  // GitHub has no stages, so no caption of a lane names one.
  expect(await grid.innerText()).not.toMatch(/undefined|no stage/)
  await grid.getByRole('row').nth(2).click()
  const job = page.getByRole('link', { name: /^Job \d+ in forge$/ })
  expect(await job.getAttribute('href')).toMatch(new RegExp(`^${run}/actions/runs/\\d+/job/\\d+$`))
  expect(await violations(page)).toEqual([])
  await page.emulateMedia({ colorScheme: 'light' })
  await picture(page, 'trace-1280')
  await page.setViewportSize({ width: 390, height: 844 })
  expect(await overflow(page)).toBe(0)
  await picture(page, 'trace-390')

  await page.goto(`${gateway.managementUrl}/pipelines?forge=gitea&job=none`)
  await page.getByText('Forge is Gitea; Job is none').waitFor()
  expect([strayed, complaints()]).toEqual([[], []])
})
