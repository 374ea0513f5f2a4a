import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { freePort } from '../collector/free-port.ts'
import { finished, penstock, startPenstock } from '../command-line.ts'
import { CountingSink } from './counting-sink.ts'
import { damage } from './damaged-file.ts'
import { idOf, numberedBody } from './numbered-body.ts'
import { ProcessGateway } from './process-gateway.ts'

const MAX_STALE_MS = 4_000

async function exported(gateway: ProcessGateway, token: string | undefined) {
  const response = await fetch(`${gateway.otlpUrl}/v1/traces`, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-protobuf',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: numberedBody(idOf(1)),
  })
  await response.arrayBuffer()
  return { status: response.status, retryAfter: Number(response.headers.get('retry-after')) }
}

async function snapshotAgeSeconds(gateway: ProcessGateway): Promise<number> {
  const { text } = await gateway.page('/metrics')
  return Number(/^otelcol_ingestauth_snapshot_age_seconds\S* (\S+)$/m.exec(text)![1])
}

test('T-14: without a readable store it works from memory and reports so, then answers 503, then recovers', async () => {
  await using sink = await CountingSink.start()
  await using gateway = await ProcessGateway.start({
    upstream: sink.url,
    env: { PENSTOCK_MAX_STALE_MS: String(MAX_STALE_MS) },
  })
  const { id, token } = await gateway.token()
  await gateway.enforce(true)
  // Moves everything into the main file, so that the damage affects every read.
  const checkpointing = new Sqlite(join(gateway.dataDir, 'gateway.db'))
  checkpointing.pragma('wal_checkpoint(TRUNCATE)')
  checkpointing.close()
  const repair = damage(join(gateway.dataDir, 'gateway.db'))

  const failing = 'ready, from memory: the token store cannot be used\n'
  await expect.poll(() => gateway.page('/readyz')).toEqual({ status: 200, text: failing })
  expect((await exported(gateway, token)).status).toBe(200)
  expect((await exported(gateway, undefined)).status).toBe(401)
  for (const [method, path, body] of [
    ['GET', '/tokens', undefined],
    ['POST', '/tokens', { name: 'new' }],
    ['PUT', '/state', { enabled: false }],
    ['DELETE', `/tokens/${id}`, undefined],
  ] as const) {
    const { status, json, headers } = await gateway.call(method, path, body)
    expect([status, json.error.code, headers.get('retry-after')]).toEqual([503, 'store_unavailable', '2'])
  }

  await expect.poll(async () => (await exported(gateway, token)).status).toBe(503)
  const refused = [await exported(gateway, undefined), await exported(gateway, `${token}x`)]
  expect(refused.map(({ status }) => status)).toEqual([503, 503])
  for (const { retryAfter } of refused) expect(retryAfter).toBeGreaterThanOrEqual(1)
  expect(await gateway.page('/readyz')).toEqual({ status: 503, text: 'not ready: stale\n' })
  expect((await gateway.page('/livez')).status).toBe(200)
  expect(await snapshotAgeSeconds(gateway)).toBeGreaterThan(MAX_STALE_MS / 1_000)

  repair()
  await expect.poll(async () => (await exported(gateway, token)).status).toBe(200)
  expect((await exported(gateway, undefined)).status).toBe(401)
  expect(await gateway.page('/readyz')).toEqual({ status: 200, text: 'ready\n' })
  expect(await snapshotAgeSeconds(gateway)).toBeLessThan(3)
  expect((await gateway.call('GET', '/tokens')).status).toBe(200)
  const events = gateway.stderr.split('\n').filter((line) => line.includes('"store.'))
  expect(events.map((line) => JSON.parse(line).event)).toEqual(['store.unreadable', 'store.recovered'])
  expect(await gateway.stop()).toBe(0)
})

test('T-14: while the store is locked for writing, changes get 503 and telemetry continues', async () => {
  await using sink = await CountingSink.start()
  await using gateway = await ProcessGateway.start({ upstream: sink.url })
  const { token } = await gateway.token()
  await gateway.enforce(true)
  const locking = new Sqlite(join(gateway.dataDir, 'gateway.db'))
  locking.exec('begin immediate')
  const { status, json } = await gateway.call('PUT', '/state', { enabled: false })
  expect([status, json.error.code]).toEqual([503, 'store_unavailable'])
  expect((await exported(gateway, token)).status).toBe(200)
  expect((await exported(gateway, undefined)).status).toBe(401)
  locking.exec('rollback')
  locking.close()
  expect((await gateway.call('PUT', '/state', { enabled: false })).status).toBe(200)
  expect((await exported(gateway, undefined)).status).toBe(200)
})

describe('a start that fails prints one line, exits with 2 and opens no port', () => {
  let dataDir: string
  let ports: { http: number; grpc: number; management: number }
  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'penstock-start-'))
    ports = { http: await freePort(), grpc: await freePort(), management: await freePort() }
  })
  afterEach(() => rmSync(dataDir, { recursive: true }))

  async function attempt(more: Readonly<Record<string, string>> = {}, args: readonly string[] = []) {
    const child = startPenstock(['serve', 'gateway', ...args], {
      PENSTOCK_DATA_DIR: dataDir,
      PENSTOCK_OBS_LISTEN: `127.0.0.1:${ports.management}`,
      PENSTOCK_OTLP_HTTP_LISTEN: `127.0.0.1:${ports.http}`,
      PENSTOCK_OTLP_GRPC_LISTEN: `127.0.0.1:${ports.grpc}`,
      PENSTOCK_UPSTREAM: 'http://127.0.0.1:9',
      ...more,
    })
    const { exitCode, stdout, stderr } = await finished(child)
    const listening = await Promise.all(Object.values(ports).map(isListening))
    return { exitCode, stdout, stderr, listening }
  }
  const refused = (stderr: unknown) => ({ exitCode: 2, stdout: '', stderr, listening: [false, false, false] })

  test('for a file that is not a database', async () => {
    writeFileSync(join(dataDir, 'gateway.db'), 'x'.repeat(8_192), { mode: 0o600 })
    expect(await attempt()).toEqual(refused(`penstock: cannot use ${dataDir}/gateway.db: file is not a database\n`))
  })

  test('for a database of a newer version', async () => {
    await penstock(['token', 'create', '--name', 'x'], { env: { PENSTOCK_DATA_DIR: dataDir } })
    const database = new Sqlite(join(dataDir, 'gateway.db'))
    database.exec(`insert into kysely_migration (name, timestamp) values ('0099_later', '2026-11-21T00:00:00Z')`)
    database.close()
    const { stderr, ...rest } = await attempt()
    expect(rest).toEqual({ exitCode: 2, stdout: '', listening: [false, false, false] })
    expect(stderr).toMatch(/^penstock: cannot use \S+gateway\.db: .*0099_later.*\n$/)
  })

  test('for a database with tokens without their pepper', async () => {
    await penstock(['token', 'create', '--name', 'x'], { env: { PENSTOCK_DATA_DIR: dataDir } })
    rmSync(join(dataDir, 'pepper'))
    const { stderr, ...rest } = await attempt()
    expect(rest).toEqual({ exitCode: 2, stdout: '', listening: [false, false, false] })
    expect(stderr).toMatch(/^penstock: [^\n]*pepper[^\n]*\n$/)
  })

  test.each([
    ['an OTLP port', 'http', 'PENSTOCK_OTLP_HTTP_LISTEN', []],
    ['the second OTLP port', 'grpc', 'PENSTOCK_OTLP_GRPC_LISTEN', []],
    ['the management port', 'management', 'PENSTOCK_OBS_LISTEN', []],
    ['an OTLP port, with workers', 'http', 'PENSTOCK_OTLP_HTTP_LISTEN', ['--workers', '2']],
    ['the management port, with workers', 'management', 'PENSTOCK_OBS_LISTEN', ['--workers', '2']],
  ] as const)('if %s is in use', async (_name, taken, variable, args) => {
    const port = ports[taken]
    const other = createServer()
    await once(other.listen(port, '127.0.0.1'), 'listening')
    const { listening, ...rest } = await attempt({}, args)
    await closed(other)
    expect(rest).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: `penstock: cannot listen on 127.0.0.1:${port}: address already in use (${variable})\n`,
    })
    expect(listening.filter(Boolean)).toHaveLength(1)
  })

  test('for an unknown setting and an invalid value', async () => {
    expect(await attempt({ PENSTOCK_UPSTREM: 'http://x' })).toEqual(
      refused('penstock: unknown setting PENSTOCK_UPSTREM\n'),
    )
    expect(await attempt({ PENSTOCK_COALESCE: 'perhaps' })).toEqual(
      refused('penstock: PENSTOCK_COALESCE must be true or false\n'),
    )
  })

  test('for a data directory that is a file', async () => {
    const file = join(dataDir, 'file')
    writeFileSync(file, '')
    const { stderr, ...rest } = await attempt({ PENSTOCK_DATA_DIR: join(file, 'data') })
    expect(rest).toEqual({ exitCode: 2, stdout: '', listening: [false, false, false] })
    expect(stderr).toBe(`penstock: cannot use the data directory ${file}/data: not a directory\n`)
  })

  test('for a credential file or a certificate that cannot be read', async () => {
    const missing = join(dataDir, 'missing')
    for (const more of [
      { PENSTOCK_UPSTREAM_AUTHORIZATION_FILE: missing },
      { PENSTOCK_UPSTREAM_CA_FILE: missing },
      { PENSTOCK_TLS_CERT_FILE: missing, PENSTOCK_TLS_KEY_FILE: missing },
    ]) {
      expect(await attempt(more)).toEqual(refused(`penstock: cannot read ${missing}: no such file or directory\n`))
    }
  })
})

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

const closed = (server: Server) => new Promise((resolve) => server.close(resolve))
