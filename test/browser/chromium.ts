import { existsSync } from 'node:fs'
import process from 'node:process'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { test } from 'vitest'

const EXECUTABLE = '/usr/bin/chromium'

/** A window that can reach only one origin, and the URLs of other origins that it requested. */
export interface Window {
  readonly context: BrowserContext
  /** The URLs of other origins that were requested. None of them was fetched. */
  readonly strayed: readonly string[]
}

/**
 * Declares a test in a headless Chromium with a new profile. In CI it always runs, and a missing browser is a failure.
 * Elsewhere it is skipped if there is no browser, and the reason is printed.
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
        // Requests that the page cannot intercept, such as those of a worker, cannot resolve other hosts either.
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

/** Opens a window with its own cookies and storage. */
export async function openWindow(browser: Browser, origin: string): Promise<Window> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, serviceWorkers: 'block' })
  context.setDefaultTimeout(60_000)
  const strayed: string[] = []
  const isOurs = (url: string) => url.startsWith(`${origin}/`) || /^(data|blob|about):/.test(url)
  context.on('request', (request) => {
    if (!isOurs(request.url())) strayed.push(request.url())
  })
  await context.route('**/*', (route) => (isOurs(route.request().url()) ? route.continue() : route.abort()))
  return { context, strayed }
}

/** Returns the errors of the page, such as violations of its content security policy. */
export function pageErrors(page: Page): string[] {
  const complaints: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  return complaints
}
