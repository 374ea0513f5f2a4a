/**
 * Measures the console's waterfall in Chromium with a pipeline of 10,000 jobs: `npm run bench:console`.
 *
 * `--jobs <number>` changes the size, and `--profile <file>` saves a trace of the first load and of scrolling for chrome://tracing.
 */
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { convertChunks, resolveOptions } from '@penstock/converter'
import { parseLossless, readInput } from '@penstock/forges'
import { defaultChunkLimits, RequestEncoder } from '@penstock/otlp'
import { type Browser, type CDPSession, chromium, type Page } from 'playwright-core'
import { atMost, reportBounds } from './bounds.ts'
import { type Penstock, startPenstockGateway } from './gateway/penstock.ts'
import { pipelineHook } from './payloads.ts'

const { values } = parseArgs({
  options: { jobs: { type: 'string', default: '10000' }, profile: { type: 'string' } },
})
const JOBS = Number(values.jobs)
const LOADS = 5
const FIRST_ROW_MS = 1_000
const TASK_MS = 50
const DOM_ROWS = 200
const STEPS = 60

/** Sends the pipeline, and returns the id of its trace. */
async function sendPipeline({ httpPort, token, call }: Penstock): Promise<string> {
  const input = readInput(parseLossless(JSON.stringify(pipelineHook(1, JOBS))), { receivedAtNs: undefined })
  if (input.kind !== 'pipeline') throw new Error('not a pipeline')
  const chunking = { signals: ['traces'] as const, encoder: new RequestEncoder('protobuf'), limits: defaultChunkLimits }
  for (const { body } of convertChunks(input.record, resolveOptions({}), chunking)) {
    const response = await fetch(`http://127.0.0.1:${httpPort}/v1/traces`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-protobuf', Authorization: `Bearer ${token}` },
      body: Buffer.from(body),
    })
    if (!response.ok) throw new Error(`the traces were answered with ${response.status}`)
  }
  const [run] = (await call('GET', '/observe/pipelines?since=2026-01-01T00:00:00Z')) as { trace_id: string }[]
  return run!.trace_id
}

/** Opens the console with a session. */
async function signIn(browser: Browser, { managementUrl, call }: Penstock): Promise<Page> {
  const { key } = (await call('POST', '/api_keys', { name: 'benchmark', role: 'Viewer' })) as { key: string }
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  await page.addInitScript(OBSERVE_FIRST_ROW)
  await page.goto(`${managementUrl}/api-keys`)
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('navigation', { name: 'Main' }).waitFor()
  return page
}

/** Notes when the first row of the waterfall has been drawn. */
const OBSERVE_FIRST_ROW = `
  new MutationObserver((_, observer) => {
    if (document.querySelector('[role="treegrid"] [role="row"][aria-level]') === null) return
    observer.disconnect()
    requestAnimationFrame(() => setTimeout(() => { window.firstRowMs = performance.now() }))
  }).observe(document, { childList: true, subtree: true })
  performance.setResourceTimingBufferSize(1000)`

const DATA_MS = `performance.getEntriesByType('resource').find(({ name }) => name.includes('/observe/traces/')).responseEnd`

interface Load {
  readonly dataMs: number
  readonly firstRowMs: number
  /** The time that the page's thread computed until all jobs were there. */
  readonly workMs: number
}

async function loadTrace(page: Page, session: CDPSession, address: string): Promise<Load> {
  await page.goto(address)
  await page.locator(`[role="treegrid"][aria-rowcount="${JOBS + 2}"]`).waitFor({ timeout: 60_000 })
  const dataMs = await page.evaluate<number>(DATA_MS)
  const firstRowMs = await page.evaluate<number>('window.firstRowMs')
  const { metrics } = await session.send('Performance.getMetrics')
  const workMs = metrics.find(({ name }) => name === 'TaskDuration')!.value * 1_000
  return { dataMs, firstRowMs, workMs }
}

interface TraceEvent {
  readonly name: string
  readonly ph: string
  readonly pid: number
  readonly tid: number
  /** The microseconds that passed, and those that the thread computed. */
  readonly dur?: number
  readonly tdur?: number
  readonly args?: { readonly name?: string }
}

/** Returns the events of a trace of the browser while something happens in a page. */
async function traced(session: CDPSession, run: () => Promise<void>): Promise<TraceEvent[]> {
  const events: TraceEvent[] = []
  const collect = ({ value }: { value: object[] }) => events.push(...(value as TraceEvent[]))
  session.on('Tracing.dataCollected', collect)
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    categories:
      'toplevel,devtools.timeline,disabled-by-default-devtools.timeline,v8.execute,blink.user_timing,__metadata',
  })
  await run()
  const complete = new Promise<void>((resolve) => session.once('Tracing.tracingComplete', () => resolve()))
  await session.send('Tracing.end')
  await complete
  session.off('Tracing.dataCollected', collect)
  return events
}

/** Returns the tasks of the page's thread. */
function tasksOf(events: readonly TraceEvent[]): TraceEvent[] {
  const mainThreads = events.filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
  const places = new Set(mainThreads.map(({ pid, tid }) => `${pid} ${tid}`))
  return events.filter(({ name, ph, pid, tid }) => ph === 'X' && /RunTask$/.test(name) && places.has(`${pid} ${tid}`))
}

/** Returns the milliseconds of the longest task. */
const longest = (tasks: readonly TraceEvent[], of: 'dur' | 'tdur'): number =>
  tasks.reduce((most, task) => Math.max(most, (task[of] ?? 0) / 1_000), 0)

/** Scrolls through the whole list by wheel, by the scroll bar and by key; returns the highest number of rows in the DOM. */
async function scrollThrough(page: Page): Promise<number> {
  const grid = page.getByRole('treegrid', { name: 'Spans' })
  const rows = () => page.evaluate<number>(`document.querySelectorAll('[role="treegrid"] [role="row"]').length`)
  const box = (await grid.boundingBox())!
  await page.mouse.move(box.x + 300, box.y + 200)
  let most = 0
  for (let step = 0; step < STEPS; step += 1) {
    if (step % 3 === 2) {
      const share = ((step * 37) % STEPS) / STEPS
      await page.evaluate(`(() => { const list = document.querySelector('[role="treegrid"]')
        list.scrollTop = list.scrollHeight * ${share} })()`)
    } else {
      await page.mouse.wheel(0, step % 2 === 0 ? 900 : -400)
    }
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))')
    most = Math.max(most, await rows())
  }
  await grid.locator('[role="row"][tabindex="0"]').or(grid).first().focus()
  for (const key of ['End', 'ArrowUp', 'PageUp', 'Home', 'ArrowDown']) {
    await page.keyboard.press(key)
    most = Math.max(most, await rows())
  }
  return most
}

async function main(): Promise<void> {
  const service = await startPenstockGateway('embedded store', undefined)
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
  try {
    const address = `${service.managementUrl}/traces/${await sendPipeline(service)}`
    const page = await signIn(browser, service)
    const pageSession = await page.context().newCDPSession(page)
    await pageSession.send('Performance.enable', { timeDomain: 'threadTicks' })
    const loads: Load[] = []
    for (let load = 0; load < LOADS; load += 1) {
      await page.goto('about:blank')
      loads.push(await loadTrace(page, pageSession, address))
    }
    const session = await browser.newBrowserCDPSession()
    let rows = 0
    const events = await traced(session, async () => {
      rows = await scrollThrough(page)
    })
    const tasks = tasksOf(events)
    if (values.profile !== undefined) {
      const loading = await traced(session, async () => void (await loadTrace(page, pageSession, address)))
      writeFileSync(values.profile, JSON.stringify({ traceEvents: [...events, ...loading] }))
    }
    const worst = (pick: (load: Load) => number) => Math.max(...loads.map(pick))
    // Times of the page's thread are bounded: they are the same on a busy machine.
    reportBounds(`A pipeline of ${JOBS} jobs in the waterfall, the worst of ${LOADS} loads`, [
      { what: 'the data arrived after', measured: `${Math.round(worst(({ dataMs }) => dataMs))} ms` },
      {
        what: 'first row after the data',
        measured: `${Math.round(worst(({ dataMs, firstRowMs }) => firstRowMs - dataMs))} ms`,
      },
      atMost(
        'computing until all rows are there',
        worst(({ workMs }) => workMs),
        FIRST_ROW_MS,
        'ms',
      ),
      atMost('rows in the document, the most while scrolling', rows, DOM_ROWS, 'rows', 0),
      { what: `longest of ${tasks.length} tasks while scrolling`, measured: `${longest(tasks, 'dur').toFixed(1)} ms` },
      atMost('computing of such a task', longest(tasks, 'tdur'), TASK_MS, 'ms'),
    ])
  } finally {
    await browser.close()
    await service.stop()
  }
}

await main()
