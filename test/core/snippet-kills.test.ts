import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '@penstock/db'
import { temporarySchema } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CoreProcess } from './core-process.ts'
import { randomFrom } from './crash-runs.ts'
import { writeOften, writeUntilKilled } from './kill-runs.ts'
import { snippetFaults, untilSwept } from './snippet-checks.ts'
import { SnippetWriter } from './snippet-writes.ts'

/** The whole proof has 100 kills and 10,000 writes. */
const KILLS = Number(process.env.PENSTOCK_TEST_KILLS ?? 20)
const WRITES = Number(process.env.PENSTOCK_TEST_WRITES ?? 300)
const CONCURRENT_WRITERS = 20
const SEED = 20_261_123
const TIMEOUT_MS = 300_000 + KILLS * 10_000 + WRITES * 100

let dataDir: string
let databaseUrl: string | undefined
let dropSchema: (() => Promise<void>) | undefined

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'penstock-snippets-'))
  const serverUrl = process.env.PENSTOCK_TEST_DATABASE_URL
  const schema = serverUrl ? await temporarySchema(serverUrl) : undefined
  databaseUrl = schema?.location
  dropSchema = schema && (() => schema.remove())
})

afterEach(async () => {
  await dropSchema?.()
  rmSync(dataDir, { recursive: true, force: true })
})

const start = () => CoreProcess.start(dataDir, { databaseUrl })
const openDb = () => openDatabase<object>(databaseUrl ?? join(dataDir, 'core.db'))
const newProject = async (core: CoreProcess): Promise<number> =>
  (await core.must('POST', '/projects', { name: 'work', path: 'work' })).id
const writersOf = (core: CoreProcess, projectId: number, count: number): Promise<SnippetWriter[]> =>
  Promise.all(
    Array.from({ length: count }, (_, index) =>
      SnippetWriter.of(core, projectId, randomFrom(SEED + index), `writer${index}`),
    ),
  )

test(`after ${KILLS} kills, the row and the repository of every snippet agree`, { timeout: TIMEOUT_MS }, async () => {
  const random = randomFrom(SEED)
  let core = await start()
  const db = openDb()
  const projectId = await newProject(core)
  const writers = await writersOf(core, projectId, 6)
  let unanswered = 0
  try {
    for (let kills = 0; kills < KILLS; kills += 1) {
      await writeUntilKilled(core, writers, random)
      unanswered += writers.filter(({ pending }) => pending !== undefined).length
      await core[Symbol.asyncDispose]()
      core = await start()
      await untilSwept(db)
      expect(await snippetFaults({ core, db, dataDir, projectId }, writers)).toEqual([])
    }
    // Fewer would mean that the core was killed while idle.
    expect(unanswered).toBeGreaterThan(KILLS)
  } finally {
    await core[Symbol.asyncDispose]()
    await db.close()
  }
})

test(`after ${WRITES} writes by ${CONCURRENT_WRITERS} writers to two processes, git fsck reports nothing`, {
  timeout: TIMEOUT_MS,
}, async () => {
  const cores = [await start(), await start()]
  const db = openDb()
  try {
    const projectId = await newProject(cores[0]!)
    const writers = await writersOf(cores[0]!, projectId, CONCURRENT_WRITERS)
    await writeOften(cores, writers, WRITES)
    await untilSwept(db)
    expect(await snippetFaults({ core: cores[1]!, db, dataDir, projectId }, writers)).toEqual([])
  } finally {
    for (const core of cores) await core[Symbol.asyncDispose]()
    await db.close()
  }
})
