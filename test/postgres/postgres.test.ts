import { once } from 'node:events'
import { createServer, Socket } from 'node:net'
import { type Db, isUnavailable, migrate, openDatabase, openPostgres } from '@penstock/db'
import { type TemporaryDatabase, temporarySchema } from '@penstock/testkit'
import { type Kysely, sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { describeDb } from '../../packages/db/src/port/db.case.ts'
import type { PostgresOptions } from '../../packages/db/src/postgres/postgres.ts'
import { describeTextSearch } from '../../packages/db/src/search/text-search.case.ts'
import { describeWithPostgres } from './describe-with-postgres.ts'
import { Relay } from './relay.ts'

interface Tables {
  notes: { id: number; text: string }
}

describeWithPostgres('PostgreSQL', (serverUrl) => {
  describeDb('conformance', async () => {
    const { location, remove } = await temporarySchema(serverUrl())
    return { open: (options) => openPostgres(location, options), remove }
  })

  describeTextSearch(
    'searches',
    async () => {
      const { location, remove } = await temporarySchema(serverUrl())
      return { open: () => openPostgres(location), remove }
    },
    30,
  )

  describe('behaviour that only PostgreSQL has', () => {
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
    const outcomeOf = (attempt: Promise<unknown>) => attempt.then(() => 'worked', isUnavailable)
    const backendOf = async (on: Kysely<Tables>) =>
      (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(on)).rows[0]!.pid
    const terminate = (pid: number) => sql`select pg_terminate_backend(${sql.lit(pid)}, 5000)`.execute(db.read)

    async function withOptions<Result>(options: PostgresOptions, work: (other: Db<Tables>) => Promise<Result>) {
      const other = openPostgres<Tables>(schema.location, options)
      return work(other).finally(() => other.close())
    }

    describe('listening', () => {
      /** Listens, and returns what happened so far. */
      function listenTo(channel: string): string[] {
        const events: string[] = []
        const listener = db.listen!(channel, {
          onNotice: () => events.push('notice'),
          onLost: () => events.push('lost'),
          onRestored: () => events.push('restored'),
          random: () => 0,
        })
        onTestFinished(() => listener.close())
        return events
      }
      const notify = (payload: string) => db.write((tx) => sql`select pg_notify('changes', ${payload})`.execute(tx))
      const schemaName = () => new URL(schema.location).searchParams.get('application_name')!

      test('reports the notifications of the channel and of the schema', async () => {
        const events = listenTo('changes')
        await expect.poll(() => events).toEqual(['notice'])
        await notify('another_schema')
        await db.write((tx) => sql`select pg_notify('others', ${schemaName()})`.execute(tx))
        await notify(schemaName())
        await expect.poll(() => events).toEqual(['notice', 'notice'])
      })

      test('reports nothing of a transaction that is rolled back', async () => {
        const events = listenTo('changes')
        await expect.poll(() => events).toEqual(['notice'])
        const failed = db.write(async (tx) => {
          await sql`select pg_notify('changes', ${schemaName()})`.execute(tx)
          throw new Error('no')
        })
        await expect(failed).rejects.toThrow('no')
        await notify(schemaName())
        await expect.poll(() => events).toEqual(['notice', 'notice'])
      })

      test('connects again after the connection was ended, and reports that notifications may be lost', async () => {
        const events = listenTo('changes')
        await expect.poll(() => events).toEqual(['notice'])
        await sql`select pg_terminate_backend(pid, 5000) from pg_stat_activity
          where application_name = ${schemaName()} and query like 'listen %'`.execute(db.read)
        await expect.poll(() => events).toEqual(['notice', 'lost', 'restored', 'notice'])
        await notify(schemaName())
        await expect.poll(() => events).toEqual(['notice', 'lost', 'restored', 'notice', 'notice'])
      })

      test('ends while the server is away', async () => {
        const relay = await Relay.to(schema.location)
        onTestFinished(() => relay.close())
        await relay.refuseConnections()
        const away = openPostgres<Tables>(relay.url)
        const events: string[] = []
        const listener = away.listen!('changes', {
          onNotice: () => events.push('notice'),
          onLost: () => events.push('lost'),
          random: () => 0,
        })
        await expect.poll(() => events).toEqual(['lost'])
        await listener.close()
        await away.close()
        await relay.acceptConnections()
        expect(events).toEqual(['lost'])
      })
    })

    test('tables can be listed while another schema is dropped', async () => {
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

    test('a write fails if a statement in it failed, even if the error was caught', async () => {
      await insert(1)
      const swallowing = db.write(async (tx) => {
        await tx.insertInto('notes').values({ id: 2, text: 'before' }).execute()
        await tx
          .insertInto('notes')
          .values({ id: 1, text: 'again' })
          .execute()
          .catch(() => {})
      })
      await expect(swallowing).rejects.toThrow('The transaction was rolled back')
      await insert(3)
      expect(await ids()).toEqual([1, 3])
    })

    test('a write fails and is rolled back if its connection ends, and the next write works', async () => {
      const broken = db.write(async (tx) => {
        await tx.insertInto('notes').values({ id: 1, text: 'half' }).execute()
        await terminate(await backendOf(tx))
        await tx.insertInto('notes').values({ id: 2, text: 'half' }).execute()
      })
      expect(await outcomeOf(broken)).toBe(true)
      await insert(3)
      expect(await ids()).toEqual([3])
    })

    test('connections that end while idle are replaced', async () => {
      const others = await db.write((tx) => backendOf(tx))
      await terminate(others)
      await insert(1)
      expect(await ids()).toEqual([1])
    })

    test('a writer waits for the writer of another process no longer than the limit', async () => {
      await withOptions({ lockLimitMs: 50 }, async (other) => {
        const refused = await db.write(() => outcomeOf(insert(1, other)))
        expect(refused).toBe(true)
        await insert(2, other)
      })
      expect(await ids()).toEqual([2])
    })

    test('a writer does not wait for writers of other schemas', async () => {
      const elsewhere = await temporarySchema(serverUrl())
      const neighbour = openPostgres<Tables>(elsewhere.location, { lockLimitMs: 50 })
      expect(await db.write(() => outcomeOf(neighbour.write(async () => {})))).toBe('worked')
      await neighbour.close()
      await elsewhere.remove()
    })

    test('statements have a time limit, and migrations have none', async () => {
      await withOptions({ statementLimitMs: 50, lockLimitMs: 50 }, async (other) => {
        const slow = (on: Kysely<Tables>) => sql`select pg_sleep(0.2)`.execute(on)
        expect(await outcomeOf(slow(other.read))).toBe(true)
        expect(await outcomeOf(other.write(slow))).toBe(true)
        const holding = db.write(slow)
        const migrated = migrate(other, {
          '0001_slow': { up: async (tx) => void (await sql`select pg_sleep(0.2)`.execute(tx)) },
        })
        expect(await outcomeOf(Promise.all([holding, migrated]))).toBe('worked')
      })
    })

    test('a write fails if the server stops responding, and the next write uses another connection', async () => {
      const relay = await Relay.to(schema.location)
      const through = openPostgres<Tables>(relay.url, { statementLimitMs: 100 })
      await insert(1, through)
      const attempt = through.write(async (tx) => {
        relay.stopForwarding()
        await tx.insertInto('notes').values({ id: 2, text: 'lost' }).execute()
      })
      expect(await outcomeOf(attempt)).toBe(true)
      relay.closeConnections()
      await insert(3, through)
      await through.close()
      relay.close()
      expect(await ids()).toEqual([1, 3])
    })

    test('an error of a connection that the pool has closed does not affect a write on the next one', async () => {
      const relay = await Relay.to(schema.location)
      const through = openPostgres<Tables>(relay.url)
      // The spy captures the first socket, which connects as usual.
      const connecting = vi.spyOn(Socket.prototype, 'connect')
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
      onTestFinished(() => void vi.useRealTimers())
      await insert(1, through)
      const socket = connecting.mock.contexts[0] as Socket
      connecting.mockRestore()
      // The pool waits until the other side closes the connection too.
      relay.stopForwarding()
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

    test('a write fails if its connection ends between two statements', async () => {
      const broken = db.write(async (tx) => {
        await terminate(await backendOf(tx))
        await new Promise(() => {})
      })
      expect(await outcomeOf(broken)).toBe(true)
      await insert(1)
      expect(await ids()).toEqual([1])
    })

    test('integer columns that are added later have 64 bits too', async () => {
      await db.write((tx) => tx.schema.alterTable('notes').addColumn('bytes', 'integer').execute())
      await db.write((tx) => sql`insert into notes values (1, 'big', 5000000000)`.execute(tx))
      const { rows } = await sql<{ bytes: number }>`select bytes from notes`.execute(db.read)
      expect(rows).toEqual([{ bytes: 5_000_000_000 }])
    })
  })

  test('a missing database is reported as unavailable', async () => {
    const url = new URL(serverUrl())
    url.pathname = '/missing_database'
    const db = openPostgres<Tables>(url.href)
    const refused = await sql`select 1`.execute(db.read).catch((error: unknown) => error)
    expect([(refused as { code?: string }).code, isUnavailable(refused)]).toEqual(['3D000', true])
    await db.close()
  })
})

test('an unreachable server is reported as unavailable, without the password', async () => {
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

test('an invalid URL is rejected, without the password in the error', () => {
  const open = () => openDatabase('postgres://penstock:s3cret@[no')
  expect(open).toThrow(expect.toSatisfy((error: Error) => !/s3cret/.test(`${error.stack}${JSON.stringify(error)}`)))
})
