import { mkdtempSync, rmSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPostgres } from '@penstock/db'
import { openGatewayStore } from '@penstock/gateway'
import { type TemporaryDatabase, temporarySchema } from '@penstock/testkit'
import { sql } from 'kysely'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { penstock } from '../command-line.ts'
import { startSink } from '../gateway/accepting-sink.ts'
import { exportOnce } from '../gateway/export-client.ts'
import { metricLines } from '../gateway/metrics-page.ts'
import { ProcessGateway } from '../gateway/process-gateway.ts'
import { type RunningGateway, startGateway } from '../gateway/running-gateway.ts'
import { type SteppedGateway, startGatewayAt } from '../gateway/stepped-clock.ts'
import { until } from '../gateway/until.ts'
import { describeWithPostgres } from './describe-with-postgres.ts'
import { Relay } from './relay.ts'

/** The time within which a change must reach every process (T-13). */
const BOUND_MS = 2_000
const PEPPERS = `shared:${Buffer.alloc(32, 7).toString('base64')}`

describeWithPostgres('gateways on several hosts', (serverUrl) => {
  let schema: TemporaryDatabase
  let sinkUrl: string

  beforeEach(async () => {
    const created = await temporarySchema(serverUrl())
    // Runs after the gateways of the test have ended.
    onTestFinished(() => created.remove())
    schema = created
    sinkUrl = (await startSink()).url
  })

  /** Starts a gateway with a data directory of its own, as on a host of its own. */
  const start = (location = schema.location, env: Readonly<Record<string, string>> = {}): Promise<RunningGateway> =>
    startGateway({
      PENSTOCK_GATEWAY_DATABASE_URL: location,
      PENSTOCK_PEPPERS: PEPPERS,
      PENSTOCK_UPSTREAM: sinkUrl,
      ...env,
    })

  const codeOf = async (gateway: RunningGateway, token?: string) =>
    (await exportOnce(gateway.otlpPort, 'HTTP protobuf', token === undefined ? {} : { token })).code

  /** Waits until a gateway answers with a code, and returns how long that took. */
  async function timeUntil(gateway: RunningGateway, token: string | undefined, code: number): Promise<number> {
    const startMs = performance.now()
    await until(`the answer is ${code}`, async () => (await codeOf(gateway, token)) === code)
    return performance.now() - startMs
  }

  /** Ends the connections of the schema that listen, and returns their number. */
  async function endListeners(): Promise<number> {
    const server = openPostgres<object>(serverUrl())
    const name = new URL(schema.location).searchParams.get('application_name')
    const ended = await server.read.executeQuery<{ pid: number }>(
      sql`select pg_terminate_backend(pid, 5000) as ended from pg_stat_activity
        where application_name = ${name} and (query like 'listen %' or query = 'select 1')`.compile(server.read),
    )
    await server.close()
    return ended.rows.length
  }

  test('T-13: a token that one revokes, and enforcement that it changes, apply to the other within 2 s', async () => {
    const [one, other] = [await start(), await start()]
    await one.token({ name: 'kept' })
    const { id, token } = await one.token()
    await one.enforce(true)
    expect(await codeOf(other, token)).toBe(200)
    expect(await codeOf(other)).toBe(401)
    const revoked = await one.call<undefined>('DELETE', `/tokens/${id}`)
    expect(revoked.status).toBe(204)
    expect(await timeUntil(other, token, 401)).toBeLessThan(BOUND_MS)
    const { json } = await other.call<{ propagation: object }>('PUT', '/state', { enabled: false })
    expect(json.propagation).toEqual({ instances: 2, applied: 2 })
    expect(await codeOf(one, token)).toBe(200)
  })

  test('T-13: the same after the listening connections were ended, which come back', async () => {
    const [one, other] = [await start(), await start()]
    await one.token({ name: 'kept' })
    const { id, token } = await one.token()
    await one.enforce(true)
    expect(await endListeners()).toBe(2)
    await one.call('DELETE', `/tokens/${id}`)
    expect(await timeUntil(other, token, 401)).toBeLessThan(BOUND_MS)
    await until('both listen again', () => other.logs().includes('"store.notices_restored"'))
    expect(other.logs()).toContain('"store.notices_lost"')
  })

  test('T-13: the same after a firewall has dropped every connection of one without closing it', async () => {
    const relay = await Relay.to(schema.location)
    onTestFinished(() => relay.close())
    const [one, other] = [await start(), await start(relay.url)]
    await one.token({ name: 'kept' })
    const { id, token } = await one.token()
    await one.enforce(true)
    expect(await codeOf(other, token)).toBe(200)
    relay.stopForwarding()
    const startMs = performance.now()
    await Promise.all([one.call('DELETE', `/tokens/${id}`), timeUntil(other, token, 401)])
    expect(performance.now() - startMs).toBeLessThan(BOUND_MS + 500)
    expect(await timeUntil(other, token, 401)).toBeLessThan(100)
    // The process can also tell the others again that it follows.
    await until('both follow', async () => {
      const { json } = await one.call<readonly { state: string }[]>('GET', '/processes')
      return json.every(({ state }) => state === 'following')
    })
    relay.closeConnections()
  })

  test('T-13: changes of the command line and of one gateway reach every worker of another process', async () => {
    const env = { PENSTOCK_GATEWAY_DATABASE_URL: schema.location, PENSTOCK_PEPPERS: PEPPERS }
    const startProcess = () => ProcessGateway.start({ upstream: sinkUrl, env, args: ['--workers', '2'] })
    await using one = await startProcess()
    await using other = await startProcess()
    await one.token({ name: 'kept' })
    const { id, token } = await one.token()
    expect(await one.enforce(true)).toMatchObject({ propagation: { instances: 6, applied: 6 } })
    /** The workers take connections in turn, so several exports over new connections reach each of them. */
    const codes = async () => {
      const replies = Array.from({ length: 6 }, () => exportOnce(other.ports.http, 'HTTP protobuf', { token }))
      return [...new Set((await Promise.all(replies)).map(({ code }) => code))]
    }
    expect(await codes()).toEqual([200])
    const revoked = await penstock(['token', 'revoke', id, '--data-dir', one.dataDir], { env })
    expect(revoked.exitCode).toBe(0)
    expect(await codes()).toEqual([401])
    expect([await one.stop(), await other.stop()]).toEqual([0, 0])
  })

  test('an operator sees which gateways follow, and that a readiness report is about one of them', async () => {
    const [one, other] = [await start(), await start()]
    await one.token()
    type Processes = readonly { id: string; state: string; epoch: number }[]
    const { json } = await other.call<Processes>('GET', '/processes')
    expect(json.map(({ state, epoch }) => [state, epoch])).toEqual([
      ['following', 2],
      ['following', 2],
    ])
    for (const { id } of json) expect(id).toContain(hostname())
    const report = await one.call<{ processes: object }>('GET', '/readiness')
    expect(report.json.processes).toEqual({ reported: 1, live: 2 })
    const env = { PENSTOCK_GATEWAY_DATABASE_URL: schema.location, PENSTOCK_PEPPERS: PEPPERS }
    const doctor = await penstock(['doctor', '--data-dir', join(tmpdir(), 'no-such-directory')], { env })
    for (const { id } of json)
      expect(doctor.stdout).toContain(`ok    ${id} follows all changes: epoch 2, last sign of life`)
    await other.stop()
    expect((await one.call<Processes>('GET', '/processes')).json).toHaveLength(1)
  })

  test('T-14: while the database is away, telemetry goes on and changes get 503; both recover', async () => {
    const relay = await Relay.to(schema.location)
    onTestFinished(() => relay.close())
    const gateway = await start(relay.url)
    const { id, token } = await gateway.token()
    await gateway.enforce(true)
    await relay.refuseConnections()
    await until('the failure is noticed', () => gateway.logs().includes('"store.unreadable"'))
    expect(await codeOf(gateway, token)).toBe(200)
    expect(await codeOf(gateway)).toBe(401)
    for (const [method, path, body] of [
      ['POST', '/tokens', { name: 'new' }],
      ['PUT', '/state', { enabled: false }],
      ['DELETE', `/tokens/${id}`, undefined],
    ] as const) {
      const { status, json } = await gateway.call<{ error: { code: string } }>(method, path, body)
      expect([status, json.error.code]).toEqual([503, 'store_unavailable'])
    }
    const [age] = await metricLines(gateway, 'otelcol_ingestauth_snapshot_age_seconds')
    expect(Number(age!.split(' ').at(-1))).toBeGreaterThan(0)
    expect(await (await fetch(`${gateway.managementUrl}/readyz`)).text()).toMatch(/^ready, from memory/)

    await relay.acceptConnections()
    await until('the recovery is noticed', () => gateway.logs().includes('"store.recovered"'))
    await gateway.enforce(false)
    expect(await codeOf(gateway)).toBe(200)
    await until('changes are announced again', () => gateway.logs().includes('"store.notices_restored"'))
  })

  test('T-14: beyond maxStaleMs every request gets 503, and a process ends in good order', async () => {
    const relay = await Relay.to(schema.location)
    onTestFinished(() => relay.close())
    const gateway = await start(relay.url, { PENSTOCK_MAX_STALE_MS: '1500' })
    const { token } = await gateway.token()
    await gateway.enforce(true)
    expect(await codeOf(gateway, token)).toBe(200)
    await relay.refuseConnections()
    await timeUntil(gateway, token, 503)
    expect(await codeOf(gateway)).toBe(503)
    const ended = await gateway.stop()
    expect(ended.exitCode).toBe(0)
    expect(ended.stderr).toContain('"usage.lost"')
  })

  test('X-16: two gateways share a daily quota, and one may use what the other leaves', async () => {
    const env = {
      PENSTOCK_GATEWAY_DATABASE_URL: schema.location,
      PENSTOCK_PEPPERS: PEPPERS,
      PENSTOCK_UPSTREAM: sinkUrl,
    }
    let nowMs = Date.parse('2026-11-21T07:03:00Z')
    const gateways = [await startGatewayAt(nowMs, env), await startGatewayAt(nowMs, env)] as const
    const [one, other] = gateways
    const db = await openGatewayStore(schema.location)
    onTestFinished(() => db.close())
    const lastSigns = async () => {
      const rows = await db.read.selectFrom('gateway_instances').select(['id', 'seen_at_ms']).execute()
      return new Map(rows.map((row) => [row.id, row.seen_at_ms]))
    }
    /** Lets ten seconds pass, in steps after which each has given a sign of life, so that neither takes the other for dead. */
    const pass = async () => {
      for (let step = 0; step < 2; step += 1) {
        const before = await lastSigns()
        nowMs += 5_000
        await Promise.all(gateways.map((gateway) => gateway.advanceTo(nowMs)))
        // Signs of life have the time of the database, which differs from the stepped one by the same amount all the time.
        await until('both have given a sign of life', async () => {
          const signs = await lastSigns()
          return signs.size === 2 && [...signs].every(([id, seenAtMs]) => seenAtMs > (before.get(id) ?? 0))
        })
      }
    }
    /** Creates a token. The answer waits until both gateways use it, and a clock that stands still ends no wait. */
    const newToken = async (gateway: SteppedGateway, perDay: number) => {
      let created: { id: string; token: string } | undefined
      const creating = gateway.token({ limits: { all: { day: { requests: perDay } } } }).then((token) => {
        created = token
      })
      await until('the token is created', () => {
        for (const { clock } of gateways) clock.wakeEverySecondTasks()
        return created
      })
      await creating
      return created!
    }
    for (const gateway of gateways) {
      await until('a quota of one is refused because it cannot be divided by two', async () => {
        await pass()
        return (await codeOf(gateway, (await newToken(gateway, 1)).token)) === 429
      })
    }
    const { id, token } = await newToken(one, 10)
    let passed = 0
    const exportUntilRefused = async (gateway: RunningGateway) => {
      for (; (await codeOf(gateway, token)) === 200; passed += 1) expect(passed).toBeLessThan(10)
    }
    await exportUntilRefused(one)
    expect(passed).toBe(5)
    // The last request stays reserved for the other gateway.
    await until('one has used all but the last', async () => {
      await pass()
      await exportUntilRefused(one)
      return passed === 9
    })
    await until('the other refuses at once', async () => {
      await pass()
      const before = passed
      await exportUntilRefused(other)
      return passed === before
    })
    await until('the use is stored', async () => {
      await pass()
      const { json } = await other.call<{ usage_24h: { requests: number } }>('GET', `/tokens/${id}`)
      return json.usage_24h.requests === passed
    })
    expect(passed).toBeLessThanOrEqual(10)
  })

  describe('the start', () => {
    test('is refused without the pepper of the other host, and does not change its key', async () => {
      const one = await start()
      const { token } = await one.token()
      const foreign = `other:${Buffer.alloc(32, 9).toString('base64')}`
      await expect(start(schema.location, { PENSTOCK_PEPPERS: foreign })).rejects.toThrow(/not configured/)
      expect((await one.call('GET', '/tokens')).status).toBe(200)
      expect(await codeOf(one, token)).toBe(200)
    })

    test('is refused on a database with tables of something else', async () => {
      const db = openPostgres<object>(schema.location)
      await db.write((tx) => tx.schema.createTable('invoices').addColumn('id', 'integer').execute())
      await db.close()
      await expect(start()).rejects.toThrow(
        'penstock: cannot use the database of PENSTOCK_GATEWAY_DATABASE_URL: The database has tables of something else, such as invoices',
      )
    })

    test('is refused without the database, in one line that does not show the password', async () => {
      const away = 'postgres://penstock:open-sesame@127.0.0.1:1/gateway'
      await expect(start(away)).rejects.toThrow(
        /^the gateway did not start: penstock: cannot use the database of PENSTOCK_GATEWAY_DATABASE_URL: .+\(ECONNREFUSED\)\n$/,
      )
    })

    test('is refused on an empty database while the data directory has a plane that enforces', async () => {
      const dataDir = mkdtempSync(join(tmpdir(), 'penstock-gateways-'))
      onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
      const onSqlite = await startGateway({ PENSTOCK_DATA_DIR: dataDir, PENSTOCK_UPSTREAM: sinkUrl })
      await onSqlite.stop()
      await expect(start(schema.location, { PENSTOCK_DATA_DIR: dataDir })).rejects.toThrow(/penstock migrate --to/)
    })
  })
})
