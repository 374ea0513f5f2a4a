import type { Page } from 'playwright-core'
import { expect, vi } from 'vitest'
import type { WireSpan } from '../../packages/web/src/api/otlp-json.ts'
import { durationText } from '../../packages/web/src/components/duration.ts'
import {
  jobSpan,
  largePipeline,
  pipelineSpan,
  wireSpan,
} from '../../packages/web/src/pages/trace/trace-model.harness.ts'
import { type RunningGateway, startGateway } from '../gateway/running-gateway.ts'
import { testWithChromium } from './chromium.ts'
import { openConsole, violations } from './console-window.ts'
import { golden } from './golden-telemetry.ts'
import { criticalSeconds, rawRuns } from './raw-runs.ts'
import { sendOtlp } from './sent-signals.ts'

vi.setConfig({ testTimeout: 240_000 })

/** Sends spans of one trace, 2,000 at a time. Their ids may be any text; a number in 16 digits is sent for each. */
async function sendSpans(
  gateway: RunningGateway,
  traceId: string,
  spans: readonly WireSpan[],
): Promise<Map<string, string>> {
  const ids = new Map(spans.map(({ spanId }, index) => [spanId!, (index + 1).toString(16).padStart(16, '0')]))
  const sent = spans.map((span) => ({
    ...span,
    traceId,
    spanId: ids.get(span.spanId!),
    parentSpanId: ids.get(span.parentSpanId ?? '') ?? '',
  }))
  const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'tests' } }] }
  for (let from = 0; from < sent.length; from += 2_000) {
    await sendOtlp(gateway, 'traces', {
      resourceSpans: [{ resource, scopeSpans: [{ spans: sent.slice(from, from + 2_000) }] }],
    })
  }
  return ids
}

const spansOf = (page: Page) => page.getByRole('treegrid', { name: 'Spans' })
const rowOf = (page: Page, name: string | RegExp) => spansOf(page).getByRole('row').filter({ hasText: name })

/** Returns the rows in view: level, name, stage, duration, time on the critical path. */
const rowTexts = (page: Page) =>
  spansOf(page)
    .locator('[role="row"][aria-level]')
    .evaluateAll((rows) =>
      rows.map((row) =>
        [row.getAttribute('aria-level'), ...[...row.children].slice(0, 4).map((cell) => cell.textContent)].join(' | '),
      ),
    )

testWithChromium(
  'a pipeline is shown by stage, with attempts, child pipelines and the critical path',
  async (browser) => {
    const gateway = await startGateway()
    for (const name of [
      'parent-pipeline-with-bridges',
      'child-pipeline-of-a-bridge',
      'rest-bundle-retried-attempts-and-bridges',
      'failed-pipeline-with-skipped-deploy',
    ]) {
      await sendOtlp(gateway, 'traces', golden(name, 'traces'))
      await sendOtlp(gateway, 'logs', golden(name, 'logs'))
    }
    const { page, complaints, strayed } = await openConsole(
      browser,
      gateway,
      '/traces/667f6c6d2142d9f78951e9420570f88b',
    )
    await rowOf(page, 'job: collect').waitFor()
    expect(await rowTexts(page)).toEqual([
      '1 | RUN Braukessel Überwachung, Passed | – | 6m 51s | ',
      '2 | job: image, Passed | build, 1 job | 1m 06s | 1m 06s',
      '2 | job: kessel-suedbridge, Passed | triggers, 2 jobs | 5m 27s | 5m 27s',
      '2 | job: kessel-nordbridge, Passed | triggers | 5m 11s | ',
      '3 | RUN Braukessel Überwachungchild, Passed | – | 5m 06s | ',
      '4 | job: gaerung, Passed | simulate, 2 jobs | 4m 02s | ',
      '4 | job: sudhaus, Passed | simulate | 3m 10s | ',
      '4 | job: toleranzen, Passed | accept, 1 job | 56.0 s | ',
      '2 | job: collect, Passed | verify, 1 job | 9.0 s | 9.0 s',
    ])
    const sent = ['parent-pipeline-with-bridges', 'child-pipeline-of-a-bridge'].flatMap(
      (name) => golden(name, 'traces').resourceSpans,
    )
    const jobs = rawRuns(sent).flatMap((run) => run.jobs)
    const seconds = [...criticalSeconds(rawRuns(sent))].filter(([, own]) => own > 0)
    const onPath = seconds.map(([id, own]) => [jobs.find(({ spanId }) => spanId === id)!.name, durationText(own)])
    const shownOnPath = (await rowTexts(page)).map((row) => row.split(' | ')).filter((row) => row[4] !== '')
    expect(
      shownOnPath.map(([, name, , , own]) => [/^job: (.+?)(?:bridge)?, /.exec(name!)![1], own]).toSorted(),
    ).toEqual(onPath.toSorted())
    const current = page.getByRole('navigation', { name: 'Main' }).locator('[aria-current]')
    expect(await current.allInnerTexts()).toEqual(['Pipelines'])
    await page.getByRole('checkbox', { name: 'Critical path' }).uncheck()
    expect((await rowTexts(page)).filter((row) => !row.endsWith('| '))).toEqual([])
    await page.getByLabel('Search in spans').fill('sudhaus')
    await expect.poll(() => rowOf(page, 'job: collect').count()).toBe(0)
    expect(await rowTexts(page)).toHaveLength(4)
    expect(await spansOf(page).getAttribute('aria-rowcount')).toBe('5')
    const raw = await page.getByRole('link', { name: 'Raw OTLP' }).getAttribute('href')
    const answer = await page.evaluate<{ resourceSpans: unknown }>(
      `fetch(${JSON.stringify(raw)}).then((response) => response.json())`,
    )
    expect(JSON.stringify(answer.resourceSpans)).toContain('job: sudhaus')

    await page.goto(`${gateway.managementUrl}/traces/291a2e5bfa88c8c3659724c802e7b013`)
    await rowOf(page, 'attempt 2 of 2').waitFor()
    expect((await rowTexts(page)).slice(1, 3)).toEqual([
      '2 | job: imageattempt 1 of 2, Failed | build, 1 job, 2 attempts | 31.9 s | 31.9 s',
      '2 | job: imageattempt 2 of 2, Passed | build | 1m 05s | 1m 05s',
    ])
    expect(await page.locator('.lede').innerText()).toContain('image passed on its second attempt.')
    expect([complaints(), strayed]).toEqual([[], []])
  },
)

testWithChromium(
  'the selected span shows attributes, log records and links, and the address keeps it',
  async (browser) => {
    const gateway = await startGateway()
    await sendOtlp(gateway, 'traces', golden('failed-pipeline-with-skipped-deploy', 'traces'))
    await sendOtlp(gateway, 'logs', golden('failed-pipeline-with-skipped-deploy', 'logs'))
    const { page, complaints } = await openConsole(browser, gateway, '/traces/5a0904696d74f9e481eb66f3e5c02bc1')
    expect(await page.locator('.lede').innerText()).toBe(
      'Failed in test › simulate (script failure). It is on the slowest path: toolchain → firmware → simulate, 9m 25s of 9m 39s.',
    )
    await page.getByRole('button', { name: 'Next failure' }).click()
    const pane = page.getByRole('complementary', { name: 'Selected span' })
    expect(await pane.getByRole('heading', { level: 2 }).innerText()).toBe('job: simulate')
    expect(await pane.getByRole('link', { name: 'Job 640233 in forge' }).getAttribute('href')).toBe(
      'https://git.example.com/ceramics/firmware/kiln-controller/-/jobs/640233',
    )
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    expect(await page.getByRole('link', { name: 'Open in forge' }).count()).toBe(1)
    await pane.getByRole('button', { name: 'Copy error.type', exact: true }).click()
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe('script_failure')
    await pane.getByLabel('Filter attributes').fill('worker.name')
    expect(await pane.locator('.kv > div').count()).toBe(1)
    await pane.getByRole('tab', { name: 'Logs' }).click()
    await pane.getByText('Job failed: simulate').waitFor()
    await page.getByRole('button', { name: 'Zoom in' }).click()
    const address = page.url()
    expect(new URL(address).searchParams.get('zoom')).toBe('144.75-434.25')
    await page.reload()
    await pane.getByText('Job failed: simulate').waitFor()
    expect(await pane.getByRole('tab', { name: 'Logs' }).getAttribute('aria-selected')).toBe('true')
    await page.getByRole('link', { name: 'Metrics' }).click()
    await page.goBack()
    await pane.waitFor()
    expect(page.url()).toBe(address)
    await pane.getByRole('button', { name: 'Close pane' }).click()
    expect(await pane.count()).toBe(0)
    await page.goto(`${gateway.managementUrl}/traces/${'0'.repeat(31)}1`)
    await page.getByText('No such trace is stored').waitFor()
    expect(complaints()).toEqual([])
  },
)

testWithChromium('the waterfall works by keyboard alone, and axe finds no serious violation', async (browser) => {
  const gateway = await startGateway()
  for (const name of ['parent-pipeline-with-bridges', 'child-pipeline-of-a-bridge'])
    await sendOtlp(gateway, 'traces', golden(name, 'traces'))
  const { page } = await openConsole(browser, gateway, '/traces/667f6c6d2142d9f78951e9420570f88b')
  await rowOf(page, 'job: collect').waitFor()
  const focused = () => page.evaluate(`document.activeElement.querySelector('.label')?.textContent`)
  await page.getByRole('button', { name: 'Fit' }).focus()
  await page.keyboard.press('Tab')
  expect(await focused()).toBe('RUN Braukessel Überwachung')
  const press = async (...keys: readonly string[]) => {
    for (const key of keys) await page.keyboard.press(key)
  }
  await press('ArrowDown', 'j', 'j')
  await expect.poll(focused).toBe('job: kessel-nord')
  await press('ArrowLeft')
  expect(await rowOf(page, 'job: sudhaus').count()).toBe(0)
  await press('ArrowRight', 'ArrowRight')
  await expect.poll(focused).toBe('RUN Braukessel Überwachung')
  await press('ArrowLeft', 'ArrowLeft')
  await expect.poll(focused).toBe('job: kessel-nord')
  for (const rows of [9, 5, 9]) {
    await press('z')
    await expect.poll(async () => (await rowTexts(page)).length).toBe(rows)
  }
  await spansOf(page).locator('[role="row"][tabindex="0"]').focus()
  await press('End')
  await expect.poll(focused).toBe('job: collect')
  await press('Enter')
  expect(
    await page.getByRole('complementary', { name: 'Selected span' }).getByRole('heading', { level: 2 }).innerText(),
  ).toBe('job: collect')
  await press('Escape', 'c')
  expect(await page.getByRole('checkbox', { name: 'Critical path' }).isChecked()).toBe(false)
  await press('+', '+', 'Shift+ArrowRight')
  expect(new URL(page.url()).searchParams.get('zoom')).toBe('179.8125-282.5625')
  await press('0')
  expect(new URL(page.url()).searchParams.get('zoom')).toBeNull()
  await press('Home', 'Enter')
  expect(await violations(page)).toEqual([])
})

testWithChromium('a job is compared with its usual duration, and failures can be shown alone', async (browser) => {
  const gateway = await startGateway()
  const spansOfRun = (from: number, unitSeconds: number, status: string) => [
    pipelineSpan('run', '', from, from + unitSeconds + 9, { 'pipeline.status': status, 'vcs.ref.head.name': 'main' }),
    jobSpan('unit', 'run', from, from + unitSeconds, { 'cicd.pipeline.task.name': 'unit', 'job.status': 'success' }),
    jobSpan('lint', 'run', from, from + 9, { 'cicd.pipeline.task.name': 'lint', 'job.status': status }),
  ]
  for (const [index, seconds] of [10, 20, 30].entries())
    await sendSpans(gateway, String(index + 1).repeat(32), spansOfRun(index * 100, seconds, 'success'))
  await sendSpans(gateway, '9'.repeat(32), spansOfRun(900, 500, 'success'))
  const traceId = 'e'.repeat(32)
  const ids = await sendSpans(gateway, traceId, spansOfRun(400, 50, 'failed'))
  const { page, complaints } = await openConsole(browser, gateway, `/traces/${traceId}?span=${ids.get('unit')}`)
  const pane = page.getByRole('complementary', { name: 'Selected span' })
  await pane.getByText('usually 20.0 s, median of 3 runs; now 30.0 s longer').waitFor()
  const link = pane.getByRole('link', { name: 'median of 3 runs' })
  expect(await link.getAttribute('href')).toBe(`/compare?a=${traceId}&b=median`)
  await rowOf(page, 'lint').click()
  await pane.getByText('usually 9.0 s, median of 3 runs; now about as long').waitFor()
  // The keys move on from the selected span.
  for (const key of ['ArrowUp', 'ArrowUp', 'Enter']) await page.keyboard.press(key)
  await pane.getByRole('heading', { name: 'run', exact: true }).waitFor()
  expect(await pane.getByRole('tab').allInnerTexts()).not.toEqual(['Attributes', 'Logs', 'Events'])
  for (const name of ['Attributes', 'Logs', 'Events']) await pane.getByRole('tab', { name, exact: true }).waitFor()
  await rowOf(page, 'lint').click()
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await pane.getByRole('button', { name: 'Copy link to this span' }).click()
  const address = `${gateway.managementUrl}/traces/${traceId}?span=${ids.get('lint')}`
  await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(address)

  await page.keyboard.press('Escape')
  const names = async () => (await rowTexts(page)).map((row) => row.split(' | ')[1])
  expect(await names()).toEqual(['run, Failed', 'unit, Passed', 'lint, Failed'])
  await page.keyboard.press('f')
  await expect.poll(names).toEqual(['run, Failed', 'lint, Failed'])
  await page.getByText('2 of 3 spans, 2 failed').waitFor()
  await page.reload()
  await expect.poll(names).toEqual(['run, Failed', 'lint, Failed'])
  await page.getByLabel('Search in spans').fill('unit')
  await page.getByRole('button', { name: 'Show all spans' }).click()
  await expect.poll(names).toHaveLength(3)
  expect(await page.getByRole('checkbox', { name: 'Only failed' }).isChecked()).toBe(false)
  expect([await violations(page), complaints()]).toEqual([[], []])
})

testWithChromium('10,000 jobs arrive in pages, and scroll with at most 200 rows', async (browser) => {
  const gateway = await startGateway()
  const traceId = 'c'.repeat(32)
  await sendSpans(gateway, traceId, largePipeline(10_000))
  const { page } = await openConsole(browser, gateway, `/traces/${traceId}`)
  const grid = spansOf(page)
  await rowOf(page, 'RUN').or(rowOf(page, 'run')).first().waitFor()
  await expect.poll(() => grid.getAttribute('aria-rowcount')).toBe('10002')
  for (let step = 0; step < 20; step += 1) {
    await page.evaluate(`new Promise((drawn) => {
      document.querySelector('[role="treegrid"]').scrollTop = ${((step * 37) % 20) * 14_000}
      requestAnimationFrame(() => requestAnimationFrame(drawn))
    })`)
    expect(await page.getByRole('row').count()).toBeLessThanOrEqual(200)
  }
  await grid.locator('[role="row"][tabindex="0"]').or(grid).first().focus()
  await page.keyboard.press('End')
  await grid.locator('[role="row"][aria-rowindex="10002"]').waitFor()
  await page.keyboard.press('e')
  await page.getByRole('complementary', { name: 'Selected span' }).waitFor()
})

const bidi = '\u202Egnp.exe\u2066'
const markup = '<img src=x onerror="document.title=1"><script>document.title=1</script><b>bold</b>'

/** Asks the page what telemetry could have caused. */
const probe = `({
  isWider: document.documentElement.scrollWidth > innerWidth,
  running: [...document.querySelectorAll('a[href]')].map(({ protocol }) => protocol).filter((each) => !/^https?:$/.test(each)),
  elements: document.querySelectorAll('main script, main img, main iframe').length,
  handlers: [...document.querySelectorAll('main *')].filter((each) => each.getAttributeNames().some((name) => name.startsWith('on'))).length,
  tallRows: [...document.querySelectorAll('[role="row"][aria-level]')].filter((row) => row.getBoundingClientRect().height > 80).length,
})`

testWithChromium('hostile telemetry is shown as text and does not break the layout', async (browser) => {
  const gateway = await startGateway()
  const traceId = 'd'.repeat(32)
  const long = 'x'.repeat(1_000_000)
  const run = {
    'pipeline.status': 'failed',
    'vcs.ref.head.name': markup + long.slice(0, 5_000),
    'vcs.repository.url.full': 'javascript:alert(1)',
    'cicd.pipeline.run.url.full': 'javascript:alert(1)',
  }
  const job = {
    'cicd.pipeline.task.run.id': markup,
    'cicd.pipeline.task.type': `${markup}${bidi}`,
    'job.status': 'failed',
    'error.type': markup + bidi,
    'cicd.pipeline.task.run.url.full': 'javascript:alert(1)',
    [markup]: markup,
    huge: long,
    direction: bidi,
  }
  const spans = [
    { ...pipelineSpan('run', '', 0, 9, run), name: `RUN ${markup}` },
    { ...wireSpan('job', 'run', 1, 8, job), name: `job: ${markup}${bidi}` },
    { ...wireSpan('long', 'run', 1, 8, { ...job, 'cicd.pipeline.task.type': 'long' }), name: `job: ${long}` },
  ]
  const ids = await sendSpans(gateway, traceId, spans)
  const record = {
    traceId,
    spanId: ids.get('job'),
    timeUnixNano: '1750000002000000000',
    severityNumber: 17,
    body: { stringValue: `${markup}${bidi}${long}` },
  }
  await sendOtlp(gateway, 'logs', { resourceLogs: [{ scopeLogs: [{ logRecords: [record] }] }] })
  for (const width of [1280, 390]) {
    const { page, complaints, strayed } = await openConsole(
      browser,
      gateway,
      `/traces/${traceId}?span=${ids.get('job')}`,
    )
    await page.setViewportSize({ width, height: 800 })
    const pane = page.getByRole('complementary', { name: 'Selected span' })
    await pane.waitFor()
    expect(await rowOf(page, markup).count()).toBe(3)
    expect(await pane.getByRole('heading', { level: 2 }).textContent()).toBe(`job: ${markup}${bidi}`)
    await pane.getByText('Show more of 1,000,000 characters').click()
    await pane.getByRole('tab', { name: 'Logs' }).click()
    await pane.getByText('Show more of 1,000,0', { exact: false }).waitFor()
    expect(await page.evaluate(probe)).toEqual({ isWider: false, running: [], elements: 0, handlers: 0, tallRows: 0 })
    expect(await page.title()).toMatch(/Penstock$/)
    expect([complaints(), strayed]).toEqual([[], []])
  }
})

testWithChromium('URLs of the own core are no links, because it has no pages at them', async (browser) => {
  const gateway = await startGateway({ PENSTOCK_EXTERNAL_URL: 'https://git.example.com/ceramics/' })
  await sendOtlp(gateway, 'traces', golden('failed-pipeline-with-skipped-deploy', 'traces'))
  const { page } = await openConsole(browser, gateway, '/traces/5a0904696d74f9e481eb66f3e5c02bc1')
  await page.getByRole('button', { name: 'Next failure' }).click()
  const pane = page.getByRole('complementary', { name: 'Selected span' })
  await pane.getByLabel('Filter attributes').fill('url.full')
  await pane.getByText('https://git.example.com/ceramics/firmware/kiln-controller/-/jobs/640233').waitFor()
  expect(await page.locator('a[href^="https://git.example.com"]').count()).toBe(0)
})
