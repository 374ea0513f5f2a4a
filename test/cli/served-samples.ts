import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { until } from '../gateway/until.ts'
import { serving } from './serving.ts'

/** The service with its sample workspace. */
export interface ServedSamples {
  /** The URL of the management API and of the console. */
  readonly managementUrl: string
  /** The Admin API key. */
  readonly key: string
  /** Returns the JSON of a path of the Observe API. */
  // biome-ignore lint/suspicious/noExplicitAny: the tests know the shapes of the answers
  readonly get: (path: string) => Promise<any>
  /** Stops the service and removes its data. */
  readonly end: () => Promise<void>
}

/** Traces, metrics and logs. */
const SIGNALS = 3
/** The pipelines that wait for a manual job. Only finished pipelines are exported. */
const WAITING_PIPELINES = 1
const DEADLINE_MS = 240_000

/**
 * Starts the service with its sample workspace. Resolves when all of its telemetry is in the store. The caller ends it, so
 * that several tests can share it.
 */
export async function serveSamples(): Promise<ServedSamples> {
  const directory = mkdtempSync(join(tmpdir(), 'penstock-samples-'))
  const dataDir = join(directory, 'data')
  const service = await serving(['--sample'], { PENSTOCK_DATA_DIR: dataDir }, { endsWithTest: false })
  const end = async () => {
    await service.end()
    rmSync(directory, { recursive: true, force: true })
  }
  const key = /API key, shown only now: +(\S+)/.exec(service.stdout.text)![1]!
  const pipelines = Number(/its (\d+) pipelines are being sent/.exec(service.stdout.text)![1])
  try {
    await allDelivered(join(dataDir, 'core.db'), SIGNALS * (pipelines - WAITING_PIPELINES))
  } catch (error) {
    await end()
    throw error
  }
  return {
    managementUrl: service.managementUrl,
    key,
    get: async (path) => {
      const response = await fetch(`${service.managementUrl}/api/v1/observe/${path}`, {
        headers: { 'obs-api-key': key },
      })
      return response.json()
    },
    end,
  }
}

/**
 * Waits until a number of exports has been delivered and none is open. An export is delivered when the store has written it,
 * so nothing arrives afterwards.
 */
async function allDelivered(file: string, exports: number): Promise<void> {
  const database = new Sqlite(file, { readonly: true, fileMustExist: true })
  try {
    const counts = database
      .prepare("select state, count(*) from deliveries where queue = 'exports' group by state")
      .raw()
    await until(
      `${exports} exports have been delivered`,
      () => {
        const { delivered = 0, ...others } = Object.fromEntries(counts.all() as [string, number][])
        if (others.dead !== undefined) throw new Error(`${others.dead} exports were refused`)
        return delivered === exports && others.open === undefined
      },
      DEADLINE_MS,
    )
  } finally {
    database.close()
  }
}
