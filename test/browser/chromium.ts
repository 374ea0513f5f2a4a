import { existsSync } from 'node:fs'
import process from 'node:process'
import { type Browser, type BrowserContext, chromium } from 'playwright-core'
import { test } from 'vitest'

const EXECUTABLE = '/usr/bin/chromium'

/** A window that can reach one origin, and what it asked of others. */
export interface Window {
  readonly context: BrowserContext
  /** URLs that were asked for elsewhere; none of them was fetched. */
  readonly strayed: readonly string[]
}

/**
 * A test in a headless Chromium with a new profile. It always runs in CI, where a missing browser is a failure; elsewhere it
 * is skipped, and the reason printed.
 */
export function testWithChromium(name: string, run: (browser: Browser) => Promise<void>): void {
  const isThere = existsSync(EXECUTABLE)
  if (!isThere && !process.env.CI) console.warn(`skipped: "${name}" needs ${EXECUTABLE}`)
  test.runIf(isThere || process.env.CI)(name, async () => {
    if (!isThere) throw new Error(`CI installs Chromium before the tests; looked for ${EXECUTABLE}`)
    const browser = await chromium.launch({
      executablePath: EXECUTABLE,
      args: [
        '--no-sandbox',
        '--disable-background-networking',
        // What does not pass through the page's requests, such as a worker's, finds no other host either.
        '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
      ],
    })
    try {
      await run(browser)
    } finally {
      await browser.close()
    }
  })
}

/** With cookies and storage of its own. */
export async function openWindow(browser: Browser, origin: string): Promise<Window> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, serviceWorkers: 'block' })
  context.setDefaultTimeout(15_000)
  const strayed: string[] = []
  const isOurs = (url: string) => url.startsWith(`${origin}/`) || /^(data|blob|about):/.test(url)
  context.on('request', (request) => {
    if (!isOurs(request.url())) strayed.push(request.url())
  })
  await context.route('**/*', (route) => (isOurs(route.request().url()) ? route.continue() : route.abort()))
  return { context, strayed }
}
