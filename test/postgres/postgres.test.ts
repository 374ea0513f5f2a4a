import { once } from 'node:events'
import { connect, createServer, Socket } from 'node:net'
import { type Db, isUnavailable, migrate, openDatabase, openPostgres, type PostgresOptions } from '@penstock/db'
import { type TemporaryDatabase, temporarySchema } from '@penstock/testkit'
import { type Kysely, sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { describeDb } from '../../packages/db/src/db.case.ts'
import { describeWithPostgres } from './describe-with-postgres.ts'

interface Tables {
  notes: { id: number; text: string }
}

describeWithPostgres('PostgreSQL', (serverUrl) => {
  describeDb('conformance', async () => {
    const { location, remove } = await temporarySchema(serverUrl())
    return { open: (options) => openPostgres(location, options), remove }
  })

  describe('of its own', () => {
    let schema: TemporaryDatabase
    let db: Db<Tables>

    beforeEach(async () => {
      schema = await temporarySchema(serverUrl())
      db = openPostgres(schema.location)
      await db.write((tx) =>
        tx.schema
          .createTable('notes')
          .addColumn('id', 'integer', (column) => column.primaryKey())
          .addColumn('text', 'text')
          .execute(),
      )
    })

    afterEach(async () => {
      await db.close()
      await schema.remove()
    })

    const insert = (id: number, into = db) =>
      into.write((tx) => tx.insertInto('notes').values({ id, text: 'note' }).execute())
    const ids = async () =>
      (await db.read.selectFrom('notes').select('id').orderBy('id').execute()).map((row) => row.id)
    const whether = (attempt: Promise<unknown>) => attempt.then(() => 'worked', isUnavailable)
    const backendOf = async (on: Kysely<Tables>) =>
      (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(on)).rows[0]!.pid
    const terminate = (pid: number) => sql`select pg_terminate_backend(${sql.lit(pid)}, 5000)`.execute(db.read)

    async function withOptions<Result>(options: PostgresOptions, work: (other: Db<Tables>) => Promise<Result>) {
      const other = openPostgres<Tables>(schema.location, options)
      return work(other).finally(() => other.close())
    }

    test('what tables there are is told while a schema of others is dropped', async () => {
      const theirs = await temporarySchema(serverUrl())
      const other = openPostgres<object>(theirs.location)
      await other.write((tx) => tx.schema.createTable('pages').addColumn('id', 'integer').execute())
      await other.close()
      const tables = await db.read
        .transaction()
        .setIsolationLevel('repeatable read')
        .execute(async (before) => {
          await sql`select 1`.execute(before)
          await theirs.remove()
          return before.introspection.getTables()
        })
      expect(tables.map(({ name }) => name)).toEqual(['notes'])
    })

    test('a write whose statement failed is not passed off as kept', async () => {
      await insert(1)
      const swallowing = db.write(async (tx) => {
        await tx.insertInto('notes').values({ id: 2, text: 'before' }).execute()
        await tx
          .insertInto('notes')
          .values({ id: 1, text: 'again' })
          .execute()
          .catch(() => {})
      })
      await expect(swallowing).rejects.toThrow('Nothing was kept')
      await insert(3)
      expect(await ids()).toEqual([1, 3])
    })

    test('a connection that ends inside a write: it fails, nothing of it is kept, and the next one works', async () => {
      const broken = db.write(async (tx) => {
        await tx.insertInto('notes').values({ id: 1, text: 'half' }).execute()
        await terminate(await backendOf(tx))
        await tx.insertInto('notes').values({ id: 2, text: 'half' }).execute()
      })
      expect(await whether(broken)).toBe(true)
      await insert(3)
      expect(await ids()).toEqual([3])
    })

    test('connections that end while nobody uses them are replaced', async () => {
      const others = await db.write((tx) => backendOf(tx))
      await terminate(others)
      await insert(1)
      expect(await ids()).toEqual([1])
    })

    test('a writer waits for that of another process no longer than it may', async () => {
      await withOptions({ lockLimitMs: 50 }, async (other) => {
        const refused = await db.write(() => whether(insert(1, other)))
        expect(refused).toBe(true)
        await insert(2, other)
      })
      expect(await ids()).toEqual([2])
    })

    test('writers of other schemas are not waited for', async () => {
      const elsewhere = await temporarySchema(serverUrl())
      const neighbour = openPostgres<Tables>(elsewhere.location, { lockLimitMs: 50 })
      expect(await db.write(() => whether(neighbour.write(async () => {})))).toBe('worked')
      await neighbour.close()
      await elsewhere.remove()
    })

    test('a statement takes no longer than it may; a migration as long as it takes', async () => {
      await withOptions({ statementLimitMs: 50, lockLimitMs: 50 }, async (other) => {
        const slow = (on: Kysely<Tables>) => sql`select pg_sleep(0.2)`.execute(on)
        expect(await whether(slow(other.read))).toBe(true)
        expect(await whether(other.write(slow))).toBe(true)
        const holding = db.write(slow)
        const migrated = migrate(other, {
          '0001_slow': { up: async (tx) => void (await sql`select pg_sleep(0.2)`.execute(tx)) },
        })
        expect(await whether(Promise.all([holding, migrated]))).toBe('worked')
      })
    })

    test('a server that falls silent is given up, and the next write finds another connection', async () => {
      const relay = await Relay.to(schema.location)
      const through = openPostgres<Tables>(relay.url, { statementLimitMs: 100 })
      await insert(1, through)
      const attempt = through.write(async (tx) => {
        relay.fallSilent()
        await tx.insertInto('notes').values({ id: 2, text: 'lost' }).execute()
      })
      expect(await whether(attempt)).toBe(true)
      relay.forget()
      await insert(3, through)
      await through.close()
      relay.close()
      expect(await ids()).toEqual([1, 3])
    })

    test('what befalls a connection after the pool has ended it is no trouble of a write on the next', async () => {
      const relay = await Relay.to(schema.location)
      const through = openPostgres<Tables>(relay.url)
      // To have the first socket at hand; it connects as ever.
      const connecting = vi.spyOn(Socket.prototype, 'connect')
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
      onTestFinished(() => void vi.useRealTimers())
      await insert(1, through)
      const socket = connecting.mock.contexts[0] as Socket
      connecting.mockRestore()
      // It is waited for the other side to end it too.
      relay.fallSilent()
      vi.advanceTimersByTime(60_000)
      vi.useRealTimers()
      await through.write(async (tx) => {
        expect([socket.writableEnded, socket.destroyed]).toEqual([true, false])
        await new Promise((resolve) => socket.once('close', resolve).destroy(new Error('ETIMEDOUT')))
        await tx.insertInto('notes').values({ id: 2, text: 'note' }).execute()
      })
      await through.close()
      relay.close()
      expect(await ids()).toEqual([1, 2])
    })

    test('a connection that ends while its write asks nothing of it ends the write', async () => {
      const broken = db.write(async (tx) => {
        await terminate(await backendOf(tx))
        await new Promise(() => {})
      })
      expect(await whether(broken)).toBe(true)
      await insert(1)
      expect(await ids()).toEqual([1])
    })

    test('integers have 64 bits also where they are added later', async () => {
      await db.write((tx) => tx.schema.alterTable('notes').addColumn('bytes', 'integer').execute())
      await db.write((tx) => sql`insert into notes values (1, 'big', 5000000000)`.execute(tx))
      const { rows } = await sql<{ bytes: number }>`select bytes from notes`.execute(db.read)
      expect(rows).toEqual([{ bytes: 5_000_000_000 }])
    })
  })

  test('who cannot get in: unavailable', async () => {
    const url = new URL(serverUrl())
    url.pathname = '/nobody_made_this'
    const db = openPostgres<Tables>(url.href)
    const refused = await sql`select 1`.execute(db.read).catch((error: unknown) => error)
    expect([(refused as { code?: string }).code, isUnavailable(refused)]).toEqual(['3D000', true])
    await db.close()
  })
})

test('nobody listens: unavailable, and no word of the password', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  const db = openPostgres<Tables>(`postgres://penstock:s3cret@127.0.0.1:${port}/penstock`)
  const error = await db.write(async () => {}).catch((refused: unknown) => refused)
  expect(isUnavailable(error)).toBe(true)
  expect(String((error as Error).stack) + String((error as Error).cause)).not.toContain('s3cret')
  await db.close()
})

test('what is no URL is refused, without a word of it', () => {
  const open = () => openDatabase('postgres://penstock:s3cret@[no')
  expect(open).toThrow(expect.toSatisfy((error: Error) => !/s3cret/.test(`${error.stack}${JSON.stringify(error)}`)))
})

/** Stands between a client and the server's socket, and can stop passing anything on. */
class Relay {
  readonly #server = createServer()
  readonly #sockets = new Set<Socket>()
  #url = new URL('postgresql://127.0.0.1')

  static async to(location: string): Promise<Relay> {
    const relay = new Relay()
    const url = new URL(location)
    const host = url.searchParams.get('host')
    const target =
      host === null
        ? { host: url.hostname, port: Number(url.port || 5_432) }
        : { path: `${host}/.s.PGSQL.${url.port || 5_432}` }
    relay.#server.on('connection', (near) => {
      const far = connect(target)
      near.pipe(far)
      far.pipe(near)
      for (const socket of [near, far]) relay.#sockets.add(socket.on('error', () => {}))
    })
    await once(relay.#server.listen(0, '127.0.0.1'), 'listening')
    const { port } = relay.#server.address() as { port: number }
    url.searchParams.set('host', '127.0.0.1')
    url.searchParams.set('port', String(port))
    relay.#url = url
    return relay
  }

  get url(): string {
    return this.#url.href
  }

  fallSilent(): void {
    for (const socket of this.#sockets) socket.unpipe().pause()
  }

  /** What was silent is gone: the server learns of it. */
  forget(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#sockets.clear()
  }

  close(): void {
    this.forget()
    this.#server.close()
  }
}
