import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Db, openDatabase } from '@penstock/db'
import { temporarySchema } from '@penstock/testkit'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CoreProcess } from './core-process.ts'
import { randomFrom } from './crash-runs.ts'
import { writeOften, writeUntilKilled } from './kill-runs.ts'
import { untilSwept } from './snippet-checks.ts'
import { type PageStates, WikiWriter } from './wiki-writes.ts'

/** The whole proof has 100 kills and 10,000 writes. */
const KILLS = Number(process.env.PENSTOCK_TEST_KILLS ?? 20)
const WRITES = Number(process.env.PENSTOCK_TEST_WRITES ?? 300)
const CONCURRENT_WRITERS = 20
const SEED = 20_261_124
const TIMEOUT_MS = 300_000 + KILLS * 10_000 + WRITES * 100

let dataDir: string
let databaseUrl: string | undefined
let dropSchema: (() => Promise<void>) | undefined

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'penstock-wikis-'))
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
const newGroup = async (core: CoreProcess): Promise<number> =>
  (await core.must('POST', '/groups', { name: 'ops', path: 'ops' })).id
const writersTo = (groupId: number, count: number): WikiWriter[] =>
  Array.from({ length: count }, (_, index) => new WikiWriter(groupId, randomFrom(SEED + index), `writer${index}`))

const textOf = (pages: PageStates) => JSON.stringify([...pages].toSorted(([a], [b]) => (a < b ? -1 : 1)))

/** Returns the differences between the pages, their rows, the repository and the acknowledged writes. */
async function faultsOf(core: CoreProcess, db: Db<object>, groupId: number, writers: readonly WikiWriter[]) {
  const listed: { slug: string; content: string; wiki_page_meta_id: number }[] = await core.must(
    'GET',
    `/groups/${groupId}/wikis?with_content=true`,
  )
  const faults: string[] = []
  for (const writer of writers) {
    const own = listed.filter(({ slug }) => slug.startsWith(`${writer.name}/`))
    const stored = new Map(own.map(({ slug, content }) => [slug, content]))
    if (![writer.pages, writer.pending ?? writer.pages].some((pages) => textOf(pages) === textOf(stored)))
      faults.push(`the pages of ${writer.name} differ from its acknowledged writes`)
    writer.pages = stored
    writer.pending = undefined
    writer.ids.clear()
    for (const { slug, wiki_page_meta_id: id } of own) writer.ids.set(slug, id)
  }
  const { rows } = await sql<{ slug: string }>`select slug from wiki_pages order by id`.execute(db.read)
  const slugs = (pages: readonly { readonly slug: string }[]) => pages.map(({ slug }) => slug).toSorted()
  if (slugs(rows).join() !== slugs(listed).join())
    faults.push(`there are rows for ${slugs(rows)}, pages ${slugs(listed)}`)
  if (listed.length === 0) return faults
  const gitdir = join(dataDir, 'repositories', 'group-wikis', `${groupId}.git`)
  const fsck = ['--git-dir', gitdir, 'fsck', '--full', '--strict', '--no-dangling', '--no-progress']
  const { stdout } = await promisify(execFile)('git', fsck, { timeout: 60_000 })
  return stdout === '' ? faults : [...faults, `git fsck: ${stdout}`]
}

test(`after ${KILLS} kills, the rows and the repository of a wiki agree`, { timeout: TIMEOUT_MS }, async () => {
  const random = randomFrom(SEED)
  let core = await start()
  const db = openDb()
  const groupId = await newGroup(core)
  const writers = writersTo(groupId, 6)
  let unanswered = 0
  try {
    for (let kills = 0; kills < KILLS; kills += 1) {
      await writeUntilKilled(core, writers, random)
      unanswered += writers.filter(({ pending }) => pending !== undefined).length
      await core[Symbol.asyncDispose]()
      core = await start()
      await untilSwept(db)
      expect(await faultsOf(core, db, groupId, writers)).toEqual([])
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
    const groupId = await newGroup(cores[0]!)
    const writers = writersTo(groupId, CONCURRENT_WRITERS)
    await writeOften(cores, writers, WRITES)
    expect(await faultsOf(cores[1]!, db, groupId, writers)).toEqual([])
  } finally {
    for (const core of cores) await core[Symbol.asyncDispose]()
    await db.close()
  }
})
