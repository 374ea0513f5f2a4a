import { accessLevels, actingUser, createIssue, groupWikis, perform, type User } from '@penstock/core'
import { MarkupRenderer } from '@penstock/markup'
import { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { RestServer } from '../server/rest-server.harness.ts'

let server: RestServer
let markup: MarkupRenderer
let mira: User
let noor: User

beforeEach(async () => {
  const world = await World.open()
  markup = MarkupRenderer.start({ threads: 1, maxElements: 1_000 })
  server = await RestServer.start({ world, core: { ...world.core, markup } })
  mira = await world.user('mira')
  noor = await world.user('noor')
  const ops = await world.group('ops', { visibility: 'public' })
  await world.member(ops, mira, accessLevels.owner)
  for (const [path, visibility] of [
    ['tools', 'private'],
    ['site', 'public'],
  ] as const) {
    const project = await world.project(path, ops, visibility)
    await world.perform(mira, createIssue, { project: project.id, title: `Plan <${path}>` })
  }
})

afterEach(async () => {
  await server.close()
  await markup.close()
})

const htmlOf = async (content: string, { format = 'markdown', as = mira, title = 'guides/x' } = {}) => {
  const parent = 'ops'
  const page = await server.world.perform(mira, groupWikis.create, { parent, title, content, format })
  const path = `groups/1/wikis/${encodeURIComponent(page.slug)}?render_html=true`
  const { status, body } = await server.call('GET', path, { token: await server.tokenOf(as) })
  return [status, body.content ?? body]
}

test.each([
  ['markdown', '---\ntitle: T\n---\nText *it* <script>alert(1)</script>', /<p[^>]*>Text <em>it<\/em>/],
  ['asciidoc', '== Head\n\nText _it_ +++<img src=x onerror=alert(1)>+++', /<em>it<\/em>/],
  ['org', '* Head\nText /it/\n#+begin_export html\n<script>alert(1)</script>\n#+end_export', /<em>it<\/em>|<i>it<\/i>/],
  ['rdoc', '= Head <b onclick=x>', /= Head &lt;b onclick=x(&gt;|>)/],
])('a page in %s is rendered without scripts', async (format, content, expected) => {
  const [status, html] = await htmlOf(content, { format })
  expect([status, html]).toEqual([200, expect.stringMatching(expected)])
  expect(html).not.toMatch(/<script|<img[^>]*onerror|title: T/)
})

test('references become links as far as the caller may see their targets', async () => {
  const content = 'See tools#1, ops/tools#1, site#1, ops/site#9, #1, @mira, @no-such-user and `site#1`.'
  const base = 'https://svc.example.test'
  const links = (html: string) =>
    [...html.matchAll(/<a[^>]*href="([^"]*)"[^>]*>([^<]*)<\/a>/g)].map((each) => each.slice(1))
  const open = [
    [`${base}/ops/site/-/issues/1`, 'site#1'],
    [`${base}/mira`, '@mira'],
  ]
  const hidden = [
    [`${base}/ops/tools/-/issues/1`, 'tools#1'],
    [`${base}/ops/tools/-/issues/1`, 'ops/tools#1'],
  ]
  const [, own] = await htmlOf(content)
  expect(links(own)).toEqual([...hidden, ...open])
  expect(own).toContain('title="Issue: Plan &lt;tools&gt;"')
  const [, others] = await htmlOf(content, { as: noor, title: 'y' })
  expect(links(others)).toEqual(open)
})

test('relative links lead to the wiki', async () => {
  const [, html] = await htmlOf('[a](other) [b](./near) ![c](uploads/0/map.png) [d](javascript:alert(1))')
  const wiki = 'https://svc.example.test/groups/ops/-/wikis'
  for (const address of [`${wiki}/other`, `${wiki}/guides/near`, `${wiki}/uploads/0/map.png`])
    expect(html).toContain(`"${address}"`)
  expect(html).not.toMatch(/href="javascript/)
})

test('a page that is too much to render is answered with the reason', async () => {
  expect(await htmlOf('* a\n\n'.repeat(2_000))).toEqual([
    422,
    { message: 'The text has too many elements to be rendered' },
  ])
})

test('a process without a renderer says so', async () => {
  const { world } = server
  await world.perform(mira, groupWikis.create, { parent: 'ops', title: 'x', content: 'x' })
  const request = { parent: 'ops', slug: 'x', renderHtml: true }
  const message = 'This process does not render texts as HTML'
  const { markup: _, ...core } = world.core
  const failed = perform(core, actingUser(mira), groupWikis.get, request).catch((error) => error.failure)
  expect(await failed).toEqual({ code: 'impossible', message })
})
