/** Exports 10,000 pipelines with 2 workers on SQLite, and with 4 on PostgreSQL if it is installed. Each signal must be exported once. */
import { temporarySchema } from '@penstock/testkit'
import { exportByWorkers } from '../export/many-workers.ts'
import { postgresBinaries, startPostgres } from '../postgres/postgres-server.ts'

const PIPELINES = 10_000

await run('SQLite', 2)
if (postgresBinaries() === undefined) {
  console.log('PostgreSQL is not installed: nothing of it has been shown')
  process.exitCode = 1
} else {
  const server = await startPostgres()
  try {
    const { location } = await temporarySchema(server.url)
    await run('PostgreSQL', 4, location)
  } finally {
    await server.stop()
  }
}

async function run(name: string, workers: number, databaseUrl?: string): Promise<void> {
  const result = await exportByWorkers({ workers, pipelines: PIPELINES, databaseUrl })
  const { exports, again, requests, seconds, faults } = result
  console.log(
    `${name}, ${workers} workers: ${exports} exports in ${requests} requests, ${again} again, ${seconds.toFixed(1)} s`,
  )
  for (const fault of faults) console.log(fault)
  if (faults.length > 0) process.exitCode = 1
}
