import type { Page } from 'playwright-core'
import { expect, vi } from 'vitest'
import type { RunningGateway } from '../gateway/running-gateway.ts'
import { testWithChromium } from './chromium.ts'
import { keyOf, openConsole } from './console-window.ts'
import { filledGateway, PARENT, RETRIED } from './filled-gateway.ts'

vi.setConfig({ testTimeout: 300_000 })

type Named = readonly [role: Parameters<Page['getByRole']>[0], name: string]

interface NamedPage {
  readonly path: string
  readonly heading: string
  /** The parts that everyone sees. */
  readonly shown: readonly Named[]
  /** The controls of those who may change something. */
  readonly controls?: readonly Named[]
  /** The parts that only an Admin sees. */
  readonly adminOnly?: readonly Named[]
}

/** The roles and accessible names that tests of others, and people with screen readers, rely on. */
const pages: readonly NamedPage[] = [
  {
    ...{ path: '/pipelines', heading: 'Pipelines' },
    shown: [
      ...[['table', 'Pipeline runs'] as const, ['switch', 'Live'] as const],
      ...(['Status', 'Project', 'Service'] as const).map((name) => ['combobox', name] as const),
      ...[['combobox', 'Ref'] as const, ['searchbox', 'Search'] as const, ['checkbox', 'Child pipelines'] as const],
    ],
  },
  {
    ...{ path: '/insights', heading: 'Insights' },
    shown: [
      ['region', 'Duration'],
      ['table', 'Slowest jobs'],
      ['table', 'Flaky jobs'],
      ['table', 'Compute minutes'],
      ['button', 'Download CSV of Slowest jobs'],
    ],
  },
  {
    ...{ path: '/traces', heading: 'Traces' },
    shown: [
      ['table', 'Traces'],
      ['combobox', 'Service'],
      ['combobox', 'Status'],
    ],
  },
  {
    ...{ path: `/traces/${PARENT}?span=b14f3f8a4d7b4365`, heading: '' },
    shown: [
      ['treegrid', 'Spans'],
      ['checkbox', 'Critical path'],
      ['tab', 'Attributes'],
      ['tab', 'Logs'],
      ['tab', 'Events'],
      ['link', 'Raw OTLP'],
      ['searchbox', 'Search in spans'],
      ['complementary', 'Selected span'],
    ],
  },
  { path: `/compare?a=${PARENT}&b=${RETRIED}`, heading: 'Compare', shown: [['table', 'Differences']] },
  {
    ...{ path: '/logs', heading: 'Logs' },
    shown: [
      ['log', 'Log records'],
      ['switch', 'Live'],
      ['combobox', 'Service'],
      ['combobox', 'Severity'],
      ['searchbox', 'Search'],
    ],
  },
  {
    ...{ path: '/explore/metrics?name=http.server.request.duration', heading: 'Metrics' },
    shown: [
      ['region', 'Chart'],
      ['table', 'Data points'],
      ['combobox', 'Service'],
    ],
  },
  {
    ...{ path: '/ingest', heading: 'Ingest' },
    shown: [
      ['table', 'Clients that would be refused'],
      ['table', 'Ingest tokens'],
    ],
    controls: [
      ['switch', 'Ingest enforcement'],
      ['combobox', 'Mode'],
      ['textbox', 'Grace'],
      ['button', 'Create token'],
      ['button', 'Rotate laptop'],
      ['button', 'Revoke laptop'],
    ],
    adminOnly: [['table', 'Audit']],
  },
  {
    ...{ path: '/api-keys', heading: 'API keys' },
    shown: [['table', 'Ingest tokens']],
    controls: [['button', 'Create token']],
    adminOnly: [
      ['table', 'API keys'],
      ['button', 'Create API key'],
      ['button', 'Revoke a Viewer'],
    ],
  },
]

/** Waits for everything with these names, and returns those of the others that are there. */
async function namesOn(page: Page, expected: readonly Named[], others: readonly Named[]): Promise<string[]> {
  for (const [role, name] of expected) await page.getByRole(role, { name }).first().waitFor()
  const found: string[] = []
  for (const [role, name] of others) {
    if ((await page.getByRole(role, { name }).count()) > 0) found.push(`${role} ${name}`)
  }
  return found
}

async function visit(page: Page, gateway: RunningGateway, { path, heading }: NamedPage): Promise<void> {
  await page.goto(gateway.managementUrl + path)
  await page.getByRole('heading', { level: 1, name: heading }).waitFor()
}

testWithChromium('two browsers with different roles find every page and control by its name', async (browser) => {
  const gateway = await filledGateway()
  await gateway.token({ name: 'laptop' })
  const viewerKey = await keyOf(gateway, 'Viewer')
  const [admin, viewer, editor] = [
    await openConsole(browser, gateway, '/'),
    await openConsole(browser, gateway, '/', viewerKey),
    await openConsole(browser, gateway, '/', await keyOf(gateway, 'Editor')),
  ]
  for (const { page } of [admin, viewer, editor]) {
    await page.getByRole('heading', { level: 1, name: 'Pipelines' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/pipelines')
    const main = page.getByRole('navigation', { name: 'Main' })
    expect(await main.getByRole('group', { name: 'Observe' }).getByRole('link').allInnerTexts()).toEqual([
      ...['Pipelines', 'Insights', 'Traces', 'Logs', 'Metrics'],
    ])
    await main.getByRole('link', { name: /^Ingest/ }).waitFor()
    await main.getByRole('link', { name: 'API keys', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
  }
  for (const each of pages) {
    const { shown, controls = [], adminOnly = [] } = each
    for (const { page } of [admin, viewer, editor]) await visit(page, gateway, each)
    expect([each.path, await namesOn(admin.page, [...shown, ...controls, ...adminOnly], [])]).toEqual([each.path, []])
    expect([each.path, await namesOn(editor.page, [...shown, ...controls], adminOnly)]).toEqual([each.path, []])
    expect([each.path, await namesOn(viewer.page, shown, [...controls, ...adminOnly])]).toEqual([each.path, []])
  }

  const { page } = admin
  await page.getByRole('button', { name: 'Create API key' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill('names')
  await page.getByRole('combobox', { name: 'Role' }).selectOption('Viewer')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  expect(await page.getByRole('textbox', { name: 'New API key' }).isEditable()).toBe(false)
  await page.getByRole('button', { name: 'Copy', exact: true }).waitFor()
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('button', { name: 'Revoke names' }).click()
  await page.getByRole('button', { name: 'Confirm' }).waitFor()
  await page.getByRole('button', { name: 'Cancel' }).click()
  for (const each of [admin, viewer, editor]) expect([each.strayed, each.complaints()]).toEqual([[], []])
})
