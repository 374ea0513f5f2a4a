import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Db, openDatabase } from '@penstock/db'
import { temporarySchema } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CoreProcess } from './core-process.ts'
import { randomFrom } from './crash-runs.ts'
import type { Random } from './crash-writes.ts'
import { type RandomWriter, writeOften, writeUntilKilled } from './kill-runs.ts'
import { untilSwept } from './stored-data-checks.ts'

/** A writer that knows whether its last write was left without an answer. */
interface InterruptibleWriter extends RandomWriter {
  readonly pending: unknown
}

/** The data to search for faults of the stored objects. */
export interface Stored {
  readonly core: CoreProcess
  readonly db: Db<object>
  readonly dataDir: string
  /** The id of the group or project that all writers write to. */
  readonly parentId: number
}

/** Objects that consist of rows and of files in a Git repository. */
interface RepositoryObjects<Writer extends InterruptibleWriter> {
  readonly name: string
  readonly seed: number
  /** Creates the group or project, and returns its id. */
  createParent(core: CoreProcess): Promise<number>
  newWriter(core: CoreProcess, parentId: number, random: Random, name: string): Writer | Promise<Writer>
  /**
   * Returns the differences between rows, repositories and acknowledged writes. The writers continue with what is
   * stored.
   */
  faultsOf(stored: Stored, writers: readonly Writer[]): Promise<string[]>
}

/** The whole proof has 100 kills and 10,000 writes. */
const KILLS = Number(process.env.PENSTOCK_TEST_KILLS ?? 20)
const WRITES = Number(process.env.PENSTOCK_TEST_WRITES ?? 300)
const WRITERS_PER_KILL = 6
const CONCURRENT_WRITERS = 20
const TIMEOUT_MS = 300_000 + KILLS * 10_000 + WRITES * 100
/** `git fsck` reads every object of all writes. */
export const FSCK_TIMEOUT_MS = 60_000 + WRITES * 30

/** Declares the tests that rows and repositories agree after kills, and after writes by many writers to two processes. */
export function proveRowsAndRepositoriesAgree<Writer extends InterruptibleWriter>({
  name,
  seed,
  createParent,
  newWriter,
  faultsOf,
}: RepositoryObjects<Writer>): void {
  let dataDir: string
  let databaseUrl: string | undefined
  let dropSchema: (() => Promise<void>) | undefined

  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'penstock-kills-'))
    const serverUrl = process.env.PENSTOCK_TEST_DATABASE_URL
    const schema = serverUrl ? await temporarySchema(serverUrl) : undefined
    databaseUrl = schema?.location
    dropSchema = schema && (() => schema.remove())
  })

  afterEach(async () => {
    await dropSchema?.()
    // Many writes leave tens of thousands of files.
    await rm(dataDir, { recursive: true, force: true })
  }, TIMEOUT_MS)

  const start = () => CoreProcess.start(dataDir, { databaseUrl })
  const openDb = () => openDatabase<object>(databaseUrl ?? join(dataDir, 'core.db'))
  const newWriters = (core: CoreProcess, parentId: number, count: number): Promise<Writer[]> =>
    Promise.all(
      Array.from({ length: count }, (_, index) =>
        newWriter(core, parentId, randomFrom(seed + index), `writer${index}`),
      ),
    )

  test(`after ${KILLS} kills, rows and repositories of ${name} agree`, { timeout: TIMEOUT_MS }, async () => {
    const random = randomFrom(seed)
    let core = await start()
    const db = openDb()
    let unanswered = 0
    try {
      const parentId = await createParent(core)
      const writers = await newWriters(core, parentId, WRITERS_PER_KILL)
      for (let kills = 0; kills < KILLS; kills += 1) {
        await writeUntilKilled(core, writers, random)
        unanswered += writers.filter(({ pending }) => pending !== undefined).length
        await core[Symbol.asyncDispose]()
        core = await start()
        await untilSwept(db)
        expect(await faultsOf({ core, db, dataDir, parentId }, writers)).toEqual([])
      }
      // Fewer would mean that the core was killed while idle.
      expect(unanswered).toBeGreaterThan(KILLS)
    } finally {
      await core[Symbol.asyncDispose]()
      await db.close()
    }
  })

  test(`after ${WRITES} writes by ${CONCURRENT_WRITERS} writers to two processes, ${name} have no faults`, {
    timeout: TIMEOUT_MS,
  }, async () => {
    const cores = [await start(), await start()] as const
    const db = openDb()
    try {
      const parentId = await createParent(cores[0])
      const writers = await newWriters(cores[0], parentId, CONCURRENT_WRITERS)
      await writeOften(cores, writers, WRITES)
      await untilSwept(db)
      expect(await faultsOf({ core: cores[1], db, dataDir, parentId }, writers)).toEqual([])
    } finally {
      for (const core of cores) await core[Symbol.asyncDispose]()
      await db.close()
    }
  })
}
