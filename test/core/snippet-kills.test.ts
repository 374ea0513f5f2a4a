import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { openDatabase } from '@penstock/db'
import { temporarySchema } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CoreProcess } from './core-process.ts'
import { randomFrom } from './crash-runs.ts'
import { snippetFaults, untilSwept } from './snippet-checks.ts'
import { SnippetWriter } from './snippet-writes.ts'

/** The whole proof has 100 kills and 10,000 writes. */
const KILLS = Number(process.env.PENSTOCK_TEST_KILLS ?? 20)
const WRITES = Number(process.env.PENSTOCK_TEST_WRITES ?? 300)
const CONCURRENT_WRITERS = 20
const MAX_WRITES_BEFORE_KILL = 25
/** Turns of the event loop of the test, which give the core a few milliseconds at most. */
const MAX_TURNS_BEFORE_KILL = 300
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

async function writeUntilKilled(core: CoreProcess, writers: readonly SnippetWriter[], random: () => number) {
  const killAfter = 1 + Math.floor(random() * MAX_WRITES_BEFORE_KILL)
  const turns = Math.floor(random() * MAX_TURNS_BEFORE_KILL)
  let acknowledged = 0
  let isKilled = false
  const writeRepeatedly = async (writer: SnippetWriter) => {
    while (!isKilled) {
      try {
        await writer.write(core)
      } catch (error) {
        // `fetch` throws these if there is no response, or only a part of one.
        if (isKilled && (error instanceof TypeError || error instanceof SyntaxError)) return
        throw error
      }
      acknowledged += 1
      if (acknowledged !== killAfter) continue
      for (let turn = 0; turn < turns; turn += 1) await nextTurn()
      isKilled = true
      core.kill()
    }
  }
  await Promise.all(writers.map(writeRepeatedly))
}

test(`after ${WRITES} writes by ${CONCURRENT_WRITERS} writers to two processes, git fsck reports nothing`, {
  timeout: TIMEOUT_MS,
}, async () => {
  const cores = [await start(), await start()]
  const db = openDb()
  try {
    const projectId = await newProject(cores[0]!)
    const writers = await writersOf(cores[0]!, projectId, CONCURRENT_WRITERS)
    let left = WRITES
    const writeRepeatedly = async (writer: SnippetWriter, index: number) => {
      while (left > 0) {
        left -= 1
        await writer.write(cores[(index + left) % cores.length]!)
      }
    }
    await Promise.all(writers.map(writeRepeatedly))
    await untilSwept(db)
    expect(await snippetFaults({ core: cores[1]!, db, dataDir, projectId }, writers)).toEqual([])
  } finally {
    for (const core of cores) await core[Symbol.asyncDispose]()
    await db.close()
  }
})
