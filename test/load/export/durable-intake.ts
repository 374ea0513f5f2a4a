import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate, openDatabase } from '@penstock/db'
import { type ExporterTables, exporterMigrations } from '@penstock/exporter'
import Sqlite from 'better-sqlite3'
import { signals } from '../../export/exporting-service.ts'
import { numberedPipeline } from '../../export/numbered-pipeline.ts'
import { eachOf, numbers, openExporter, received } from './exporter-stock.ts'

/** The rows per record: the record and one delivery per signal. Other rows of the intake are not counted. */
export const ROWS = 1 + signals.length
const BATCH = 256
/** The number of concurrent records: one batch waits while another is written. */
const TOGETHER = 2 * BATCH
const PIPELINES = 40 * BATCH

export interface IntakeRound {
  readonly rowsPerSecond: number
  /** The CPU time of this process per record. */
  readonly cpuMicros: number
}

/** Measures the fastest inserts of SQLite: prepared statements, 256 pipelines per transaction, the same bytes into the same tables. */
export async function rawInserts({ withIndexes }: { readonly withIndexes: boolean }): Promise<IntakeRound> {
  const directory = mkdtempSync(join(tmpdir(), 'penstock-raw-'))
  const file = join(directory, 'raw.db')
  const db = openDatabase<ExporterTables>(file)
  await migrate(db, exporterMigrations)
  await db.close()
  const database = new Sqlite(file)
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = FULL')
  if (!withIndexes) {
    for (const index of ['deliveries_open', 'deliveries_settled', 'export_records_enqueued']) {
      database.exec(`drop index ${index}`)
    }
  }
  const record = database.prepare(
    `insert into export_records (key, scope, body, received_at_ns, root_id, root_from, enqueued_at_ms)
     values (?, ?, ?, ?, ?, 'self', ?)`,
  )
  const delivery = database.prepare(
    `insert into deliveries (queue, key, lane, subject, state, enqueued_at_ms, due_at_ms, attempts, progress, reason)
     values ('exports', ?, ?, ?, 'open', ?, ?, 0, '', '')`,
  )
  const bodies = [...numbers(PIPELINES)].map((number) => numberedPipeline(number))
  const insertBatch = database.transaction((from: number) => {
    const nowMs = Date.now()
    for (let number = from; number < from + BATCH; number += 1) {
      const key = `source:forge ci.example.com ${number}`
      record.run(key, 'source:forge', bodies[number - 1], `${nowMs}000000`, String(number), nowMs)
      for (const signal of signals) {
        const own = `${key} ${signal}`
        delivery.run(own, `${signal} source:forge`, own, nowMs, nowMs)
      }
    }
  })
  try {
    return await timed(async () => {
      for (let from = 1; from <= PIPELINES; from += BATCH) insertBatch(from)
    })
  } finally {
    database.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Measures the intake of hooks with parsed bodies. */
export async function intake(): Promise<IntakeRound> {
  await using own = await openExporter('http://127.0.0.1:9')
  const all = [...numbers(PIPELINES)].map(received)
  const result = await timed(() => eachOf(all, TOGETHER, (one) => own.exporter.intake.enqueueShared(one)))
  const { open } = await own.exporter.queue.counts()
  if (open !== PIPELINES * signals.length) throw new Error(`${open} exports of ${PIPELINES} pipelines`)
  return result
}

/** Measures the intake of hooks including the parsing of the bodies. */
export async function readingIntake(): Promise<IntakeRound> {
  await using own = await openExporter('http://127.0.0.1:9')
  return await timed(() =>
    eachOf(numbers(PIPELINES), TOGETHER, (number) => own.exporter.intake.enqueueShared(received(number))),
  )
}

async function timed(work: () => Promise<unknown>): Promise<IntakeRound> {
  const cpu = process.cpuUsage()
  const startMs = performance.now()
  await work()
  const seconds = (performance.now() - startMs) / 1_000
  const { user, system } = process.cpuUsage(cpu)
  return { rowsPerSecond: (PIPELINES * ROWS) / seconds, cpuMicros: (user + system) / PIPELINES }
}
