import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPostgres } from '@penstock/db'
import {
  connectToStore,
  createApiKey,
  createSignInCode,
  createToken,
  type GatewayDb,
  openGatewayStore,
  openPeppers,
  revokeToken,
} from '@penstock/gateway'
import { systemClock } from '@penstock/runtime'
import { type TemporaryDatabase, temporarySchema } from '@penstock/testkit'
import { sql } from 'kysely'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { Interrupted } from '../../packages/cli/src/process/environment.ts'
import { operatorContext } from '../../packages/cli/src/serve/operator.ts'
import { readSettings } from '../../packages/cli/src/settings/read-settings.ts'
import { publishEpoch } from '../../packages/gateway/src/store/instances.ts'
import { movePlane } from '../../packages/gateway/src/store/move-plane.ts'
import { recordUse } from '../../packages/gateway/src/tokens/usage-store.ts'
import { penstock, Sink } from '../command-line.ts'
import { startSink } from '../gateway/accepting-sink.ts'
import { exportOnce } from '../gateway/export-client.ts'
import { startGateway } from '../gateway/running-gateway.ts'
import { describeWithPostgres } from './describe-with-postgres.ts'
import { Relay } from './relay.ts'

const TOKENS = 1_200

describeWithPostgres('penstock migrate --to', (serverUrl) => {
  let target: TemporaryDatabase
  let dataDir: string
  /** A token that is valid, and one that was revoked. */
  let valid: { id: string; token: string }
  let revoked: { id: string; token: string }

  beforeEach(async () => {
    const schema = await temporarySchema(serverUrl())
    onTestFinished(() => schema.remove())
    target = schema
    dataDir = mkdtempSync(join(tmpdir(), 'penstock-move-'))
    onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
    await withSource(async (db) => {
      const peppers = await openPeppers(db, { dataDir, randomBytes })
      const propagate = async () => ({ instances: 0, applied: 0 })
      const context = operatorContext({ db, peppers }, readSettings(undefined, {}), systemClock, propagate)
      await createApiKey(context, { name: 'ops', role: 'Admin' })
      await createSignInCode(context)
      valid = await createToken(context, { name: 'CI „Läufer“', limits: { all: { day: { requests: 5 } } } })
      revoked = await createToken(context, { name: 'old', description: 'x', tags: { team: 'a' } })
      await revokeToken(context, { id: revoked.id })
      const use = { signal: 'traces', requests: 3, bytes: 9_007_199_254_740_991, rejected: 0 } as const
      await recordUse(db, [{ ...use, tokenId: valid.id, lastUsedAtMs: systemClock.nowMs() }])
      await addTokens(db, TOKENS - 2)
      await db.write((tx) => tx.updateTable('enforcement').set({ mode: 'enforce' }).execute())
    })
  })

  const randomBytes = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes))

  async function withSource<Result>(work: (db: GatewayDb) => Promise<Result>): Promise<Result> {
    const db = await openGatewayStore(join(dataDir, 'gateway.db'))
    return work(db).finally(() => db.close())
  }

  /** Adds copies of the first token, so that the table has several pages. */
  async function addTokens(db: GatewayDb, count: number): Promise<void> {
    await db.write(async (tx) => {
      const { position, ...row } = await tx.selectFrom('ingest_tokens').selectAll().executeTakeFirstOrThrow()
      for (let index = 0; index < count; index += 1) {
        const values = { ...row, id: String(index).padStart(12, '0'), mac: Buffer.from(randomBytes(32)) }
        await tx.insertInto('ingest_tokens').values(values).execute()
      }
      // The number of a deleted row must not be given to another one.
      await tx
        .deleteFrom('ingest_tokens')
        .where('id', '=', String(count - 1).padStart(12, '0'))
        .execute()
      await tx
        .insertInto('ingest_tokens')
        .values({ ...row, id: 'lastlastlast', mac: Buffer.from(randomBytes(32)) })
        .execute()
      await tx.deleteFrom('ingest_tokens').where('id', '=', 'lastlastlast').execute()
    })
  }

  const move = (to = target.location, signal = new AbortController().signal, stderr = new Sink()) =>
    penstock(['migrate', '--to', to, '--data-dir', dataDir], { signal, stderr })

  async function inTarget<Row>(query: ReturnType<typeof sql<Row>>): Promise<Row[]> {
    const db = openPostgres<object>(target.location)
    return (await query.execute(db.read).finally(() => db.close())).rows
  }

  /** Starts a gateway on the target, with the pepper of the data directory. */
  const startOnTarget = async () =>
    startGateway({
      PENSTOCK_DATA_DIR: dataDir,
      PENSTOCK_GATEWAY_DATABASE_URL: target.location,
      PENSTOCK_UPSTREAM: (await startSink()).url,
    })

  test('moves the plane, so that a gateway on the target decides as before, and retires the file', async () => {
    const moved = await move()
    expect(moved).toMatchObject({ exitCode: 0, stdout: '' })
    expect(moved.stderr).toMatch(/^ingest_tokens: 1,199 rows, 1,199 copied now, SHA-256 sum [0-9a-f]{64}$/m)
    expect(moved.stderr).toMatch(/^enforcement: 1 row/m)
    expect([existsSync(join(dataDir, 'gateway.db')), existsSync(join(dataDir, 'gateway.db.moved'))]).toEqual([
      false,
      true,
    ])
    const gateway = await startOnTarget()
    const codes = []
    for (const token of [valid.token, revoked.token, undefined]) {
      codes.push((await exportOnce(gateway.otlpPort, 'HTTP protobuf', token === undefined ? {} : { token })).code)
    }
    expect(codes).toEqual([200, 401, 401])
    await gateway.token({ name: 'first after the move' })
    const [last] = await inTarget(sql<{ position: number }>`select max(position) as position from ingest_tokens`)
    expect(last!.position).toBe(TOKENS + 2)
  })

  test('continues after an interruption, while no gateway opens the unfinished target', async () => {
    const interruption = new AbortController()
    const stderr = new Sink().onWrite((text) => {
      if (text.startsWith('api_keys')) interruption.abort(new Interrupted('SIGINT'))
    })
    expect((await move(target.location, interruption.signal, stderr)).exitCode).toBe(130)
    expect(existsSync(join(dataDir, 'gateway.db'))).toBe(true)
    renameSync(join(dataDir, 'gateway.db'), join(dataDir, 'aside'))
    await expect(startOnTarget()).rejects.toThrow(/A move into this database is not finished/)
    renameSync(join(dataDir, 'aside'), join(dataDir, 'gateway.db'))
    const again = await move()
    expect(again.exitCode).toBe(0)
    expect(again.stderr).toMatch(/^api_keys: 1 rows?, 0 copied now/m)
    expect(again.stderr).toMatch(/^ingest_tokens: 1,199 rows, 1,199 copied now/m)
  })

  test('continues within a table, with the page after the last one that was copied', async () => {
    const store = connectToStore(target.location)
    const interruption = new AbortController()
    const countTokens = async () => (await store.read.selectFrom('ingest_tokens').select('id').execute()).length
    const write: typeof store.write = async (work, options) => {
      const result = await store.write(work, options)
      if ((await countTokens().catch(() => 0)) === 1_000) interruption.abort(new Interrupted('SIGINT'))
      return result
    }
    await withSource(async (source) => {
      const moving = movePlane({
        source,
        target: { ...store, write },
        nowMs: () => systemClock.nowMs(),
        signal: interruption.signal,
        onTable: async () => {},
      })
      await expect(moving).rejects.toBeInstanceOf(Interrupted)
    })
    await store.close()
    const again = await move()
    expect(again.exitCode).toBe(0)
    expect(again.stderr).toMatch(/^ingest_tokens: 1,199 rows, 199 copied now/m)
  })

  test('copies a table again if its source has changed since an interruption', async () => {
    const interruption = new AbortController()
    const stderr = new Sink().onWrite((text) => {
      if (text.startsWith('token_usage')) interruption.abort(new Interrupted('SIGINT'))
    })
    expect((await move(target.location, interruption.signal, stderr)).exitCode).toBe(130)
    await withSource((db) =>
      db.write((tx) => tx.updateTable('ingest_tokens').set({ revoked_at_ms: 1 }).where('id', '=', valid.id).execute()),
    )
    const again = await move()
    expect(again.exitCode).toBe(0)
    expect(again.stderr).toMatch(/^ingest_tokens: 1,199 rows, 1,199 copied now/m)
    expect(await inTarget(sql`select revoked_at_ms from ingest_tokens where id = ${valid.id}`)).toEqual([
      { revoked_at_ms: 1 },
    ])
  })

  test('recognises a move that was completed before its file could be retired', async () => {
    expect((await move()).exitCode).toBe(0)
    renameSync(join(dataDir, 'gateway.db.moved'), join(dataDir, 'gateway.db'))
    const again = await move()
    expect(again.exitCode).toBe(0)
    expect(again.stderr).toMatch(/^ingest_tokens: 1,199 rows, 0 copied now/m)
  })

  test('ends with 1 if the target goes away, and continues when it is back', async () => {
    const relay = await Relay.to(target.location)
    onTestFinished(() => relay.close())
    const stderr = new Sink().onWrite((text) => {
      if (text.startsWith('api_keys')) void relay.refuseConnections()
    })
    const cut = await move(relay.url, new AbortController().signal, stderr)
    expect(cut.exitCode).toBe(1)
    expect(cut.stderr).toMatch(/^penstock: the move is not finished: The database cannot be reached/m)
    await relay.acceptConnections()
    expect((await move(relay.url)).exitCode).toBe(0)
  })

  test('refuses a second move into the same target while the first one runs, which completes', async () => {
    let second: ReturnType<typeof move> | undefined
    const target2 = connectToStore(target.location)
    onTestFinished(() => target2.close())
    await withSource((source) =>
      movePlane({
        source,
        target: target2,
        nowMs: () => systemClock.nowMs(),
        signal: new AbortController().signal,
        onTable: async () => {
          second ??= move()
          await second
        },
      }),
    )
    const line = 'Another penstock migrate --to is moving into this database: wait until it has ended'
    expect(await second).toMatchObject(refusal(line))
    expect(existsSync(join(dataDir, 'gateway.db'))).toBe(true)
    const again = await move()
    expect(again.exitCode).toBe(0)
    expect(again.stderr).toMatch(/^ingest_tokens: 1,199 rows, 0 copied now/m)
  })

  test('two moves that begin together: one completes, and the other is refused', async () => {
    const outcomes = await Promise.all([move(), move()])
    expect(outcomes.map(({ exitCode }) => exitCode).toSorted()).toEqual([0, 2])
    const lines = outcomes.map(({ stderr }) => stderr)
    expect(lines.some((text) => text.includes('Another penstock migrate --to is moving into this database'))).toBe(true)
    expect(existsSync(join(dataDir, 'gateway.db.moved'))).toBe(true)
  })

  test('a move that loses its lock on the target stops, and continues', async () => {
    const endLock = async () => {
      const db = openPostgres<object>(serverUrl())
      await sql`select pg_terminate_backend(pid, 5000) from pg_locks
        where locktype = 'advisory' and classid = 1885697140`.execute(db.read)
      await db.close()
    }
    const store = connectToStore(target.location)
    await withSource(async (source) => {
      const moving = movePlane({
        source,
        target: store,
        nowMs: () => systemClock.nowMs(),
        signal: new AbortController().signal,
        onTable: async ({ name }) => {
          if (name === 'api_keys') await endLock()
        },
      })
      await expect(moving).rejects.toThrow(/terminating connection|cannot be reached/)
    })
    await store.close()
    expect((await move()).exitCode).toBe(0)
  })

  test('doctor checks the database of the gateway, and reports a file that is not used any more', async () => {
    const env = { PENSTOCK_GATEWAY_DATABASE_URL: target.location }
    const findings = async () => (await penstock(['doctor', '--data-dir', dataDir], { env })).stdout
    const name = 'the database of PENSTOCK_GATEWAY_DATABASE_URL'
    expect(await findings()).toMatch(new RegExp(`^note  ${name} lacks 0001_gateway, .+ adds them$`, 'm'))
    expect(await findings()).toMatch(/^note {2}\S+gateway\.db is not used/m)
    await move()
    expect(await findings()).toMatch(new RegExp(`^ok    ${name} is up to date: its schema is \\w+$`, 'm'))
  })

  const refusal = (line: string) => ({ exitCode: 2, stdout: '', stderr: `penstock: ${line}\n` })

  test('refuses a target with another plane, or with tables of something else, and changes nothing', async () => {
    const db = await openGatewayStore(target.location)
    const key = { name: 'theirs', mac: Buffer.alloc(32, 1), pepper_id: 'x', role: 'Admin', created_at_ms: 1 } as const
    await db.write((tx) =>
      tx
        .insertInto('api_keys')
        .values({ ...key, id: 'abcdefghijkl' })
        .execute(),
    )
    expect(await move()).toMatchObject(
      refusal('The database is that of another gateway: the target of a move must be empty'),
    )
    expect(await db.read.selectFrom('api_keys').select('id').execute()).toEqual([{ id: 'abcdefghijkl' }])
    await db.close()
    const schema = await temporarySchema(serverUrl())
    onTestFinished(() => schema.remove())
    const foreign = openPostgres<object>(schema.location)
    await foreign.write((tx) => tx.schema.createTable('invoices').addColumn('id', 'integer').execute())
    await foreign.close()
    const line =
      'The database has tables of something else, such as invoices: the gateway needs a database or a schema of its own'
    expect(await move(schema.location)).toMatchObject(refusal(line))
    expect(existsSync(join(dataDir, 'gateway.db'))).toBe(true)
  })

  test('refuses while a gateway runs on the data directory', async () => {
    await withSource((db) => publishEpoch(db, 'gate-1', 1, systemClock.nowMs()))
    const line = 'A gateway runs on the data directory: stop it, wait ten seconds, and run the same command again'
    expect(await move()).toMatchObject(refusal(line))
    expect(await inTarget(sql`select tablename from pg_tables where schemaname = current_schema()`)).toEqual([])
  })

  test('refuses a target that cannot be reached, without its password, and other locations', async () => {
    const away = await move('postgres://penstock:open-sesame@127.0.0.1:1/gateway')
    expect(away).toMatchObject(
      refusal('cannot use the database of --to: The database cannot be reached (ECONNREFUSED)'),
    )
    expect(await move('mysql://x')).toMatchObject(
      refusal('--to must be a URL that starts with postgres:// or postgresql://'),
    )
  })

  test('a data directory of which the plane was moved is not used again without its database', async () => {
    expect((await move()).exitCode).toBe(0)
    const line = `the gateway store of ${dataDir} was moved to PostgreSQL: set PENSTOCK_GATEWAY_DATABASE_URL, or rename ${dataDir}/gateway.db.moved to go back`
    expect(await move()).toMatchObject(refusal(line))
    expect(await penstock(['token', 'create', '--name', 'x', '--data-dir', dataDir])).toMatchObject(refusal(line))
    const env = { PENSTOCK_GATEWAY_DATABASE_URL: target.location }
    const created = await penstock(['token', 'create', '--name', 'x', '--data-dir', dataDir], { env })
    expect(created.exitCode).toBe(0)
  })
})
