import { type Log, silentLog, systemClock } from '@penstock/runtime'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { clickHouseQueries } from '../../packages/observe/src/clickhouse/clickhouse-queries.ts'
import { ClickHouse, fillBounds } from '../../packages/observe/src/clickhouse/schema/clickhouse-client.ts'
import { createViews } from '../../packages/observe/src/clickhouse/views/create-views.ts'
import { findViews, readyViews } from '../../packages/observe/src/clickhouse/views/ready-views.ts'
import { rollups } from '../../packages/observe/src/clickhouse/views/view-tables.ts'
import { ClickHouseStore } from '../../packages/observe/src/clickhouse-store.ts'
import { ResponseBudget } from '../../packages/observe/src/paging/response-budget.ts'
import type { ObserveQueries } from '../../packages/observe/src/ports/observe-queries.ts'
import { until } from '../gateway/until.ts'
import { Chdb, describeWithChdb } from './chdb.harness.ts'
import { exporterTables } from './exporter-tables.ts'
import { insertRows } from './insert-rows.ts'

const DAY_S = 86_400
const START_S = 1_767_225_600
const traceId = (number: number) => number.toString(16).padStart(32, '0')

/** Returns the spans of a pipeline with one job. */
const pipeline = (number: number, startS = START_S + number * 10, more: object = {}): object[] => {
  const base = { TraceId: traceId(number), ServiceName: 'ci', Duration: '5000000000', ResourceAttributes: {} }
  return [
    {
      ...base,
      Timestamp: `${startS}.000000001`,
      SpanId: traceId(number).slice(16),
      ParentSpanId: '',
      SpanName: 'RUN',
      SpanAttributes: {
        'cicd.pipeline.run.id': String(number),
        'cicd.pipeline.result': 'success',
        'vcs.ref.head.name': `b${number}`,
      },
      ...more,
    },
    {
      ...base,
      Timestamp: `${startS + 1}.000000001`,
      SpanId: `f${traceId(number).slice(17)}`,
      ParentSpanId: traceId(number).slice(16),
      SpanName: 'build',
      SpanAttributes: { 'cicd.pipeline.task.name': 'build', 'cicd.pipeline.task.run.result': 'success' },
    },
  ]
}

function keptLog(): { readonly log: Log; readonly events: () => string[] } {
  const events: string[] = []
  const keep = ({ event }: { event?: string }): void => {
    if (event !== undefined) events.push(event)
  }
  return { events: () => events, log: { ...silentLog, info: keep, warn: keep, error: keep } as unknown as Log }
}

describeWithChdb('views in ClickHouse', () => {
  let server: Chdb
  let db: ClickHouse
  beforeEach(async () => {
    server = await Chdb.start()
    db = new ClickHouse(server.address, fillBounds)
  }, 60_000)
  afterEach(async () => {
    await db.close()
    await server.close()
  })

  const createTables = async (retention?: string) => {
    for (const statement of exporterTables) await server.run(statement)
    if (retention !== undefined) await server.run(`ALTER TABLE otel_traces MODIFY TTL ${retention}`)
  }
  const insert = (...pipelines: object[][]) => insertRows(server, 'otel_traces', pipelines.flat())
  const create = (options: { db?: ClickHouse; signal?: AbortSignal; onFill?: () => void } = {}) =>
    createViews({
      db,
      clock: systemClock,
      signal: new AbortController().signal,
      settleMs: 0,
      rowsPerStep: 4,
      ...options,
    })
  const queries = () => clickHouseQueries({ db, nowMs: () => (START_S + 30 * DAY_S) * 1000 })
  const refsOf = async (of: ObserveQueries) =>
    (await of.runs({ limit: 200 }, new ResponseBudget(1e9))).items.map(({ ref, jobs }) => `${ref} ${jobs}`)
  const count = async (table: string, condition = 'true') =>
    Number((await db.row<{ n: string }>(`SELECT count() AS n FROM ${table} WHERE ${condition}`)).n)
  const expectEverything = async (numbers: number[]) => {
    expect(readyViews(await findViews(db))).toMatchObject({ hasPipelines: true, hasListKeys: true })
    expect(await refsOf(queries())).toEqual(numbers.toSorted((a, b) => b - a).map((number) => `b${number} 1`))
    expect((await queries().facets(undefined, new ResponseBudget(1e9))).refs).toEqual(
      numbers.map((number) => `b${number}`).sort(),
    )
    expect((await queries().services(undefined, new ResponseBudget(1e9))).items.map(({ name }) => name)).toEqual(['ci'])
  }

  test('in an empty database, and then again', { timeout: 120_000 }, async () => {
    await create()
    expect(await count('system.tables', "name LIKE 'penstock%'")).toBe(0)
    await createTables()
    await create()
    await insert(pipeline(1), pipeline(2))
    await expectEverything([1, 2])
    const steps = await count('penstock_migrations')
    await create()
    expect(await count('penstock_migrations')).toBe(steps)
  })

  test('are filled with rows of several days and with later ones', { timeout: 120_000 }, async () => {
    await createTables()
    await insert(...[1, 2, 3, 4, 5].map((number) => pipeline(number)), pipeline(900, START_S + 9 * DAY_S))
    await create()
    await insert(pipeline(901, START_S + 9 * DAY_S + 60), pipeline(6))
    await expectEverything([1, 2, 3, 4, 5, 6, 900, 901])
    // A table that the exporter creates later gets its view later.
    expect(readyViews(await findViews(db)).servicesOf).toContain('otel_logs')
    await db.execute('DROP TABLE penstock_services_otel_logs_mv')
    expect(readyViews(await findViews(db)).servicesOf).not.toContain('otel_logs')
    await create()
    expect(readyViews(await findViews(db)).servicesOf).toContain('otel_logs')
  })

  test('continue where the process was interrupted, and are not used before', { timeout: 120_000 }, async () => {
    await createTables()
    const numbers = Array.from({ length: 12 }, (_, at) => at + 1)
    await insert(...numbers.map((number) => pipeline(number, START_S + number * DAY_S)))
    const controller = new AbortController()
    const run = db.execute.bind(db)
    let inserts = 0
    const interrupted = Object.assign(Object.create(db) as ClickHouse, {
      execute: async (...[query, ...rest]: Parameters<ClickHouse['execute']>) => {
        if (query.startsWith('INSERT INTO penstock_pipeline_spans')) {
          inserts += 1
          if (inserts === 5) {
            controller.abort(new Error('interrupted'))
            controller.signal.throwIfAborted()
          }
        }
        await run(query, ...rest)
      },
      rows: db.rows.bind(db),
      row: db.row.bind(db),
    })
    await expect(create({ db: interrupted, signal: controller.signal })).rejects.toThrow('interrupted')
    expect(readyViews(await findViews(db)).hasPipelines).toBe(false)
    const filled = await count('penstock_pipeline_spans')
    expect(filled).toBe(8)
    expect(await refsOf(queries())).toHaveLength(12)
    await create()
    // The steps before the interruption were not repeated.
    expect(await count('penstock_pipeline_spans')).toBe(24)
    await expectEverything(numbers)
  })

  test('are complete when two processes create them at once', { timeout: 120_000 }, async () => {
    await createTables()
    const numbers = [1, 2, 3, 4, 5, 6]
    await insert(...numbers.map((number) => pipeline(number, START_S + number * DAY_S)))
    const other = new ClickHouse(server.address, fillBounds)
    await Promise.all([create(), create({ db: other }), insert(pipeline(7, START_S + 7 * DAY_S))])
    await other.close()
    await expectEverything([...numbers, 7])
    await db.execute('OPTIMIZE TABLE penstock_pipeline_spans FINAL')
    expect(await count('penstock_pipeline_spans')).toBe(14)
  })

  test('are filled again after one of them was dropped', { timeout: 120_000 }, async () => {
    await createTables()
    await insert(pipeline(1))
    await create()
    await db.execute('DROP TABLE penstock_pipeline_runs_2_mv')
    await insert(pipeline(2))
    expect(await refsOf(queries())).toHaveLength(2)
    await create()
    await expectEverything([1, 2])
  })

  test('keep rows as long as the table that they are of', { timeout: 120_000 }, async () => {
    await createTables('toDateTime(Timestamp) + toIntervalDay(30)')
    await create()
    const ttl = async (table: string) =>
      / TTL (.*?)(?: SETTINGS|$)/.exec(
        (await db.row<{ e: string }>(`SELECT engine_full AS e FROM system.tables WHERE name = '${table}'`)).e,
      )?.[1]
    expect(await ttl('penstock_pipeline_spans')).toBe('toDateTime(Timestamp) + toIntervalDay(30)')
    expect(await ttl('penstock_pipeline_facets_2')).toBe('toDateTime(LastSeen) + toIntervalDay(30)')
    expect(await ttl('penstock_services')).toContain("Source = 'otel_traces'")
    expect(await ttl('penstock_services')).not.toContain('otel_logs')
    // Rows from 2026 are older than 30 days, so a merge deletes them.
    await insert(pipeline(1, 1_500_000_000))
    await db.execute('OPTIMIZE TABLE penstock_pipeline_spans FINAL')
    await db.execute('OPTIMIZE TABLE penstock_services FINAL')
    expect(await count('penstock_pipeline_spans')).toBe(0)
    expect(await count('penstock_services')).toBe(0)

    await db.execute('ALTER TABLE otel_traces MODIFY TTL toDateTime(Timestamp) + toIntervalHour(5)')
    await create()
    expect(await ttl('penstock_pipeline_runs_2')).toBe('toDateTime(Timestamp) + toIntervalHour(5)')
    await db.execute('ALTER TABLE otel_traces REMOVE TTL')
    await create()
    expect(await ttl('penstock_pipeline_runs_2')).toBeUndefined()
    expect(await ttl('penstock_services')).toBeUndefined()
    await db.execute(
      "ALTER TABLE otel_traces MODIFY TTL toDateTime(Timestamp) + toIntervalDay(1) WHERE ServiceName = 'x'",
    )
    await expect(create()).rejects.toThrow('TTL of otel_traces is more than an age')
  })

  test('are refused to a user who may only read; queries are answered', { timeout: 120_000 }, async () => {
    await createTables()
    await insert(pipeline(1))
    const { log, events } = keptLog()
    const store = await ClickHouseStore.open({ address: server.readOnlyAddress, createViews: true, log })
    await until('it is refused', async () => events().includes('observe.views_refused'))
    const json = async (answer: ReturnType<ClickHouseStore['answer']>) =>
      JSON.parse(Buffer.from((await answer)!.json).toString())
    expect(await json(store.answer({ kind: 'runs', filter: { limit: 5 } }))).toMatchObject([{ ref: 'b1', jobs: 1 }])
    expect((await json(store.answer({ kind: 'status' }))).purpose).toContain('the user may not create tables and views')
    await store.close()
    expect(events()).toEqual(['observe.views_refused'])
    expect(await count('system.tables', "name LIKE 'penstock%'")).toBe(0)
  })

  test('are created in the background, if the setting says so', { timeout: 120_000 }, async () => {
    await createTables()
    await insert(pipeline(1))
    const without = await ClickHouseStore.open({ address: server.address })
    expect(Buffer.from((await without.answer({ kind: 'status' }))!.json).toString()).toContain('observe.createViews')
    await without.close()
    expect(await count('system.tables', "name LIKE 'penstock%'")).toBe(0)
    const { log, events } = keptLog()
    const store = await ClickHouseStore.open({ address: server.address, createViews: true, log })
    await until('the views are complete', async () => events().includes('observe.views_created'))
    await store.close()
    await expectEverything([1])
    expect(events().filter((event) => event === 'observe.views_filling')).toHaveLength(rollups.length)
  })

  test('statistics follow later spans, and leave out what is too much', { timeout: 120_000 }, async () => {
    await createTables()
    await create()
    await insert(pipeline(1), pipeline(2))
    const range = {
      sinceNs: BigInt(START_S) * 10n ** 9n,
      untilNs: BigInt(START_S + DAY_S) * 10n ** 9n,
      offsetMinutes: 0,
    }
    const of = queries()
    const totals = async () => {
      const { totals, truncated } = await of.insights(range)
      return [totals.runs, totals.success, totals.failed, truncated]
    }
    expect(await totals()).toEqual([2, 2, 0, false])
    // A later version of a run, and another run.
    const failed = {
      Duration: '6000000000',
      SpanAttributes: { 'cicd.pipeline.run.id': '2', 'cicd.pipeline.result': 'failure' },
    }
    await insert(pipeline(2, START_S + 20, failed), pipeline(3))
    expect(await totals()).toEqual([3, 2, 1, false])

    const small = clickHouseQueries({ db, nowMs: () => START_S * 1000, historyLimits: { jobs: 100, runs: 2 } })
    // Read from the database, because the memory of this store is too small for it.
    expect((await small.insights(range)).totals.runs).toBe(3)
    // All have just arrived, but the oldest one does not fit, so it is not read into memory again.
    const rows = vi.spyOn(db, 'rows')
    await small.insights(range)
    const read = new Set(rows.mock.calls.flatMap(([, parameters]) => parameters?.ids ?? []))
    expect([traceId(3), traceId(1)].map((id) => read.has(id))).toEqual([true, false])
    rows.mockRestore()
    await server.run('TRUNCATE TABLE penstock_pipeline_runs_2')
    await server.run('TRUNCATE TABLE penstock_pipeline_spans')
    expect(await totals()).toEqual([0, 0, 0, false])
  })

  test('traces by an attribute that is a text, a text of a list, and in a resource', { timeout: 120_000 }, async () => {
    await createTables()
    await insert(
      pipeline(1, undefined, { SpanAttributes: { tags: '["a","b"]', kind: 'one' } }),
      pipeline(2, undefined, { SpanAttributes: { tags: 'a', kind: 'one' }, ResourceAttributes: { kind: 'two' } }),
    )
    const found = async (...pairs: [string, string][]) =>
      (
        await queries().traces(
          { limit: 9, attributes: pairs.map(([key, value]) => ({ key, value })) },
          new ResponseBudget(1e9),
        )
      ).items.map((trace) => Number(trace.trace_id))
    const check = async () => {
      expect(await found(['tags', 'a'])).toEqual([2, 1])
      expect(await found(['tags', 'b'], ['kind', 'one'])).toEqual([1])
      expect(await found(['kind', 'one'])).toEqual([2, 1])
      expect(await found(['kind', 'one'], ['kind', 'two'])).toEqual([2])
      expect(await found(['kind', 'none'])).toEqual([])
    }
    await check()
    await create()
    await check()
  })
})
