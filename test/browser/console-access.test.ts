import type { Page } from 'playwright-core'
import { expect, vi } from 'vitest'
import { type RunningGateway, startGateway } from '../gateway/running-gateway.ts'
import { testWithChromium } from './chromium.ts'
import { lightViolations, openConsole, violations } from './console-window.ts'
import { golden } from './golden-telemetry.ts'
import {
  beginsNs,
  makePoints,
  makeRecords,
  makeTraces,
  sendOtlp,
  sendPoints,
  sendRecords,
  sendTraces,
} from './sent-signals.ts'

vi.setConfig({ testTimeout: 300_000 })

const pipelines = [
  'parent-pipeline-with-bridges',
  'child-pipeline-of-a-bridge',
  'rest-bundle-retried-attempts-and-bridges',
  'failed-pipeline-with-skipped-deploy',
  'canceled-pipeline',
]
const PARENT = '667f6c6d2142d9f78951e9420570f88b'
const RETRIED = '291a2e5bfa88c8c3659724c802e7b013'
const LONG = 'a-name-that-is-much-longer-than-a-narrow-screen-is-wide'

/** Starts a gateway with telemetry of every kind, so that each page has something in each of its parts. */
async function filledGateway(): Promise<RunningGateway> {
  const gateway = await startGateway()
  for (const [index, name] of pipelines.entries()) {
    for (const signal of ['traces', 'metrics', 'logs'] as const)
      await sendOtlp(gateway, signal, golden(name, signal, beginsNs + BigInt(index) * 60_000_000_000n))
  }
  const traces = makeTraces(40)
  await sendTraces(gateway, traces)
  await sendRecords(gateway, makeRecords(40, traces))
  await sendPoints(gateway, makePoints(traces, 3))
  await gateway.token({ name: LONG })
  return gateway
}

/** The pages, each with what is there when it is complete. */
const pages: readonly (readonly [path: string, complete: string])[] = [
  ['/pipelines', 'table[aria-label="Pipeline runs"] tbody tr a'],
  ['/insights', 'table[aria-label="Compute minutes"] tbody tr'],
  ['/traces', '.u-over'],
  [`/traces/${PARENT}?span=b14f3f8a4d7b4365`, '.pane .kv dd'],
  [`/compare?a=${PARENT}&b=${RETRIED}`, 'table[aria-label="Differences"] tbody tr'],
  ['/logs', '[role="log"] .rec .body'],
  ['/explore/metrics?name=http.server.request.duration', 'table[aria-label="Data points"] tbody tr'],
  ['/ingest', 'table[aria-label="Ingest tokens"] tbody tr'],
  ['/api-keys', 'table[aria-label="API keys"] tbody tr'],
]

/** Opens a page and waits until it is complete. */
async function visit(page: Page, gateway: RunningGateway, [path, complete]: readonly [string, string]): Promise<void> {
  await page.goto(gateway.managementUrl + path)
  await page.locator(complete).first().waitFor()
}

const overflow = (page: Page) => page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')

testWithChromium('axe finds nothing serious on any page, light and dark', async (browser) => {
  const gateway = await filledGateway()
  const { page } = await openConsole(browser, gateway, '/api-keys')
  for (const each of pages) {
    await visit(page, gateway, each)
    expect([each[0], await violations(page)]).toEqual([each[0], []])
  }
})

testWithChromium(
  'at 200 % zoom and at 390 px nothing serious is found, and nothing scrolls sideways',
  async (browser) => {
    const gateway = await filledGateway()
    const { page } = await openConsole(browser, gateway, '/api-keys')
    for (const [width, height] of [
      // A window of 1440 × 900, zoomed to 200 %.
      [720, 450],
      [390, 844],
    ] as const) {
      await page.setViewportSize({ width, height })
      for (const each of pages) {
        await visit(page, gateway, each)
        const found = await lightViolations(page)
        expect([width, each[0], await overflow(page), found]).toEqual([width, each[0], 0, []])
      }
    }
  },
)
