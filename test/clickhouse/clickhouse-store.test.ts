import { type Log, silentLog } from '@penstock/runtime'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ClickHouseStore } from '../../packages/observe/src/clickhouse-store.ts'
import { Chdb, describeWithChdb } from './chdb.harness.ts'
import { exporterTables } from './exporter-tables.ts'

const json = (found: { readonly json: Uint8Array } | undefined) => JSON.parse(Buffer.from(found!.json).toString())

/** A log that keeps its errors. */
function keptErrors(): { readonly log: Log; readonly lines: string[] } {
  const lines: string[] = []
  const error = (fields: object, text: string): void => {
    lines.push(`${JSON.stringify(fields)} ${text}`)
  }
  return { lines, log: { ...silentLog, error } as unknown as Log }
}

describeWithChdb('the store in ClickHouse', () => {
  let server: Chdb
  beforeAll(async () => {
    server = await Chdb.start()
  }, 60_000)
  afterAll(() => server?.close())

  test('answers on its thread, from a database without tables, and with them', { timeout: 60_000 }, async () => {
    const empty = await ClickHouseStore.open({ address: server.address })
    expect(json(await empty.answer({ kind: 'services' }))).toEqual([])
    expect(json(await empty.answer({ kind: 'runs', filter: { limit: 5 } }))).toEqual([])
    expect(await empty.answer({ kind: 'run', traceId: '1'.repeat(32) })).toBeUndefined()
    await empty.close()

    for (const statement of exporterTables) await server.run(statement)
    const span = {
      Timestamp: '1770000000.000000001',
      TraceId: '1'.repeat(32),
      SpanId: '2'.repeat(16),
      ServiceName: 'ci',
    }
    const attributes = {
      SpanAttributes: { 'cicd.pipeline.run.id': '7', 'cicd.pipeline.result': 'success' },
      Duration: '9',
    }
    await server.run('INSERT INTO otel_traces FORMAT JSONEachRow', JSON.stringify({ ...span, ...attributes }))
    const store = await ClickHouseStore.open({ address: server.address })
    const runs = json(await store.answer({ kind: 'runs', filter: { limit: 5 } }))
    expect(runs).toMatchObject([{ service: 'ci', pipeline_id: '7', status: 'success', duration_ns: '9' }])
    // More than are answered at a time.
    const answers = await Promise.all(Array.from({ length: 9 }, () => store.answer({ kind: 'services' })))
    expect(answers.map((answer) => json(answer)[0].name)).toEqual(Array(9).fill('ci'))
    await store.close()
  })

  test('a wrong password is unavailable, and in no log', { timeout: 60_000 }, async () => {
    const { log, lines } = keptErrors()
    const store = await ClickHouseStore.open({ address: { ...server.address, password: 'guessed' }, log })
    await expect(store.answer({ kind: 'services' })).rejects.toMatchObject({ name: 'ThreadUnavailable' })
    await store.close()
    expect(lines.join()).toContain('516')
    expect(lines.join()).not.toMatch(/guessed|only-for/)
  })

  test('attributes as JSON are refused, and not read as none', { timeout: 60_000 }, async () => {
    await server.run('CREATE DATABASE other')
    await server.run('CREATE TABLE other.otel_logs (Timestamp DateTime64(9), ResourceAttributes JSON) ENGINE = Memory')
    const { log, lines } = keptErrors()
    const store = await ClickHouseStore.open({ address: { ...server.address, database: 'other' }, log })
    await expect(store.answer({ kind: 'logRecords', filter: { limit: 5 } })).rejects.toThrow('cannot be used')
    await store.close()
    expect(lines.join()).toContain('otel_logs has attributes of type JSON')
  })
})
