import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Db, openDatabase } from '@penstock/db'
import { CoreProcess } from './core-process.ts'
import { contentOf, type Random, Writer, type WriteTarget } from './crash-writes.ts'
import { commitsWithoutEvent, databaseFaults, orphans, repositoryFaults, untilSwept } from './stored-data-checks.ts'
import { type Content, type Kind, kinds, WriteHistory } from './write-history.ts'

const MAX_WRITES_BEFORE_KILL = 40
const MAX_WRITERS = 12
/** Turns of the event loop of the test, which give the core a few milliseconds at most. */
const MAX_TURNS_BEFORE_KILL = 200
/** A limit that is never reached, because the core is killed before. */
const MAX_WRITES_OF_ONE = 500
const PER_PAGE = 100
/** The limit of pages of one list; a run writes less than that. */
const MAX_PAGES = 10

export interface CrashResult {
  readonly kills: number
  /** The number of acknowledged writes. */
  readonly acknowledged: number
  /** The number of writes that were running when the core was killed, and how many of these were stored. */
  readonly unanswered: number
  readonly unansweredStored: number
  /** The time from the start of the process to its first line of output. */
  readonly slowestStartMs: number
  readonly faults: readonly string[]
}

interface Run {
  readonly name: string
  readonly target: WriteTarget
  readonly history: WriteHistory
  /** Ids of projects with an acknowledged removal. */
  readonly removedIds: number[]
}

/**
 * Kills `penstock serve core` during concurrent writes, starts it again on the same data directory, and checks that
 * every acknowledged write is stored and no write is stored partially. Repeats this `runs` times.
 *
 * `seed` determines what each writer writes and after how many answers the core is killed. How the requests overlap
 * depends on the machine.
 */
export async function crashRuns({
  runs,
  seed,
  databaseUrl,
}: {
  readonly runs: number
  readonly seed: number
  /** The URL of a PostgreSQL database, which keeps running; default: SQLite. */
  readonly databaseUrl?: string
}): Promise<CrashResult> {
  const random = randomFrom(seed)
  const dataDir = mkdtempSync(join(tmpdir(), 'penstock-crash-'))
  const faults: string[] = []
  const done: Run[] = []
  const counts = { acknowledged: 0, unanswered: 0, unansweredStored: 0, slowestStartMs: 0 }
  let core = await CoreProcess.start(dataDir, { databaseUrl })
  const db = openDatabase<object>(databaseUrl ?? join(dataDir, 'core.db'))
  try {
    const userIds = await createUsers(core)
    for (let index = 0; index < runs; index += 1) {
      const run = {
        name: `r${index}`,
        target: await createTarget(core, `r${index}`, userIds),
        history: new WriteHistory(),
        removedIds: [],
      }
      done.push(run)
      counts.acknowledged += await writeUntilKilled(core, run, random)
      counts.unanswered += run.history.unanswered
      await core[Symbol.asyncDispose]()
      faults.push(...faultsLogged(core))

      const startMs = performance.now()
      core = await CoreProcess.start(dataDir, { databaseUrl })
      counts.slowestStartMs = Math.max(counts.slowestStartMs, performance.now() - startMs)
      const found = await check(core, db, dataDir, run)
      counts.unansweredStored += found.unansweredStored
      faults.push(...found.faults, ...(await databaseFaults(db, dataDir)))
      // Writes must continue to work, also to the repository with a lock of the killed process.
      const writer = new Writer(core, run.target, run.history, random, `${run.name}_after`)
      for (const kind of kinds) await writer.write(kind)
    }
    // Later runs must not damage the data of earlier ones.
    for (const run of done) faults.push(...(await check(core, db, dataDir, run)).faults)
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

/**
 * Writes until a random number of writes is acknowledged, kills the core, and returns the number of acknowledged
 * writes.
 */
async function writeUntilKilled(
  core: CoreProcess,
  { name, target, history, removedIds }: Run,
  random: Random,
): Promise<number> {
  const killAfter = 1 + Math.floor(random() * MAX_WRITES_BEFORE_KILL)
  const writers = 2 + Math.floor(random() * (MAX_WRITERS - 1))
  const turns = Math.floor(random() * MAX_TURNS_BEFORE_KILL)
  let acknowledged = 0
  let isKilled = false
  const kill = async () => {
    // A random delay, because the core is always at much the same point right after an answer.
    for (let turn = 0; turn < turns; turn += 1) await nextTurn()
    isKilled = true
    core.kill()
  }
  const isAnswered = (request: Promise<unknown>) =>
    request.then(
      () => true,
      (error) => {
        // `fetch` throws these if there is no response, or only a part of one.
        if (isKilled && (error instanceof TypeError || error instanceof SyntaxError)) return false
        throw error
      },
    )
  /** Creates and removes projects with a first commit. */
  const createAndRemoveRepeatedly = async () => {
    for (let count = 0; count < MAX_WRITES_OF_ONE && !isKilled; count += 1) {
      const draft = { name: `removed ${count}`, namespace_id: target.groupId, initialize_with_readme: true }
      const createAndRemove = async () => {
        const { id } = await core.must('POST', '/projects', draft)
        await core.must('DELETE', `/projects/${id}`)
        removedIds.push(id)
      }
      if (!(await isAnswered(createAndRemove()))) return
    }
  }
  const writeRepeatedly = async (index: number) => {
    const writer = new Writer(core, target, history, randomFrom(Math.floor(random() * 2 ** 32)), `${name}_${index}`)
    for (let count = 0; count < MAX_WRITES_OF_ONE && !isKilled; count += 1) {
      if (!(await isAnswered(writer.write()))) return
      acknowledged += 1
      if (acknowledged === killAfter) await kill()
    }
  }
  const writing = Array.from({ length: writers }, (_, index) => writeRepeatedly(index))
  await Promise.all([createAndRemoveRepeatedly(), ...writing])
  return acknowledged
}

async function check(
  core: CoreProcess,
  db: Db<object>,
  dataDir: string,
  { name, target, history, removedIds }: Run,
): Promise<{ faults: string[]; unansweredStored: number }> {
  const { groupId, projectId } = target
  // The sweep removes a repository if its first commit was interrupted.
  await untilSwept(db)
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
    ...kinds.flatMap((kind) => history.faultsOf(kind, found[kind])),
    ...history.shas.filter((sha) => !shown.has(sha)).map((sha) => `commit ${sha} is no longer listed`),
    ...(await commitsWithoutEvent(db, history.shas)),
    ...(await orphans(db, dataDir, removedIds)),
    ...(await repositoryFaults(dataDir, projectId, history.shas)),
  ]
  return {
    faults: faults.map((fault) => `${name}: ${fault}`),
    unansweredStored: kinds.reduce((sum, kind) => sum + history.unansweredStored(kind, found[kind]), 0),
  }
}

// biome-ignore lint/suspicious/noExplicitAny: `contentOf` knows the shape of the items
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

/** Returns the errors in the log of a core that has ended. */
const faultsLogged = (core: CoreProcess): string[] =>
  core.stderr
    .split('\n')
    .filter((line) => /"level":"(?:error|fatal)"/.test(line))
    .map((line) => `logged: ${line}`)

async function createUsers(core: CoreProcess): Promise<number[]> {
  const ids: number[] = [(await core.must('GET', '/user')).id]
  for (const username of ['ada', 'grace']) {
    const profile = { username, name: username, email: `${username}@example.com`, force_random_password: true }
    ids.push((await core.must('POST', '/users', profile)).id)
  }
  return ids
}

async function createTarget(core: CoreProcess, path: string, userIds: readonly number[]): Promise<WriteTarget> {
  const { id: groupId } = await core.must('POST', '/groups', { name: path, path })
  for (const user_id of userIds.slice(1)) {
    await core.must('POST', `/groups/${groupId}/members`, { user_id, access_level: 30 })
  }
  const { id: projectId } = await core.must('POST', '/projects', { name: 'work', path: 'work', namespace_id: groupId })
  return { groupId, projectId, userIds }
}

/** Returns a Mulberry32 generator of numbers in [0, 1). */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
