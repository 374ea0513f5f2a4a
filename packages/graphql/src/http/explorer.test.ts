import { createUser, csrfTokenOf, newVisitorSecret, signIn } from '@penstock/core'
import { type Listening, listen, serveRoutes } from '@penstock/http'
import { silentLog } from '@penstock/runtime'
import { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { explorerRoutes } from './explorer.ts'

let world: World
let server: Listening

beforeEach(async () => {
  world = await World.open({ externalUrl: 'https://forge.example.test/ci' })
  const signInUrl = (returnTo: string) => `https://forge.example.test/ci/in?return_to=${returnTo}`
  const listener = serveRoutes(explorerRoutes({ core: world.core, signInUrl }), {
    renderError: (error) => ({ status: (error as Error).name === 'RequestProblem' ? 404 : 500 }),
    headers: {},
    log: silentLog,
  })
  server = await listen(listener, { host: '127.0.0.1', port: 0 })
})

afterEach(async () => {
  await server.close(AbortSignal.abort())
  await world.close()
})

const get = async (path = '', init: RequestInit = {}) => {
  const response = await fetch(`${server.url}/-/graphql-explorer${path}`, init)
  return { status: response.status, headers: response.headers, text: await response.text() }
}
const settingsIn = (text: string) =>
  JSON.parse(/<script id="settings" type="application\/json">(.*)<\/script>/.exec(text)![1]!)

test('forbids caching and framing the page, and runs only its own scripts', async () => {
  const { status, headers, text } = await get()
  expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('x-frame-options')).toBe('DENY')
  const policy = headers.get('content-security-policy')!
  expect(policy).toMatch(
    /^default-src 'none'; script-src 'nonce-[\w+/]{22}=='; worker-src 'self'; connect-src 'self'; /,
  )
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).not.toMatch(/https?:|\*|script-src[^;]*unsafe/)
  const nonce = /'nonce-([^']+)'/.exec(policy)![1]
  const scripts = [...text.matchAll(/<script(?! id="settings")([^>]*)>/g)]
  expect(scripts).toHaveLength(3)
  for (const [, attributes] of scripts) expect(attributes).toContain(`nonce="${nonce}"`)
  expect((await get()).headers.get('content-security-policy')).not.toBe(policy)
})

test('serves all assets from its own origin, below the path of the service', async () => {
  const { text } = await get()
  const { endpoint, headers, workers } = settingsIn(text)
  expect([endpoint, headers]).toEqual(['/ci/api/graphql', {}])
  const links = [...text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url]) => url!)
  const assets = [...links, ...Object.values<string>(workers)].filter((url) => url.startsWith('/'))
  expect(assets).toHaveLength(5)
  for (const url of assets) {
    expect(url).toMatch(/^\/ci\/-\/graphql-explorer\/assets\/\w+-[0-9a-f]{16}\.(js|css)$/)
    const asset = await get(url.replace('/ci/-/graphql-explorer', ''))
    expect([asset.status, asset.headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable'])
    expect(asset.text.length).toBeGreaterThan(100_000)
  }
  expect(links.filter((url) => !url.startsWith('/'))).toEqual([
    'data:,',
    'https://forge.example.test/ci/in?return_to=/-/graphql-explorer',
  ])
  expect((await get('/assets/graphiql-0000000000000000.js')).status).toBe(404)
})

test('answers HEAD with the headers of GET and no body', async () => {
  const { status, headers, text } = await get('', { method: 'HEAD' })
  expect([status, text, headers.get('content-type')]).toEqual([200, '', 'text/html; charset=utf-8'])
})

test('includes the CSRF token in the page for a valid session only', async () => {
  const root = await world.user('root', { isAdministrator: true })
  const password = 'correct horse 1'
  const person = { username: 'mira', name: 'Mira', email: 'mira@example.test', password, skipConfirmation: true }
  await world.perform(root, createUser, person)
  const visitor = newVisitorSecret(world.core)
  const outcome = await signIn(world.core, { login: 'mira', password, address: '127.0.0.1' }, visitor)
  if (outcome.kind !== 'signed_in') throw new Error(outcome.kind)
  const secret = outcome.sessionSecret

  const signedIn = await get('', { headers: { cookie: `_svc_session=${secret}` } })
  expect(settingsIn(signedIn.text).headers).toEqual({ 'X-CSRF-Token': csrfTokenOf(secret) })
  expect(signedIn.text).toContain('Signed in as <strong>mira</strong>.')
  expect(signedIn.text).not.toContain(secret)

  const unknown = await get('', { headers: { cookie: `_svc_session=${visitor}` } })
  expect(settingsIn(unknown.text).headers).toEqual({})
  expect(unknown.text).toContain('Not signed in')
})
