// Makes the screenshots of the console in docs/guides/pictures from the sample workspace, with a fixed time and window. Needs the build and Chromium.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { chromium } from 'playwright-core'

const root = join(dirname(fileURLToPath(import.meta.url)), '../..')
/** A Thursday afternoon: the samples have a bad day a week before, and a job that became slower yesterday. */
const START_TIME = '2026-03-12T15:20:00Z'
/** The time that has passed on the pictures since the start, so that what the script sends lies in the past. */
const PASSED_MS = 10 * 60_000
const WINDOW = { width: 1280, height: 640 }
const TALL_WINDOW = { width: 1280, height: 800 }
const MAX_BYTES = 150_000
const SETTLE_MS = 1_500
const STORED_TIMEOUT_MS = 300_000

const directory = mkdtempSync(join(tmpdir(), 'penstock-screenshots-'))
const preload = pathToFileURL(join(root, 'test/browser/fixed-start.mjs')).href
const service = spawn(
  process.execPath,
  ['--import', preload, join(root, 'packages/cli/bin/penstock.mjs'), 'serve', '--sample'],
  {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      START_TIME,
      START_TIME_SET_AT: String(Date.now()),
      TZ: 'UTC',
      PENSTOCK_DATA_DIR: join(directory, 'data'),
      PENSTOCK_CORE_LISTEN: '127.0.0.1:0',
      PENSTOCK_OBS_LISTEN: '127.0.0.1:0',
      PENSTOCK_OTLP_HTTP_LISTEN: '127.0.0.1:0',
      PENSTOCK_OTLP_GRPC_LISTEN: '127.0.0.1:0',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  },
)
let exitCode = 0
try {
  const { link, key, otlp } = await started()
  const url = new URL(link).origin
  await untilStored(url, key)
  await sendWithoutToken(otlp)
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-background-networking', '--font-render-hinting=none'],
  })
  try {
    await takeAll(browser, link)
  } finally {
    await browser.close()
  }
} catch (error) {
  console.error(error)
  exitCode = 1
} finally {
  service.kill('SIGINT')
  await new Promise((resolve) => (service.exitCode === null ? service.once('exit', resolve) : resolve()))
  rmSync(directory, { recursive: true })
}
process.exit(exitCode)

/** Returns the addresses and the key that the service prints when it has started. */
async function started() {
  let text = ''
  service.stdout.on('data', (chunk) => {
    text += chunk
  })
  while (!text.includes('Try next')) {
    if (service.exitCode !== null) throw new Error('the service did not start')
    await sleep(100)
  }
  const found = (pattern) => pattern.exec(text)?.[1]
  const printed = {
    link: found(/Console: +(\S+)/),
    key: found(/API key, shown only now: +(\S+)/),
    otlp: found(/takes OTLP on (\S+)/),
  }
  if (Object.values(printed).includes(undefined)) throw new Error(`unexpected output:\n${text}`)
  return printed
}

/** Waits until all pipelines are recorded, and the number of stored runs no longer changes. */
async function untilStored(url, key) {
  const deadline = Date.now() + STORED_TIMEOUT_MS
  for (let before = -1; Date.now() < deadline; await sleep(SETTLE_MS)) {
    if (existsSync(join(directory, 'data/sample-workspace.pending'))) continue
    const response = await fetch(`${url}/api/v1/observe/insights`, { headers: { 'OBS-API-KEY': key } })
    const { runs } = (await response.json()).totals
    if (runs > 0 && runs === before) return
    before = runs
  }
  throw new Error('the sample pipelines did not arrive in time')
}

/** Sends telemetry of two services without a token, so that there are clients which enforcement would refuse. */
async function sendWithoutToken(address) {
  const attribute = (key, text) => ({ key, value: { stringValue: text } })
  const senders = [
    ['nightly-render', 'render-agent/2.4', 3],
    ['door-telemetry', 'otel-collector/0.141', 5],
  ]
  for (const [service, agent, times] of senders) {
    const record = { timeUnixNano: '1773329000000000000', severityNumber: 9, body: { stringValue: 'started' } }
    const resource = { attributes: [attribute('service.name', service)] }
    const body = JSON.stringify({ resourceLogs: [{ resource, scopeLogs: [{ logRecords: [record] }] }] })
    const headers = { 'Content-Type': 'application/json', 'User-Agent': agent }
    for (let sent = 0; sent < times; sent += 1) {
      const { status } = await fetch(`http://${address}/v1/logs`, { method: 'POST', headers, body })
      if (status !== 200) throw new Error(`telemetry was answered with ${status}`)
    }
  }
}

async function takeAll(browser, link) {
  const context = await browser.newContext({
    viewport: WINDOW,
    locale: 'en-GB',
    timezoneId: 'UTC',
    colorScheme: 'light',
    reducedMotion: 'reduce',
  })
  const page = await context.newPage()
  await page.clock.setFixedTime(Date.parse(START_TIME) + PASSED_MS)
  await page.goto(link)
  const runs = page.getByRole('table', { name: 'Pipeline runs' })
  await runs.locator('tbody a').first().waitFor()
  await take(page, 'console-pipelines')

  // The second one has failed.
  await runs
    .getByRole('link', { name: /^storefront #/ })
    .nth(1)
    .click()
  await page.getByRole('treegrid', { name: 'Spans' }).waitFor()
  await take(page, 'console-trace')

  await page.goto(`${new URL(link).origin}/ingest`)
  await page.getByRole('table', { name: 'Clients that would be refused' }).locator('tbody tr').first().waitFor()
  await page.getByRole('table', { name: 'Ingest tokens' }).locator('tbody tr').first().waitFor()
  await page.setViewportSize(TALL_WINDOW)
  await take(page, 'console-ingest')
}

async function take(page, name) {
  await page.mouse.move(0, 0)
  await sleep(SETTLE_MS)
  const path = join(root, `docs/guides/pictures/${name}.png`)
  await page.screenshot({ path })
  const { size } = statSync(path)
  console.log(`docs/guides/pictures/${name}.png: ${Math.round(size / 1000)} kB`)
  if (size > MAX_BYTES) throw new Error(`docs/guides/pictures/${name}.png is larger than ${MAX_BYTES / 1000} kB`)
}
