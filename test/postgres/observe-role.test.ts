import { connect } from 'node:net'
import { hostname } from 'node:os'
import { type TemporaryDatabase, temporarySchema } from '@penstock/testkit'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { Chdb, describeWithChdb } from '../clickhouse/chdb.harness.ts'
import { exporterTables } from '../clickhouse/exporter-tables.ts'
import { penstock } from '../command-line.ts'
import { startSink } from '../gateway/accepting-sink.ts'
import { exportOnce } from '../gateway/export-client.ts'
import { PROCESS_ADMIN_KEY, ProcessGateway, type ProcessGatewayStart } from '../gateway/process-gateway.ts'
import { startGatewayAt } from '../gateway/stepped-clock.ts'
import { until } from '../gateway/until.ts'
import { describeWithPostgres } from './describe-with-postgres.ts'

/** The time within which a change must reach every process (T-13). */
const BOUND_MS = 2_000
const PEPPERS = `shared:${Buffer.alloc(32, 7).toString('base64')}`
const TRACE_ID = '1'.repeat(32)

type Processes = readonly { readonly id: string; readonly state: string; readonly epoch: number }[]

describeWithChdb('penstock serve observe', () => {
  let clickHouse: Chdb
  beforeAll(async () => {
    clickHouse = await Chdb.start()
    for (const statement of exporterTables) await clickHouse.run(statement)
    const run = {
      Timestamp: '1770000000.000000001',
      TraceId: TRACE_ID,
      SpanId: '2'.repeat(16),
      SpanName: 'RUN shop',
      ServiceName: 'ci',
      SpanAttributes: { 'cicd.pipeline.run.id': '7', 'cicd.pipeline.result': 'success' },
      Duration: '9',
    }
    await clickHouse.run('INSERT INTO otel_traces FORMAT JSONEachRow', JSON.stringify(run))
  }, 60_000)
  afterAll(() => clickHouse?.close())

  /** Returns the URL of the database for a user who may only read, as it is configured. */
  const clickHouseUrl = () => {
    const { url, database, username, password } = clickHouse.readOnlyAddress
    return `${url.replace('://', `://${username}:${encodeURIComponent(password!)}@`)}/${database}`
  }

  describeWithPostgres('beside gateways on one database', (serverUrl) => {
    let schema: TemporaryDatabase
    let upstream: string
    beforeEach(async () => {
      const created = await temporarySchema(serverUrl())
      onTestFinished(() => created.remove())
      schema = created
      upstream = (await startSink()).url
    })

    const shared = () => ({ PENSTOCK_GATEWAY_DATABASE_URL: schema.location, PENSTOCK_PEPPERS: PEPPERS })

    /** Starts a process with a data directory of its own, as on a host of its own, until the test ends. */
    async function start(options: ProcessGatewayStart): Promise<ProcessGateway> {
      const started = await ProcessGateway.start({ ...options, env: { ...shared(), ...options.env } })
      onTestFinished(() => started[Symbol.asyncDispose]())
      return started
    }
    const startGateway = () => start({ upstream })
    const startObserve = (env: Readonly<Record<string, string>> = {}) =>
      start({ role: 'observe', env: { PENSTOCK_OBSERVE_URL: clickHouseUrl(), ...env } })

    const codeOf = async (gateway: ProcessGateway, token?: string) =>
      (await exportOnce(gateway.ports.http, 'HTTP protobuf', token === undefined ? {} : { token })).code

    test('T-13: gateways obey its tokens and its switch within 2 s, and it lists them as following', {
      timeout: 60_000,
    }, async () => {
      const gateways = [await startGateway(), await startGateway()]
      const observe = await startObserve()
      await observe.token({ name: 'kept' })
      const { id, token } = await observe.token()
      expect(await observe.enforce(true)).toMatchObject({ propagation: { instances: 3, applied: 3 } })
      for (const gateway of gateways) {
        expect([await codeOf(gateway, token), await codeOf(gateway)]).toEqual([200, 401])
      }
      const startMs = performance.now()
      expect((await observe.call('DELETE', `/tokens/${id}`)).status).toBe(204)
      for (const gateway of gateways) {
        await until('the token is refused', async () => (await codeOf(gateway, token)) === 401)
      }
      expect(performance.now() - startMs).toBeLessThan(BOUND_MS)

      const processes: Processes = (await observe.call('GET', '/processes')).json
      expect(processes.map(({ state }) => state)).toEqual(['following', 'following', 'following'])
      expect(processes.map(({ id }) => id.replace(hostname(), 'host').split('-').slice(0, 2).join('-'))).toEqual([
        'api-host',
        'gate-host',
        'gate-host',
      ])
      // The clients of gateways are known to each gateway only, and the report says that it lacks them.
      const readiness = (await observe.call('GET', '/readiness')).json
      expect(readiness.processes).toEqual({ reported: 1, live: 3 })
      const doctor = await penstock(['doctor', '--data-dir', observe.dataDir], {
        env: { ...shared(), PENSTOCK_OBSERVE_URL: clickHouseUrl() },
      })
      for (const { id } of processes) expect(doctor.stdout).toContain(`ok    ${id} follows all changes`)
    })

    test('answers queries from ClickHouse, serves the console, health and metrics, and has no OTLP port', {
      timeout: 60_000,
    }, async () => {
      const observe = await startObserve({ PENSTOCK_OTLP_EXTERNAL_URL: 'https://otlp.example.com' })
      const pipelines = await observe.call('GET', '/api/v1/observe/pipelines')
      expect(pipelines.json).toMatchObject([{ trace_id: TRACE_ID, service: 'ci', pipeline_id: '7', status: 'success' }])
      const trace = await observe.call('GET', `/api/v1/observe/traces/${TRACE_ID}`)
      expect(trace.text).toContain('RUN shop')
      expect((await observe.call('GET', '/api/v1/observe/live?kind=pipelines')).json.error.code).toBe('not_supported')
      expect((await observe.page('/api/v1/observe/pipelines')).status).toBe(401)
      expect((await observe.page('/pipelines')).text).toContain('<!doctype html>')
      expect(await observe.page('/readyz')).toEqual({ status: 200, text: 'ready\n' })
      expect((await observe.page('/metrics')).text).toMatch(/^otelcol_ingestauth_epoch \d/m)
      for (const port of [observe.ports.http, observe.ports.grpc]) expect(await isRefused(port)).toBe(true)
      const { status, json } = await signIn(observe)
      expect([status, json.observe, json.ingest]).toEqual([
        201,
        { connected: true },
        { otlp_url: 'https://otlp.example.com' },
      ])
      expect(observe.stdout).toContain('Penstock shows the telemetry in ClickHouse.')
      expect(observe.stdout).not.toContain('takes OTLP on')
      expect(observe.stdout + observe.stderr).not.toContain(clickHouse.address.password)
    })

    test('replicas share API keys, and the session of one is valid at the other until its key is revoked', {
      timeout: 60_000,
    }, async () => {
      const [one, other] = [await startObserve(), await startObserve()]
      const { json: key } = await one.call('POST', '/api/v1/api_keys', { name: 'mira', role: 'Viewer' })
      expect((await other.call('GET', '/state', undefined, key.key)).status).toBe(200)
      const { cookie } = await signIn(one, key.key)
      const statusAtOther = async () =>
        (await fetch(`${other.managementUrl}/api/v1/observe/services`, { headers: { cookie } })).status
      expect(await statusAtOther()).toBe(200)
      expect((await one.call('DELETE', `/api/v1/api_keys/${key.id}`)).status).toBe(204)
      expect(await statusAtOther()).toBe(401)
    })

    test('SIGTERM: it reports not ready while the delay lasts, ends with 0, and is not listed any more', {
      timeout: 60_000,
    }, async () => {
      const gateway = await startGateway()
      const observe = await startObserve({ PENSTOCK_DRAIN_DELAY_MS: '1500' })
      observe.kill('SIGTERM')
      await until('it is not ready', async () => (await observe.page('/readyz')).text === 'not ready: draining\n')
      expect((await observe.call('GET', '/api/v1/observe/services')).status).toBe(200)
      expect(await observe.exited()).toBe(0)
      const processes: Processes = (await gateway.call('GET', '/processes')).json
      expect(processes.map(({ id }) => id.slice(0, 5))).toEqual(['gate-'])
      expect((await gateway.enforce(false)).propagation).toEqual({ instances: 1, applied: 1 })
    })

    test('O-9: leaves announcing expiries to the gateways, which have the webhook', async () => {
      const startMs = Date.parse('2026-11-21T07:03:00Z')
      const laterMs = startMs + 6 * 86_400_000
      const receiver = await startSink(() => ({ play: 'reply', status: 204 }))
      const webhook = { PENSTOCK_EXPIRY_WEBHOOK_URL: receiver.url }
      const gateway = await startGatewayAt(startMs, { ...shared(), ...webhook, PENSTOCK_UPSTREAM: upstream })
      const env = { ...shared(), PENSTOCK_OBSERVE_URL: clickHouseUrl() }
      const observe = await startGatewayAt(startMs, env, 'observe')
      const token = gateway.token({ expires_at: '2026-12-11T07:03:00Z' })
      // The clock stands still, so the answer would wait for the other process to read the change.
      let created: { readonly id: string } | undefined
      const creating = token.then((answer) => {
        created = answer
      })
      const { id } = await until('the token is created', () => {
        for (const { clock } of [gateway, observe]) clock.wakeEverySecondTasks()
        return created
      })
      await creating
      await observe.advanceTo(laterMs)
      await gateway.advanceTo(laterMs)
      await receiver.received(1)
      expect(JSON.parse(Buffer.from(receiver.requests[0]!.body).toString())).toMatchObject({ token_id: id })
      expect(observe.logs()).not.toContain('"token.expiring"')
      for (const { clock } of [gateway, observe]) clock.resume()
    })

    test('is refused with another pepper', { timeout: 60_000 }, async () => {
      await startGateway()
      const foreign = `other:${Buffer.alloc(32, 9).toString('base64')}`
      await expect(startObserve({ PENSTOCK_PEPPERS: foreign })).rejects.toThrow(/not configured/)
    })
  })

  async function signIn(at: ProcessGateway, key = PROCESS_ADMIN_KEY) {
    const response = await fetch(`${at.managementUrl}/api/v1/session`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ api_key: key }),
    })
    const cookie = String(response.headers.get('set-cookie')).split(';')[0]!
    const json = (await response.json()) as { readonly observe?: object; readonly ingest?: object }
    return { status: response.status, json, cookie }
  }
})

describe('penstock serve observe ends with 2', () => {
  const clickHouse = { PENSTOCK_OBSERVE_URL: 'http://reader@127.0.0.1:1/otel' }
  const database = { PENSTOCK_GATEWAY_DATABASE_URL: 'postgres://penstock:open-sesame@127.0.0.1:1/gateway' }
  const run = (env: Readonly<Record<string, string>>, ...flags: string[]) =>
    penstock(['serve', 'observe', ...flags], { env })
  const needsClickHouse =
    'PENSTOCK_OBSERVE_URL (the ClickHouse database to query; an embedded store belongs to the process that writes it)'
  const needsDatabase =
    'PENSTOCK_GATEWAY_DATABASE_URL (the PostgreSQL database of the gateways; gateway.db belongs to the gateways on its machine)'

  test.each([
    { without: 'ClickHouse', env: database, message: `serve observe needs ${needsClickHouse}` },
    { without: 'PostgreSQL', env: clickHouse, message: `serve observe needs ${needsDatabase}` },
    { without: 'both', env: {}, message: `serve observe needs ${needsClickHouse} and ${needsDatabase}` },
  ])('without $without, and names what to set', async ({ env, message }) => {
    expect(await run(env)).toMatchObject({ exitCode: 2, stdout: '', stderr: `penstock: ${message}\n` })
  })

  test('with --workers or --sample, which it cannot obey', async () => {
    for (const flags of [['--workers', '2'], ['--sample']]) {
      const { exitCode, stderr } = await run({ ...clickHouse, ...database }, ...flags)
      expect([exitCode, stderr]).toEqual([2, 'penstock: serve observe has neither --sample nor --workers\n'])
    }
  })

  test('while the database is away, without showing its password', async () => {
    const { exitCode, stderr } = await run({ ...clickHouse, ...database })
    expect(exitCode).toBe(2)
    expect(stderr).toContain('cannot use the database of PENSTOCK_GATEWAY_DATABASE_URL')
    expect(stderr).not.toContain('open-sesame')
  })
})

/** Returns whether nothing listens on a port. */
const isRefused = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(false)).once('error', () => resolve(true))
    socket.once('close', () => socket.destroy())
  })
