import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Interrupted } from '../../packages/cli/src/environment.ts'
import { penstock, Sink } from '../command-line.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/rollout.md'), 'utf8')

interface Call {
  readonly method: string
  readonly url: string
  readonly headers: Record<string, string>
  readonly body: string | undefined
}

/** The curl commands of docs/rollout.md, in order. */
const calls: readonly Call[] = [...page.matchAll(/^curl ((?:.*\\\n)*.*)/gm)].map(([, text = '']) => {
  const words = text.replaceAll('\\\n', ' ').match(/"[^"]*"|'[^']*'|\S+/g) ?? []
  const plain = words.map((word) => word.replace(/^(["'])(.*)\1$/, '$2'))
  const after = (flag: string) => plain.flatMap((word, index) => (plain[index - 1] === flag ? [word] : []))
  const headers = after('-H').map((header) => header.split(': ', 2) as [string, string])
  return {
    method: after('-X')[0] ?? 'GET',
    url: plain.find((word) => word.startsWith('http'))!,
    headers: Object.fromEntries(headers),
    body: after('-d')[0],
  }
})

const API_KEY = 'the-first-admin-key-of-the-test'

let directory: string
let observabilityUrl: string
let gatewayUrl: string
let end: () => Promise<unknown>

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'rollout-'))
  const stop = new AbortController()
  const stderr = new Sink()
  const started = new Promise<void>((resolve, reject) => {
    const stdout = new Sink().onWrite(() => {
      const [, gate, api] = /OTLP on (\S+)[\s\S]* are on (http:\S+)\.\n/.exec(stdout.text) ?? []
      if (gate === undefined || api === undefined) return
      gatewayUrl = `http://${gate}`
      observabilityUrl = api
      resolve()
    })
    const env = {
      PENSTOCK_DATA_DIR: directory,
      PENSTOCK_OBS_LISTEN: '127.0.0.1:0',
      PENSTOCK_OTLP_HTTP_LISTEN: '127.0.0.1:0',
      PENSTOCK_OTLP_GRPC_LISTEN: '127.0.0.1:0',
      PENSTOCK_OBS_API_KEY: API_KEY,
    }
    const serving = penstock(['serve'], { env, stdout, stderr, signal: stop.signal })
    end = () => {
      stop.abort(new Interrupted('SIGINT'))
      return serving
    }
    void serving.then(({ exitCode }) => reject(new Error(`exit ${exitCode}: ${stderr.text}`)))
  })
  await started
})
afterEach(async () => {
  await end()
  rmSync(directory, { recursive: true })
})

async function curl(call: Call | undefined, variables: Record<string, string> = {}) {
  const filled = (text: string) =>
    text.replaceAll(/\$(\w+)/g, (_, name: string) => ({ OBS_API_KEY: API_KEY, ...variables })[name] ?? `no ${name}`)
  const { method, url, headers, body } = call!
  const response = await fetch(filled(url).replace('http://127.0.0.1:8081', observabilityUrl), {
    method,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, filled(value)])),
    ...(body !== undefined && { body: filled(body) }),
  })
  const text = await response.text()
  return { status: response.status, json: text === '' ? undefined : JSON.parse(text) }
}

async function exported(token?: string) {
  const { status, headers } = await fetch(`${gatewayUrl}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    body: '{}',
  })
  return [status, headers.has('retry-after')]
}

const ended = (path: string, method = 'GET', body = '') =>
  calls.find((call) => call.method === method && call.url.includes(path) && (call.body ?? '').includes(body))

test('docs/rollout.md: every command does what the page says, from open to token-only and back', async () => {
  expect(calls).toHaveLength(10)

  const created = await curl(ended('/tokens', 'POST'))
  expect(created).toMatchObject({ status: 201, json: { name: 'ci-runners', expires_at: null } })
  const { id, token } = created.json

  expect(await curl(ended('/state', 'PUT', '"report"'))).toMatchObject({ status: 200, json: { mode: 'report' } })
  expect([await exported(), await exported(token)]).toEqual([
    [200, false],
    [200, false],
  ])
  const readiness = await curl(ended('/readiness'))
  expect(readiness).toMatchObject({
    status: 200,
    json: { ready: false, requests: 2, would_reject: 1, clients: [{ reason: 'missing', signal: 'traces' }] },
  })
  expect(await curl(ended('/state', 'PUT', '"warn"'))).toMatchObject({ status: 200, json: { mode: 'warn' } })

  const enforce = ended('/state', 'PUT', 'true')!
  expect(await curl(enforce)).toMatchObject({ status: 409, json: { error: { code: 'not_ready' } } })
  const regardless = { ...enforce, url: enforce.url.replace('?require_ready=true', '') }
  expect(await curl(regardless)).toMatchObject({ status: 200, json: { enabled: true, mode: 'enforce' } })
  expect([await exported(), await exported(token)]).toEqual([
    [503, true],
    [200, false],
  ])

  const rotated = await curl(ended('/rotate', 'POST'), { TOKEN_ID: id })
  expect(rotated).toMatchObject({ status: 201, json: { name: 'ci-runners', supersedes: id } })
  expect([await exported(token), await exported(rotated.json.token)]).toEqual([
    [200, false],
    [200, false],
  ])
  expect((await curl(calls.find(({ method, url }) => method === 'GET' && url.endsWith('/tokens')))).json).toHaveLength(
    2,
  )
  expect(await curl(ended('/tokens/', 'PATCH'), { TOKEN_ID: id })).toMatchObject({
    status: 200,
    json: { expires_at: null },
  })
  expect(await curl(ended('/tokens/', 'DELETE'), { TOKEN_ID: id })).toMatchObject({ status: 204 })
  expect(await curl(ended('/tokens/', 'DELETE'), { TOKEN_ID: rotated.json.id })).toMatchObject({
    status: 409,
    json: { error: { code: 'last_valid_token' } },
  })

  expect(await curl(ended('/state', 'PUT', '{"enabled":false}'))).toMatchObject({ status: 200, json: { mode: 'off' } })
  expect(await exported()).toEqual([200, false])
})

test('a fresh installation with a token and no stranger is ready at once', async () => {
  await curl(ended('/tokens', 'POST'))
  expect(await curl(ended('/state', 'PUT', 'true'))).toMatchObject({ status: 200, json: { enabled: true } })
})
