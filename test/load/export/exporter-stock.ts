import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { resolveOptions } from '@penstock/converter'
import { type Db, migrate, openDatabase } from '@penstock/db'
import { HttpClient } from '@penstock/delivery'
import {
  defaultExportLimits,
  Exporter,
  type ExporterTables,
  exporterMigrations,
  type IntakeRequest,
  isDurable,
  readBody,
} from '@penstock/exporter'
import { jsonLog, systemClock } from '@penstock/runtime'
import { signals, tokens } from '../../export/exporting-service.ts'
import { numberedPipeline } from '../../export/numbered-pipeline.ts'

const SCOPE = 'source:forge'

/** An exporter in this process with its own database. */
export interface OwnExporter extends AsyncDisposable {
  readonly file: string
  readonly db: Db<ExporterTables>
  readonly exporter: Exporter
}

export async function openExporter(url: string, location?: string): Promise<OwnExporter> {
  const directory = mkdtempSync(join(tmpdir(), 'penstock-export-'))
  const file = join(directory, 'export.db')
  const db = openDatabase<ExporterTables>(location ?? file)
  if (location === undefined) await migrate(db, exporterMigrations)
  const client = new HttpClient()
  const options = resolveOptions()
  if (!isDurable(options)) throw new Error('the default options are not those of the durable export')
  const exporter = new Exporter({
    db,
    clock: systemClock,
    random: Math.random,
    newClaim: randomUUID,
    log: jsonLog(process.stderr, Date.now),
    client,
    optionsForScope: () => options,
    resolveDestination: async () => ({ url, token: tokens.source, encoding: 'protobuf' }),
    limits: defaultExportLimits,
  })
  return {
    file,
    db,
    exporter,
    async [Symbol.asyncDispose]() {
      await client.close()
      await db.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** Returns the intake request for the pipeline with this number. */
export function received(number: number): IntakeRequest {
  return {
    scope: SCOPE,
    body: readBody(numberedPipeline(number)),
    receivedAtNs: systemClock.nowNs(),
    plan: async () => ({ signals, destination: SCOPE }),
  }
}

/** Runs `work` on each item, on `together` items concurrently. */
export async function eachOf<Item>(
  items: Iterable<Item>,
  together: number,
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const left = items[Symbol.iterator]()
  const one = async () => {
    for (let next = left.next(); !next.done; next = left.next()) await work(next.value)
  }
  await Promise.all(Array.from({ length: together }, one))
}

export function* numbers(count: number): Generator<number> {
  for (let number = 1; number <= count; number += 1) yield number
}
