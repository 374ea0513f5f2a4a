import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Db, openDatabase } from '@penstock/db'
import { CoreProcess } from './core-process.ts'
import { contentOf, type Place, type Random, Writer } from './crash-writes.ts'
import { type Content, type Kind, kinds, Ledger } from './ledger.ts'
import { databaseFaults, orphans, repositoryFaults, unannouncedCommits } from './stored-faults.ts'

const MAX_WRITES_BEFORE_KILL = 40
const MAX_WRITERS = 12
/** Of our event loop, in which the core goes on by a few milliseconds at most. */
const MAX_TURNS_BEFORE_KILL = 200
/** The core would have been killed long before. */
const MAX_WRITES_OF_ONE = 500
const PER_PAGE = 100
/** Of one list; a run writes less than that. */
const MAX_PAGES = 10

export interface CrashResult {
  readonly kills: number
  /** Writes that were answered. */
  readonly acknowledged: number
  /** Writes that were under way when the core was killed, and how many of them had taken place. */
  readonly unanswered: number
  readonly takenPlace: number
  /** From the start of the process to its first line. */
  readonly slowestStartMs: number
  readonly faults: readonly string[]
}

interface Run {
  readonly name: string
  readonly place: Place
  readonly ledger: Ledger
  /** Projects whose removal was acknowledged. */
  readonly removedIds: number[]
}

/**
 * Kills `penstock serve core` in the midst of concurrent writes, starts it again on the same data directory and looks
 * whether everything acknowledged is there and nothing by halves; so often.
 *
 * What each writes, and after how many answers the core is killed, follows from `seed`; how the requests then overlap is up to
 * the machine.
 */
export async function crashRuns({
  runs,
  seed,
  databaseUrl,
}: {
  readonly runs: number
  readonly seed: number
  /** Of PostgreSQL, which goes on running; without it, SQLite. */
  readonly databaseUrl?: string
}): Promise<CrashResult> {
  const random = randomFrom(seed)
  const dataDir = mkdtempSync(join(tmpdir(), 'penstock-crash-'))
  const faults: string[] = []
  const done: Run[] = []
  const counts = { acknowledged: 0, unanswered: 0, takenPlace: 0, slowestStartMs: 0 }
  let core = await CoreProcess.start(dataDir, { databaseUrl })
  const db = openDatabase<object>(databaseUrl ?? join(dataDir, 'core.db'))
  try {
    const userIds = await people(core)
    for (let index = 0; index < runs; index += 1) {
      const run = {
        name: `r${index}`,
        place: await placeOf(core, `r${index}`, userIds),
        ledger: new Ledger(),
        removedIds: [],
      }
      done.push(run)
      counts.acknowledged += await writeUntilKilled(core, run, random)
      counts.unanswered += run.ledger.unanswered
      await core[Symbol.asyncDispose]()
      faults.push(...faultsLogged(core))

      const beganMs = performance.now()
      core = await CoreProcess.start(dataDir, { databaseUrl })
      counts.slowestStartMs = Math.max(counts.slowestStartMs, performance.now() - beganMs)
      const found = await look(core, db, dataDir, run)
      counts.takenPlace += found.takenPlace
      faults.push(...found.faults, ...(await databaseFaults(db, dataDir)))
      // It has to go on where it was, too, with the repository whose lock died with its holder.
      const writer = new Writer(core, run.place, run.ledger, random, `${run.name}_after`)
      for (const kind of kinds) await writer.write(kind)
    }
    // What an earlier run has left must not fall to a later one.
    for (const run of done) faults.push(...(await look(core, db, dataDir, run)).faults)
    faults.push(...(await databaseFaults(db, dataDir)))
    await core[Symbol.asyncDispose]()
    faults.push(...faultsLogged(core))
    return { kills: runs, ...counts, faults: [...new Set(faults)].slice(0, 50) }
  } finally {
    await core[Symbol.asyncDispose]()
    await db.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** Until so many are answered as the dice say; those under way then stay open. Returns how many were answered. */
async function writeUntilKilled(
  core: CoreProcess,
  { name, place, ledger, removedIds }: Run,
  random: Random,
): Promise<number> {
  const killAfter = 1 + Math.floor(random() * MAX_WRITES_BEFORE_KILL)
  const writers = 2 + Math.floor(random() * (MAX_WRITERS - 1))
  const turns = Math.floor(random() * MAX_TURNS_BEFORE_KILL)
  let acknowledged = 0
  let isKilled = false
  const kill = async () => {
    // Right after an answer the core is always at much the same place.
    for (let turn = 0; turn < turns; turn += 1) await nextTurn()
    isKilled = true
    core.kill()
  }
  const isAnswered = (asked: Promise<unknown>) =>
    asked.then(
      () => true,
      (error) => {
        // Fetch says so when there is no answer, or half of one.
        if (isKilled && (error instanceof TypeError || error instanceof SyntaxError)) return false
        throw error
      },
    )
  /** Projects with a first commit come and go. */
  const removeOn = async () => {
    for (let count = 0; count < MAX_WRITES_OF_ONE && !isKilled; count += 1) {
      const draft = { name: `gone ${count}`, namespace_id: place.groupId, initialize_with_readme: true }
      const comeAndGo = async () => {
        const { id } = await core.must('POST', '/projects', draft)
        await core.must('DELETE', `/projects/${id}`)
        removedIds.push(id)
      }
      if (!(await isAnswered(comeAndGo()))) return
    }
  }
  const writeOn = async (index: number) => {
    const writer = new Writer(core, place, ledger, randomFrom(Math.floor(random() * 2 ** 32)), `${name}_${index}`)
    for (let count = 0; count < MAX_WRITES_OF_ONE && !isKilled; count += 1) {
      if (!(await isAnswered(writer.write()))) return
      acknowledged += 1
      if (acknowledged === killAfter) await kill()
    }
  }
  await Promise.all([removeOn(), ...Array.from({ length: writers }, (_, index) => writeOn(index))])
  return acknowledged
}

async function look(
  core: CoreProcess,
  db: Db<object>,
  dataDir: string,
  { name, place, ledger, removedIds }: Run,
): Promise<{ faults: string[]; takenPlace: number }> {
  const { groupId, projectId } = place
  const commits = await listed(core, `/projects/${projectId}/repository/commits?ref_name=main`)
  const found: Record<Kind, (readonly [string, Content])[]> = {
    issue: (await listed(core, `/projects/${projectId}/issues?scope=all&state=all`)).map((json) => [
      json.description,
      contentOf.issue(json),
    ]),
    milestone: (await listed(core, `/groups/${groupId}/milestones?state=all`)).map((json) => [
      json.title,
      contentOf.milestone(json),
    ]),
    variable: (await listed(core, `/projects/${projectId}/variables?`)).map((json) => [
      json.key,
      contentOf.variable(json),
    ]),
    commit: await Promise.all(
      commits.map(async ({ id, message }) => {
        const diffs = await core.must('GET', `/projects/${projectId}/repository/commits/${id}/diff?per_page=100`)
        return [message, contentOf.commit(diffs)] as const
      }),
    ),
  }
  const shown = new Set(commits.map(({ id }) => id))
  const faults = [
    ...kinds.flatMap((kind) => ledger.faultsOf(kind, found[kind])),
    ...ledger.shas.filter((sha) => !shown.has(sha)).map((sha) => `commit ${sha} is not shown any more`),
    ...(await unannouncedCommits(db, ledger.shas)),
    ...(await orphans(db, dataDir, removedIds)),
    ...(await repositoryFaults(dataDir, projectId, ledger.shas)),
  ]
  return {
    faults: faults.map((fault) => `${name}: ${fault}`),
    takenPlace: kinds.reduce((sum, kind) => sum + ledger.takenPlace(kind, found[kind]), 0),
  }
}

// biome-ignore lint/suspicious/noExplicitAny: `contentOf` says what is in them
async function listed(core: CoreProcess, path: string): Promise<any[]> {
  const items = []
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const { status, json } = await core.call('GET', `${path}&per_page=${PER_PAGE}&page=${page}`)
    // A repository without a commit has no branch to list.
    if (status === 404 && path.includes('ref_name')) return []
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${JSON.stringify(json)}`)
    items.push(...json)
    if (json.length < PER_PAGE) return items
  }
  throw new Error(`${path} has more than ${MAX_PAGES * PER_PAGE}`)
}

/** Of a core that has ended: what it took for a fault of its own, whatever it answered. */
const faultsLogged = (core: CoreProcess): string[] =>
  core.stderr
    .split('\n')
    .filter((line) => /"level":"(?:error|fatal)"/.test(line))
    .map((line) => `logged: ${line}`)

async function people(core: CoreProcess): Promise<number[]> {
  const ids: number[] = [(await core.must('GET', '/user')).id]
  for (const username of ['ada', 'grace']) {
    const profile = { username, name: username, email: `${username}@example.com`, force_random_password: true }
    ids.push((await core.must('POST', '/users', profile)).id)
  }
  return ids
}

async function placeOf(core: CoreProcess, path: string, userIds: readonly number[]): Promise<Place> {
  const { id: groupId } = await core.must('POST', '/groups', { name: path, path })
  for (const user_id of userIds.slice(1)) {
    await core.must('POST', `/groups/${groupId}/members`, { user_id, access_level: 30 })
  }
  const { id: projectId } = await core.must('POST', '/projects', { name: 'work', path: 'work', namespace_id: groupId })
  return { groupId, projectId, userIds }
}

/** Mulberry32: numbers in [0, 1). */
function randomFrom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
