import type { Page } from 'playwright-core'
import { expect, vi } from 'vitest'
import type { RunningGateway } from '../gateway/running-gateway.ts'
import { testWithChromium } from './chromium.ts'
import { lightViolations, openConsole, violations } from './console-window.ts'
import { filledGateway, PARENT, RETRIED } from './filled-gateway.ts'

vi.setConfig({ testTimeout: 300_000 })

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
  ['/nothing-here', 'main h1'],
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
