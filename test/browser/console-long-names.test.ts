import type { Page } from 'playwright-core'
import { expect, vi } from 'vitest'
import { pipelineBody, pipelineTraceId } from '../../packages/observe/src/pipeline.harness.ts'
import { startGateway } from '../gateway/running-gateway.ts'
import { testWithChromium } from './chromium.ts'
import { openConsole } from './console-window.ts'

vi.setConfig({ testTimeout: 240_000 })

const OWNER = `${'a-group-of-teams/'.repeat(12)}platform`
const PROJECT = 'a-project-with-a-name-that-is-long-0001'.slice(0, 240 - OWNER.length - 1)
const JOB = 'test: [node-20, ubuntu-22.04-arm64, postgres-16, redis-7, shard 12/48, cover=on]'
const RUNS = 110
const HOUR_NS = 3_600_000_000_000n

/** Returns a run of hours ago in which the long job failed, and on every other commit passed in a second attempt. */
function runBody(number: number): Uint8Array {
  const isRetried = number % 2 === 0
  return pipelineBody({
    number,
    start: BigInt(Date.now()) * 1_000_000n - BigInt(number) * HOUR_NS,
    seconds: 900,
    attributes: {
      'vcs.owner.name': OWNER,
      'vcs.repository.name': PROJECT,
      'vcs.repository.url.full': `https://forge.example/${OWNER}/${PROJECT}`,
      'vcs.ref.head.name': `feature/${'a-branch-with-a-long-name-'.repeat(6)}${number}`,
      'vcs.ref.head.revision': String(number).padStart(40, 'a'),
      'cicd.pipeline.result': isRetried ? 'success' : 'failure',
    },
    jobs: [
      { name: JOB, start: 1, end: 400, status: 'failed' },
      ...(isRetried ? [{ name: JOB, start: 401, end: 800 }] : []),
      { name: `${JOB} again`, start: 1, end: 300 },
    ],
  })
}

/** Returns the numbers of tables that are cut or outside of what can be seen without scrolling sideways. */
const hiddenNumbers = (page: Page) =>
  page.evaluate<string[]>(`[...document.querySelectorAll('table .num')].flatMap((cell) => {
    if (!cell.checkVisibility()) return []
    const { left, right } = cell.getBoundingClientRect()
    const scroll = cell.closest('.scroll')?.getBoundingClientRect() ?? { left: 0, right: innerWidth }
    const isSeen = left >= Math.max(0, scroll.left) - 1 && right <= Math.min(innerWidth, scroll.right) + 1
    return isSeen && cell.scrollWidth <= cell.clientWidth + 1 ? [] : [cell.closest('table').getAttribute('aria-label') + ': ' + cell.innerText]
  })`)

/** Returns the links of runs that show only a part of the number of the run. */
const hiddenRuns = (page: Page) =>
  page.locator('tbody tr a[href^="/traces/"]').evaluateAll((links) =>
    links.flatMap((link) => {
      const isWhole = link.scrollWidth <= link.clientWidth + 1 || link.clientWidth === 0
      return isWhole && /#\d+$/.test(link.textContent ?? '') ? [] : [link.textContent]
    }),
  )

testWithChromium('long names of jobs, projects and refs leave every number in sight', async (browser) => {
  const gateway = await startGateway()
  expect([`${OWNER}/${PROJECT}`.length, JOB.length]).toEqual([240, 80])
  for (let number = 1; number <= RUNS; number += 1) {
    const answer = await fetch(`${gateway.otlpUrl}/v1/traces`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(runBody(number)),
    })
    expect(answer.status).toBe(200)
  }
  const { page, complaints } = await openConsole(browser, gateway, '/api-keys')
  const pages = [
    ['/pipelines', 'Pipeline runs'],
    ['/insights', 'Compute minutes'],
    ['/traces', 'Traces'],
    [`/compare?a=${pipelineTraceId(1)}&b=${pipelineTraceId(2)}`, 'Differences'],
  ] as const
  for (const width of [1280, 720, 390]) {
    await page.setViewportSize({ width, height: 844 })
    for (const [path, table] of pages) {
      await page.goto(gateway.managementUrl + path)
      await page.getByRole('table', { name: table }).locator('tbody td.num:visible').first().waitFor()
      await expect.poll(() => page.locator('main .skeleton').count()).toBe(0)
      expect([width, path, await hiddenNumbers(page)]).toEqual([width, path, []])
      if (path === '/pipelines' || path === '/traces')
        expect([width, path, await hiddenRuns(page)]).toEqual([width, path, []])
    }
  }
  expect(complaints()).toEqual([])
})

testWithChromium('the strip counts all runs of a range that has more than the table', async (browser) => {
  const gateway = await startGateway()
  const bodies = Array.from({ length: RUNS }, (_, index) => JSON.parse(Buffer.from(runBody(index + 1)).toString()))
  const answer = await fetch(`${gateway.otlpUrl}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ resourceSpans: bodies.flatMap(({ resourceSpans }) => resourceSpans) }),
  })
  expect(answer.status).toBe(200)
  const { page } = await openConsole(browser, gateway, '/pipelines')
  await page
    .getByText(
      `The strip counts all ${RUNS} runs of the range, per 6h 00m, ${RUNS / 2} of them failed. The table has the latest 100.`,
    )
    .waitFor()
  const strip = page.getByRole('img', { name: /^Runs since / })
  // Five days, in which a run began each hour, in parts of six hours.
  const bars = await strip.locator('rect.f-passed').count()
  expect([bars >= 18 && bars <= 20, await strip.locator('g').count()]).toEqual([true, bars])
  // With a filter that the counts do not know, the strip has the runs of the table.
  await page.getByRole('checkbox', { name: 'Child pipelines' }).check()
  await page.getByText('The strip has the latest 100 runs').waitFor()
  await page.getByRole('button', { name: 'Older runs' }).click()
  await page
    .getByRole('img', { name: /^Run durations since / })
    .locator('g')
    .nth(RUNS - 1)
    .waitFor({ state: 'attached' })
})
