import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { request as nodeRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { type Listening, unguarded } from '@penstock/http'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { TemporaryGateway } from '../store/temporary-gateway.harness.ts'
import { serveConsole } from './console-routes.ts'
import { serveManagement } from './management-app.harness.ts'

const PAGE = '<!doctype html><title>Penstock</title>'
const SCRIPT = 'export const text = "the same line again and again"\n'.repeat(200)
const SCRIPT_PATH = '/assets/index-Cq1SYN_D.js'

const paths = ['/pipelines', '/traces/:traceId', '/api-keys']

let directory: string
let gateway: TemporaryGateway
let server: Listening

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'penstock-console-'))
  gateway = await TemporaryGateway.open()
})
afterEach(async () => {
  await server.close()
  await gateway.close()
  rmSync(directory, { recursive: true })
})

async function serve(): Promise<void> {
  const { routes, notFoundPage } = await serveConsole({ directory: join(directory, 'console'), paths })
  server = await serveManagement(gateway, unguarded(routes), {}, notFoundPage)
}

async function build(): Promise<void> {
  mkdirSync(join(directory, 'console/assets'), { recursive: true })
  writeFileSync(join(directory, 'secret.txt'), 'not part of the console')
  writeFileSync(join(directory, 'console/index.html'), PAGE)
  writeFileSync(join(directory, `console${SCRIPT_PATH}`), SCRIPT)
  writeFileSync(join(directory, 'console/favicon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>')
  symlinkSync(join(directory, 'secret.txt'), join(directory, 'console/assets/link.txt'))
  await serve()
}

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly bytes: Buffer
}

/** Sends the path as it is; `fetch` would resolve dots and decompress. */
function get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { host, port } = server
    const sent = nodeRequest({ host, port, path, method, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        resolve({ status: response.statusCode!, headers: response.headers, bytes: Buffer.concat(chunks) }),
      )
    })
    sent.on('error', reject)
    sent.end()
  })
}

describe('the built console', () => {
  beforeEach(build)

  test.each(['/', ...paths])('is served at %s, to be revalidated', async (path) => {
    const { status, headers, bytes } = await get(
      `${path.replace(':traceId', '0af7651916cd43dd8448eb211c80319c')}?range=7d`,
    )
    expect([status, bytes.toString()]).toEqual([200, PAGE])
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
    expect(headers['cache-control']).toBe('no-cache')
  })

  test('has headers that forbid framing, sniffing, referrers, foreign hosts and text that becomes script', async () => {
    const { headers } = await get('/', { 'x-forwarded-proto': 'https' })
    expect(headers['cross-origin-opener-policy']).toBe('same-origin')
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
        "font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'",
    )
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'strict-transport-security': 'max-age=31536000',
    })
    expect((await get('/')).headers['strict-transport-security']).toBeUndefined()
  })

  test('sends hashed files as immutable, and compressed if the client accepts that', async () => {
    const plain = await get(SCRIPT_PATH)
    expect(plain.bytes.toString()).toBe(SCRIPT)
    expect(plain.headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': 'text/javascript; charset=utf-8',
      vary: 'Accept-Encoding',
    })
    const brotli = await get(SCRIPT_PATH, { 'accept-encoding': 'gzip, deflate, br' })
    expect([brotli.headers['content-encoding'], brotliDecompressSync(brotli.bytes).toString()]).toEqual(['br', SCRIPT])
    const gzip = await get(SCRIPT_PATH, { 'accept-encoding': 'gzip, br;q=0' })
    expect([gzip.headers['content-encoding'], gunzipSync(gzip.bytes).toString()]).toEqual(['gzip', SCRIPT])
    expect(new Set([plain, brotli, gzip].map(({ headers }) => headers.etag)).size).toBe(3)
    expect((await get(SCRIPT_PATH, { 'accept-encoding': '*;q=0' })).headers['content-encoding']).toBeUndefined()
    expect((await get('/favicon.svg')).headers).toMatchObject({
      'cache-control': 'no-cache',
      'content-type': 'image/svg+xml',
    })
  })

  test('answers 304 to a client that has the file in the same encoding, and HEAD without a body', async () => {
    const accepted = { 'accept-encoding': 'br' }
    const { headers } = await get(SCRIPT_PATH, accepted)
    const etag = String(headers.etag)
    const known = await get(SCRIPT_PATH, { ...accepted, 'if-none-match': `"other", W/${etag}` })
    expect([known.status, known.bytes.length, known.headers.etag]).toEqual([304, 0, etag])
    expect((await get(SCRIPT_PATH, { 'if-none-match': etag })).status).toBe(200)
    const head = await get(SCRIPT_PATH, accepted, 'HEAD')
    expect([head.status, head.bytes.length]).toEqual([200, 0])
    expect(head.headers['content-length']).toBe(headers['content-length'])
  })

  test.each([
    '/../secret.txt',
    '/assets/../../secret.txt',
    '/assets/..%2f..%2fsecret.txt',
    '/%2e%2e/secret.txt',
    '/assets/..\\..\\secret.txt',
    '//etc/passwd',
    '/assets/link.txt',
    '/assets',
    '/assets/',
    '/index.html',
    '/nothing',
    '/assets/index-missing.js',
  ])('answers %s with the 404 of the API', async (path) => {
    const { status, headers, bytes } = await get(path)
    expect([status, JSON.parse(bytes.toString()).error.code]).toEqual([404, 'not_found'])
    expect(headers['cache-control']).toBe('no-store')
  })

  test('shows browsers its own page with 404 at an unknown path, and the API its error', async () => {
    const accept = 'text/html,application/xhtml+xml,*/*;q=0.8'
    for (const path of ['/nothing', '/traces/a/b', '/assets/index-missing.js', '/apis']) {
      const { status, headers, bytes } = await get(path, { accept })
      expect([status, bytes.toString(), headers['cache-control']]).toEqual([404, PAGE, 'no-store'])
      expect(headers['content-security-policy']).toContain("script-src 'self'")
    }
    expect((await get('/nothing', { accept }, 'HEAD')).status).toBe(404)
    for (const [path, sent, method, status] of [
      ['/nothing', '*/*', 'GET', 404],
      ['/nothing', 'application/json', 'GET', 404],
      ['/nothing', accept, 'POST', 404],
      ['/pipelines', accept, 'POST', 405],
      ['/api', accept, 'GET', 404],
      ['/api/v1/nothing', accept, 'GET', 404],
    ] as const) {
      const answer = await get(path, { accept: sent }, method)
      expect([path, answer.status, answer.headers['content-type']]).toEqual([
        ...[path, status, 'application/json; charset=utf-8'],
      ])
    }
  })

  test('leaves the API as it is', async () => {
    const { status, headers } = await get('/api/v1/ingest_auth/state')
    expect([status, headers['content-type']]).toEqual([401, 'application/json; charset=utf-8'])
    expect(headers['content-security-policy']).toBe("default-src 'none'; frame-ancestors 'none'")
    expect((await get('/pipelines', {}, 'POST')).status).toBe(405)
  })
})

test.each(['/', '/pipelines', '/api-keys'])('without a build, %s says how to build the console', async (path) => {
  await serve()
  const { status, headers, bytes } = await get(path)
  expect([status, headers['content-type']]).toEqual([404, 'text/plain; charset=utf-8'])
  expect(bytes.toString()).toContain('npm run setup')
})
