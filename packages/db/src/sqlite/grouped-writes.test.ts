import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql, type Transaction } from 'kysely'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { isUnavailable } from '../open-database.ts'
import { openSqlite, type SqliteDb } from './sqlite.ts'

interface Tables {
  notes: { id: number; text: string }
}

let directory: string
let db: SqliteDb<Tables>

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'penstock-db-'))
  db = openSqlite<Tables>(join(directory, 'test.db'))
  await db.write((tx) => sql`create table notes (id integer primary key, text text)`.execute(tx))
})

afterEach(async () => {
  await db.close()
  rmSync(directory, { recursive: true })
})

const insert =
  (id: number, text = `note ${id}`) =>
  (tx: Transaction<Tables>) =>
    tx.insertInto('notes').values({ id, text }).execute()

const ids = async () => (await db.read.selectFrom('notes').select('id').orderBy('id').execute()).map(({ id }) => id)

/** Returns the outcome of each write: committed, to be retried, or rejected. */
const outcomes = (writes: readonly Promise<unknown>[]) =>
  Promise.all(
    writes.map((write) =>
      write.then(
        () => 'kept',
        (error) => (isUnavailable(error) ? 'unavailable' : 'refused'),
      ),
    ),
  )

describe('a group', () => {
  // The clock decides how long a group accepts writes and how long it yields to the event loop.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
  afterEach(() => void vi.useRealTimers())

  const LONGER_THAN_A_GROUP_MS = 11

  test('is committed together, and its writes resolve only then', async () => {
    const seen: number[][] = []
    const writes = [1, 2].map((id) =>
      db.write(async (tx) => {
        await insert(id)(tx)
        seen.push(await ids())
      }),
    )
    seen.push(await writes[0]!.then(ids))
    await writes[1]
    expect(seen).toEqual([[], [], [1, 2]])
  })

  test('rejects a failed write only after the commit, when the conflicting row can be read', async () => {
    const first = db.write(insert(1))
    const seen = db.write(insert(1)).catch(ids)
    await Promise.all([first, db.write(() => nextTurn())])
    expect(await seen).toEqual([1])
  })

  test.each(['kept', 'failing'])(
    'accepts no more writes after its time, and yields to the event loop: %s',
    async (kind) => {
      const order: string[] = []
      const slow = (name: string) =>
        db.write(async () => {
          order.push(name)
          setImmediate(() => order.push('event loop'))
          vi.advanceTimersByTime(LONGER_THAN_A_GROUP_MS)
          if (kind === 'failing') throw new Error('no')
        })
      await Promise.allSettled([slow('first'), slow('second')])
      expect(order).toEqual(['first', 'event loop', 'second'])
    },
  )

  test('lets more than one connection be accepted before the next group', async () => {
    const connections = 16
    let accepted = 0
    const allIn = new AbortController()
    const server = createServer((socket) => {
      socket.destroy()
      accepted += 1
      if (accepted === connections) allIn.abort()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    for (let each = 0; each < connections; each += 1) connect(port, '127.0.0.1').on('error', () => {})
    let groups = 0
    for (; !allIn.signal.aborted; groups += 1) {
      await db.write(async () => {
        vi.advanceTimersByTime(LONGER_THAN_A_GROUP_MS)
      })
    }
    server.close()
    expect(groups).toBeLessThan(connections / 4)
  })

  test('that the database rolls back: rejects the cause, asks the others to retry, and continues with later writes', async () => {
    await db.write(insert(1))
    const writes = [
      db.write(insert(2)),
      db.write((tx) => sql`insert or rollback into notes (id, text) values (1, 'again')`.execute(tx)),
      db.write(insert(3)),
    ]
    expect(await outcomes(writes)).toEqual(['unavailable', 'refused', 'kept'])
    expect(await ids()).toEqual([1, 3])
  })

  test('rejects all its writes if the commit fails', async () => {
    await db.write(async (tx) => {
      await sql`create table pages (note_id integer references notes (id) deferrable initially deferred)`.execute(tx)
    })
    const failing = [db.write(insert(1)), db.write((tx) => sql`insert into pages (note_id) values (7)`.execute(tx))]
    for (const each of failing) await expect(each).rejects.toThrow(/foreign key/i)
    await db.write(insert(2))
    expect(await ids()).toEqual([2])
  })

  test('on a full disk, rejects its writes and keeps none of them, and the next write works', async () => {
    await db.write((tx) => sql`pragma max_page_count = 8`.execute(tx))
    const writes = [
      db.write(insert(1)),
      db.write(async (tx) => {
        for (let id = 100; id < 120; id += 1) await insert(id, 'x'.repeat(4_000))(tx).catch(() => {})
      }),
      db.write(insert(2)),
    ]
    expect(await outcomes(writes)).toEqual(['unavailable', 'unavailable', 'kept'])
    expect(await ids()).toEqual([2])
  })
})

test.each(Array.from({ length: 12 }, (_, steps) => steps))(
  'a statement %i steps after its write has failed is rejected',
  async (steps) => {
    let straggler: Promise<unknown> | undefined
    const failing = db.write(async (tx) => {
      straggler = (async () => {
        for (let step = 0; step <= steps; step += 1) await undefined
        await insert(1)(tx)
      })().catch(() => {})
      throw new Error('no')
    })
    const after = db.write(insert(2))
    await expect(failing).rejects.toThrow('no')
    await Promise.all([straggler, after])
    expect(await ids()).toEqual([2])
  },
)

test('a statement that takes long is followed by a turn of the event loop, and statements keep their order', async () => {
  const slow = sql`with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 1000000)
    insert into notes (text) select max(n) from numbers`
  const turns: string[] = []
  await db.write(async (tx) => {
    const statements = [slow.execute(tx), insert(7)(tx)]
    setImmediate(() => turns.push('turn'))
    await Promise.all(statements)
    turns.push('done')
  })
  expect(turns).toEqual(['turn', 'done'])
  expect(await ids()).toEqual([1, 7])
})

test('rejects streaming in a write, because an unfinished statement would block all writers', async () => {
  await db.write(insert(1))
  const writes = [
    db.write(insert(2)),
    db.write(async (tx) => {
      await insert(3)(tx)
      await tx.selectFrom('notes').selectAll().stream()[Symbol.asyncIterator]().next()
    }),
    db.write(insert(4)),
  ]
  expect(await outcomes(writes)).toEqual(['kept', 'refused', 'kept'])
  expect(await ids()).toEqual([1, 2, 4])
})

test('noTimeout lifts the idle limit', async () => {
  const limited = openSqlite<Tables>(join(directory, 'test.db'), { idleLimitMs: 50 })
  const waits = () => new Promise((resolve) => setTimeout(resolve, 60))
  const writes = [limited.write(waits, { noTimeout: true }), limited.write(waits), limited.write(insert(1))]
  expect(await outcomes(writes)).toEqual(['kept', 'unavailable', 'kept'])
  await limited.close()
})

test('close waits for queued writes', async () => {
  const writes = [db.write(() => nextTurn()), db.write(insert(1))]
  await db.close()
  expect(await outcomes(writes)).toEqual(['kept', 'kept'])
  db = openSqlite(join(directory, 'test.db'))
  expect(await ids()).toEqual([1])
})

test('reclaim runs between two groups, and does not affect writes', async () => {
  const writes = [db.write(insert(1)), db.reclaim(1), db.write(insert(2)), db.reclaim(1)]
  expect(await outcomes(writes)).toEqual(['kept', 'kept', 'kept', 'kept'])
  expect(await ids()).toEqual([1, 2])
})
