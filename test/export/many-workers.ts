import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CoreProcess } from '../core/core-process.ts'
import { eachOf, numbers, openExporter, received } from '../load/export/exporter-stock.ts'
import { signals } from './exporting-service.ts'
import { Upstream } from './upstream.ts'

const CONCURRENCY = 256
const DEADLINE_MS = 300_000
const POLL_MS = 20

export interface WorkersResult {
  readonly seconds: number
  /** The number of accepted pairs of pipeline and signal. */
  readonly exports: number
  /** The number of repeated acceptances. */
  readonly again: number
  readonly requests: number
  readonly faults: readonly string[]
}

/**
 * Enqueues each pipeline twice while several independent worker processes export from the same database.
 *
 * @param databaseUrl the URL of PostgreSQL; without it, SQLite
 */
export async function exportByWorkers({
  workers,
  pipelines,
  databaseUrl,
}: {
  readonly workers: number
  readonly pipelines: number
  readonly databaseUrl?: string | undefined
}): Promise<WorkersResult> {
  const dataDir = mkdtempSync(join(tmpdir(), 'penstock-workers-'))
  await using upstream = await Upstream.start()
  const env = {
    PENSTOCK_OBS_LISTEN: '127.0.0.1:0',
    PENSTOCK_SOURCES: JSON.stringify({
      forge: { secretToken: 'never-asked-for', signals, endpoint: upstream.url },
    }),
  }
  const processes: CoreProcess[] = []
  try {
    // The core creates the tables and the key that workers share.
    const core = await CoreProcess.start(dataDir, { databaseUrl })
    await core.end()
    for (let worker = 0; worker < workers; worker += 1) {
      processes.push(await CoreProcess.start(dataDir, { role: 'worker', env, databaseUrl }))
    }
    await using own = await openExporter(upstream.url, databaseUrl ?? join(dataDir, 'core.db'))
    const startMs = performance.now()
    await eachOf(numbers(pipelines), CONCURRENCY, async (number) => {
      const one = received(number)
      await Promise.all([own.exporter.intake.enqueueShared(one), own.exporter.intake.enqueueShared(one)])
    })
    const expected = pipelines * signals.length
    while ((await own.exporter.queue.listOpenLanes({ limit: 1 })).length > 0) {
      if (performance.now() - startMs > DEADLINE_MS) throw new Error(`${upstream.ledger.size} of ${expected} exports`)
      await sleep(POLL_MS)
    }
    const seconds = (performance.now() - startMs) / 1_000
    for (const one of processes) await one.end()
    const twice = [...upstream.ledger].filter(([, acceptances]) => acceptances.length > 1)
    return {
      seconds,
      exports: upstream.ledger.size,
      again: upstream.again,
      requests: upstream.requests.accept,
      faults: [
        ...(upstream.ledger.size === expected ? [] : [`${upstream.ledger.size} of ${expected} exports`]),
        ...twice.slice(0, 10).map(([name, acceptances]) => `${name} was accepted ${acceptances.length} times`),
        ...processes.flatMap(({ stderr }) =>
          stderr.split('\n').filter((line) => /"level":"(?:error|fatal)"/.test(line)),
        ),
      ],
    }
  } finally {
    for (const one of processes) await one[Symbol.asyncDispose]()
    rmSync(dataDir, { recursive: true, force: true })
  }
}
