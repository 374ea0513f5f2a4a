import { existsSync } from 'node:fs'
import { AxeBuilder } from '@axe-core/playwright'
import { consoleDirectory } from '@penstock/web'
import type { Browser, Locator, Page } from 'playwright-core'
import { ADMIN_KEY, type RunningGateway } from '../gateway/running-gateway.ts'
import { openWindow, pageErrors } from './chromium.ts'

/** A window of the console, signed in, with what went wrong in it. */
export interface ConsoleWindow {
  readonly page: Page
  /** Errors of the page except refused requests, and requests to other origins. Both stay empty. */
  readonly complaints: () => readonly string[]
  readonly strayed: readonly string[]
}

/** Opens a path of the console in a new profile, and signs in with a key through the form. */
export async function openConsole(
  browser: Browser,
  gateway: Pick<RunningGateway, 'managementUrl'>,
  path: string,
  key = ADMIN_KEY,
): Promise<ConsoleWindow> {
  if (!existsSync(consoleDirectory)) throw new Error('build the console first: npx vite build packages/web')
  const { context, strayed } = await openWindow(browser, gateway.managementUrl)
  const page = await context.newPage()
  const complaints = pageErrors(page)
  await page.goto(gateway.managementUrl + path)
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('navigation', { name: 'Main' }).waitFor()
  const isRefusal = (text: string) => /^Failed to load resource: .* 4\d\d /.test(text)
  return { page, strayed, complaints: () => complaints.filter((text) => !isRefusal(text)) }
}

/** Calls the management API with a key, and returns the JSON of the answer. */
export async function callManagement<Json>(
  gateway: RunningGateway,
  method: string,
  path: string,
  body?: object,
): Promise<Json> {
  const response = await fetch(gateway.managementUrl + path, {
    method,
    headers: { 'OBS-API-KEY': ADMIN_KEY, ...(body && { 'Content-Type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  return (await response.json()) as Json
}

/** Returns the texts of the cells in each row of a table's body. */
export const cellTexts = (table: Locator): Promise<string[][]> =>
  table
    .locator('tbody tr')
    .evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent?.trim() ?? '')))

/** Returns a new key of a role. */
export async function keyOf(gateway: RunningGateway, role: 'Viewer' | 'Editor'): Promise<string> {
  const { key } = await callManagement<{ key: string }>(gateway, 'POST', '/api/v1/api_keys', {
    name: `a ${role}`,
    role,
  })
  return key
}

/** The rules of axe that judge colours. */
const colorRules = ['color-contrast', 'link-in-text-block']

/** Returns the serious and critical violations of accessibility rules in the light colours. */
export function lightViolations(page: Page): Promise<string[]> {
  return violationsIn(page, 'light', {})
}

/** Returns the serious and critical violations in the light colours, and those of colours in the dark ones. */
export async function violations(page: Page): Promise<string[]> {
  const light = await lightViolations(page)
  return [...light, ...(await violationsIn(page, 'dark', { runOnly: { type: 'rule', values: colorRules } }))]
}

/** Returns the serious and critical violations in one color scheme. */
export async function violationsIn(
  page: Page,
  colorScheme: 'light' | 'dark',
  options: Parameters<AxeBuilder['options']>[0],
): Promise<string[]> {
  await page.emulateMedia({ colorScheme })
  const builder = new AxeBuilder({ page }).options({ ...options, resultTypes: ['violations'] })
  const { violations: all } = await builder.analyze()
  return all.flatMap(({ id, impact, nodes }) =>
    impact === 'serious' || impact === 'critical'
      ? [`${colorScheme} ${id}: ${nodes.map(({ target }) => target.join(' ')).join('; ')}`]
      : [],
  )
}
