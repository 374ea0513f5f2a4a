import { execFileSync } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { accessLevels, createProjectSnippet, createUser, groupWikis, type Project, type User } from '@penstock/core'
import { repositoryPath } from '@penstock/testkit'
import type { BrowserContext } from 'playwright-core'
import { afterAll, beforeAll, expect, vi } from 'vitest'
import { ServedWorld } from '../graphql/served-world.ts'
import { testWithChromium } from './chromium.ts'
import { type RawDocument, rawDocuments } from './raw-documents.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 60_000 })

const PASSWORD = 'correct horse 1'
const FILES_OF_A_SNIPPET = 10
const PAGES_AT_A_TIME = 5
/** The time in which a page loads what it refers to. */
const WAIT_MS = 1_500

let served: ServedWorld
let mira: User
let tools: Project
/** A site of someone else, with one page. */
let evil: { readonly origin: string; readonly close: () => void }
let evilPage: { html: string; type: string } = { html: '', type: 'text/html' }

beforeAll(async () => {
  served = await ServedWorld.start()
  const { world } = served
  const root = await world.user('root', { isAdministrator: true })
  const created = await world.perform(root, createUser, {
    ...{ username: 'mira', name: 'Mira Holt', email: 'mira@example.test', password: PASSWORD, skipConfirmation: true },
  })
  mira = created.user
  const ops = await world.group('ops', { visibility: 'public' })
  await world.member(ops, mira, accessLevels.owner)
  tools = await world.project('tools', ops, 'public')
  await world.perform(mira, groupWikis.create, { parent: ops.id, title: 'home', content: '' })
  const server = createServer((_request, response) =>
    response.writeHead(200, { 'content-type': evilPage.type }).end(evilPage.html),
  )
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  evil = { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() }
})
afterAll(async () => {
  evil?.close()
  await served?.close()
})

/** Stores documents as the files of one public snippet, and returns the addresses of each by branch, tag and commit. */
async function storeSnippet(documents: readonly RawDocument[]): Promise<string[][]> {
  const files = documents.map(({ name, content }) => ({ filePath: name, content }))
  const draft = { project: tools.id, title: 'Raw', visibility: 'public', files } as const
  const { id } = await served.world.perform(mira, createProjectSnippet, draft)
  const gitdir = repositoryPath(served.world.core, `snippets/${id}`)
  const git = (...args: string[]) => execFileSync('git', ['--git-dir', gitdir, ...args], { encoding: 'utf8' }).trim()
  git('tag', 'v1.html', 'main')
  const refs = ['main', 'v1.html', git('rev-parse', 'main')]
  const raw = `${served.url}/api/v4/projects/ops%2Ftools/snippets/${id}/files`
  return documents.map(({ name }) => refs.map((ref) => `${raw}/${ref}/${encodeURIComponent(name)}/raw`))
}

/** Uploads a document to the wiki under the content type that it claims, and returns its address. */
async function storeAttachment({ name, content, type }: RawDocument): Promise<string> {
  const body = new FormData()
  body.append('file', new File([content], name, { type }))
  const headers = { authorization: `Bearer ${await served.tokenOf(mira)}` }
  const reply = await fetch(`${served.url}/api/v4/groups/ops/wikis/attachments`, { method: 'POST', headers, body })
  const { file_path: path } = (await reply.json()) as { file_path: string }
  return `${served.url}/groups/ops/-/wikis/${path}`
}

/** Returns what a response tells a browser, of which snippets are always plain text. */
async function protection(url: string): Promise<object> {
  const { status, headers, body } = await fetch(url)
  await body?.cancel()
  const isText = headers.get('content-type')?.startsWith('text/plain') === true
  const policy = headers.get('content-security-policy')
  return {
    ...{ url, status: url.includes('/snippets/') && !isText ? 'no text' : status, cookie: headers.get('set-cookie') },
    sniffing: headers.get('x-content-type-options'),
    sandbox: policy === "default-src 'none'; sandbox; frame-ancestors 'none'",
  }
}

/** Every way in which a page can load a document. A script that runs requests an address below `/ran`. */
const hostPage = (urls: readonly string[]) => `<!doctype html><title>host</title><script>
  addEventListener('message', ({ data }) => { if (data === 'ran') fetch('/ran/message') })
  for (const url of ${JSON.stringify(urls)}) {
    import(url).catch(() => {})
    try { new Worker(url).onerror = () => {} } catch {}
    try { new Worker(url, { type: 'module' }) } catch {}
    try { new SharedWorker(url) } catch {}
    navigator.serviceWorker?.register(url, { scope: url }).then(() => fetch('/ran/worker'), () => {})
    const add = (name, attributes) => document.documentElement.append(Object.assign(document.createElement(name), attributes))
    add('script', { src: url })
    add('script', { src: url, type: 'module' })
    add('link', { rel: 'stylesheet', href: url })
    add('link', { rel: 'manifest', href: url })
    add('iframe', { src: url })
    add('object', { data: url })
    add('embed', { src: url })
    add('img', { src: url })
    add('video', { src: url })
  }
</script>`

const chunked = <Item>(items: readonly Item[], size: number): Item[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size))

/** Collects signs that a document ran: its requests, dialogs and titles. */
function watch(context: BrowserContext): string[] {
  const ran: string[] = []
  context.on('request', (request) => {
    if (new URL(request.url()).pathname.startsWith('/ran')) ran.push(request.url())
  })
  context.on('dialog', (dialog) => {
    ran.push(`dialog at ${dialog.page()?.url()}`)
    void dialog.dismiss()
  })
  return ran
}

async function visit(context: BrowserContext, url: string, ran: string[], waitMs = 100): Promise<void> {
  const page = await context.newPage()
  // Many files are downloads, so that the page stays where it is.
  await page.goto(url, { waitUntil: 'domcontentloaded' }).catch(() => {})
  await page.waitForTimeout(waitMs)
  for (const frame of page.frames()) {
    if ((await frame.title().catch(() => '')) === 'ran') ran.push(`${url} in ${frame.url()}`)
  }
  await page.close()
}

testWithChromium('no raw file of a snippet and no attachment runs, is sniffed, or reads a cookie', async (browser) => {
  const context = await browser.newContext({ acceptDownloads: false })
  const ran = watch(context)
  const login = await context.newPage()
  await login.goto(`${served.url}/oauth/authorized_applications`)
  await login.getByLabel('Username or e-mail').fill('mira')
  await login.getByLabel('Password').fill(PASSWORD)
  await login.getByRole('button', { name: 'Sign in' }).click()
  await login.getByText('No application can access your account.').waitFor()
  expect((await context.cookies()).map(({ httpOnly }) => httpOnly)).not.toContain(false)
  await login.close()

  const headers: unknown[] = []
  for (const documents of chunked(rawDocuments(served.url), FILES_OF_A_SNIPPET)) {
    const snippets = await storeSnippet(documents)
    const attachments = await Promise.all(documents.map(storeAttachment))
    for (const url of [...snippets.flat(), ...attachments]) headers.push(await protection(url))
    const opened = [...snippets.map((urls, index) => urls[index % urls.length]!), ...attachments]
    for (const urls of chunked(opened, PAGES_AT_A_TIME)) await Promise.all(urls.map((url) => visit(context, url, ran)))
    // A page of the service itself that loads the files, as one with a fault could, and one of another site.
    const html = hostPage([...snippets.map((urls) => urls[0]!), ...attachments])
    await context.route(`${served.url}/host`, (route) => route.fulfill({ contentType: 'text/html', body: html }))
    evilPage = { html, type: 'text/html' }
    await Promise.all([served.url, evil.origin].map((origin) => visit(context, `${origin}/host`, ran, WAIT_MS)))
    await context.unroute(`${served.url}/host`)
  }
  const protections = { status: 200, sniffing: 'nosniff', sandbox: true, cookie: null }
  expect(headers).toEqual(headers.map(() => expect.objectContaining(protections)))
  expect(ran).toEqual([])
})

testWithChromium('the trap notices documents that are served as what they claim to be', async (browser) => {
  const running = rawDocuments(served.url).filter(({ runs }) => runs)
  const noticed: string[] = []
  const context = await browser.newContext()
  const ran = watch(context)
  for (const { name, content, type } of running) {
    evilPage = { html: content, type }
    for (let attempts = 0; ran.length === 0 && attempts < 10; attempts += 1)
      await visit(context, `${evil.origin}/page`, ran, 100 + 200 * attempts)
    if (ran.splice(0).length > 0) noticed.push(name)
  }
  expect(noticed).toEqual(running.map(({ name }) => name))
  // The page that loads documents in every way notices a script.
  evilPage = { html: hostPage([`data:text/javascript,fetch('${served.url}/ran')`]), type: 'text/html' }
  await visit(context, `${evil.origin}/host`, ran, WAIT_MS)
  expect(ran).toContain(`${served.url}/ran`)
})
