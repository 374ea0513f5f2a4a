import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate, openReadOnly } from '@penstock/db'
import { ManualClock } from '@penstock/testkit'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { OneThreadStore } from './one-thread-store.harness.ts'
import { goldenRequests, pipelineBody, pipelineTraceId, startNs } from './pipeline.harness.ts'
import type { StoreQuery } from './ports/store-queries.ts'
import { migrations } from './schema/migrations.ts'
import type { ObserveTables } from './schema/tables.ts'
import { openStoreFile } from './store/store-writer.ts'
import { counter, logBody, logRecord, metricBody, numberedTrace, toTraceId } from './telemetry.harness.ts'

const range = { sinceNs: undefined, untilNs: undefined }
const GOLDEN_TRACE = '291a2e5bfa88c8c3659724c802e7b013'

/** Queries that together read every table and use every index. */
const queries: readonly StoreQuery[] = [
  { kind: 'services' },
  { kind: 'facets' },
  { kind: 'runs', filter: { ...range, children: true, limit: 50 } },
  { kind: 'runs', filter: { ...range, project: 'moss/shop', status: 'success', limit: 50 } },
  { kind: 'runs', filter: { ...range, forge: 'svc', limit: 50 } },
  { kind: 'runs', filter: { ...range, text: 'SHOP', limit: 50 } },
  { kind: 'run', traceId: GOLDEN_TRACE },
  { kind: 'traces', filter: { ...range, limit: 50 } },
  { kind: 'traces', filter: { ...range, service: 'shop', hasErrors: true, limit: 50 } },
  {
    kind: 'traces',
    filter: { ...range, limit: 50, attributes: [{ key: 'cicd.pipeline.task.name', value: 'unit' }] },
  },
  { kind: 'trace', traceId: GOLDEN_TRACE, maxSpans: 10_000 },
  { kind: 'trace', traceId: toTraceId(1), maxSpans: 10_000 },
  { kind: 'metricNames', filter: { limit: 50 } },
  { kind: 'metric', filter: { ...range, name: 'requests', maxSeries: 20, maxPointsPerSeries: 100 } },
  { kind: 'logRecords', filter: { ...range, minSeverity: 17, limit: 50 } },
  { kind: 'logRecords', filter: { ...range, text: 'paid', limit: 50 } },
  { kind: 'insights', filter: { sinceNs: startNs, untilNs: startNs + 86_400_000_000_000n, offsetMinutes: 0 } },
  { kind: 'compare', filter: { a: pipelineTraceId(1), b: pipelineTraceId(2) } },
  { kind: 'compare', filter: { a: pipelineTraceId(1), b: 'median' } },
]

let directory: string
let file: string
let expected: unknown[]

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'penstock-old-stores-'))
  file = join(directory, 'present.db')
  const store = await openStore(file)
  const jobs = (end: number) => [
    { name: 'unit', start: 0, end },
    { name: 'lint', start: 1, end: 9, status: 'failed' },
  ]
  const bodies = [
    ...goldenRequests('rest-bundle-retried-attempts-and-bridges'),
    pipelineBody({ number: 1, jobs: jobs(30) }),
    pipelineBody({ number: 2, jobs: jobs(50) }),
    numberedTrace(1),
    numberedTrace(2, { failed: true }),
  ]
  for (const body of bodies) await store.receiveBody('traces', body, 'json')
  await store.receiveBody('logs', logBody('shop', logRecord(1, 9, 'paid'), logRecord(2, 17, 'refused')), 'json')
  await store.receiveBody('metrics', metricBody('shop', counter(1, '3'), counter(2, '5')), 'json')
  expected = await answersOf(store)
  await store.close()
})
afterAll(() => rmSync(directory, { recursive: true }))

async function openStore(path: string): Promise<OneThreadStore> {
  const clock = new ManualClock(Date.parse('2026-01-01T00:00:00Z'))
  const store = await OneThreadStore.open({ file: path, clock })
  // The first maintenance has derived everything that was missing.
  await clock.untilSleeping()
  return store
}

async function answersOf(store: OneThreadStore): Promise<unknown[]> {
  const answers = []
  for (const query of queries) {
    const response = await store.answer(query)
    answers.push([query, JSON.parse(Buffer.from(response!.json).toString())])
  }
  return answers
}

/** Writes the telemetry of the present store into a file with the tables of an earlier version. */
async function writeOldStore(path: string, names: readonly string[]): Promise<void> {
  const old = openStoreFile(path)
  await migrate(old, Object.fromEntries(names.map((name) => [name, migrations[name]!])))
  const present = openReadOnly<ObserveTables>(file)
  const { rows: tables } = await sql<{ name: string }>`
    select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' and name not like 'kysely_%'
      and name <> 'pipeline_rereads'`.execute(old.read)
  await old.write(async (tx) => {
    for (const { name } of tables) {
      // Generated columns are left out; the columns of the present version that are new are, too.
      const { rows: columns } = await sql<{ name: string }>`select name from pragma_table_info(${name})`.execute(tx)
      const list = columns.map((column) => column.name).join(', ')
      // As SQL literals, because numbers of JavaScript are not exact enough for times.
      const literals = columns.map((column) => `quote(${column.name})`).join(` || ', ' || `)
      const { rows } = await sql<{ row: string }>`select ${sql.raw(literals)} as row from ${sql.table(name)}`.execute(
        present.read,
      )
      for (const { row } of rows) {
        await sql`insert into ${sql.table(name)} (${sql.raw(list)}) values (${sql.raw(row)})`.execute(tx)
      }
    }
  })
  await present.close()
  await old.close()
}

const names = Object.keys(migrations)

test.each(names.slice(0, -1).map((name, index) => ({ name, before: names.slice(0, index + 1) })))(
  'a store of version $name answers the same after its migration',
  async ({ name, before }) => {
    const path = join(directory, `${name}.db`)
    await writeOldStore(path, before)
    const store = await openStore(path)
    expect(await answersOf(store)).toEqual(expected)
    await store.close()
  },
)
