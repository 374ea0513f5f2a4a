import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { openSqlite } from '@penstock/db'
import { systemClock } from '@penstock/runtime'
import { repositoryPath, WORLD_BEGINS_MS, World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { type MoveOutcome, moveReference } from '../../base/git/git-reference.ts'
import type { WritableRepository } from '../../base/git/git-repository.ts'
import { thisProcess } from '../../base/git/process-identity.ts'
import type { DomainError } from '../../base/kit/domain-error.ts'
import type { CoreTables } from '../../base/kit/tables.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import type { Core } from '../../base/operations/context.ts'
import { perform } from '../../base/operations/perform.ts'
import { insertProject } from '../../identity/projects/project-store.ts'
import { insertUser } from '../../identity/users/user-store.ts'
import { migrateCore } from '../../migrate-core.ts'
import { inSteps } from './change-context.harness.ts'
import { changeProjectRepository } from './change-project-repository.ts'
import { createCommit } from './commit-operations.ts'

let world: World
let mira: User
let project: Project

beforeEach(async () => {
  world = await World.open()
  mira = await world.user('mira')
  project = await world.project('tools', mira)
})

afterEach(() => world.close())

const gitIn =
  (repositoriesDir: string, id: number) =>
  (...args: string[]) => {
    const gitdir = repositoryPath({ settings: { repositoriesDir } }, id)
    return execFileSync('git', ['--git-dir', gitdir, ...args], { encoding: 'utf8', stdio: 'pipe' })
  }
const commit = (core: Core, project: Project, actor: User, filePath: string) =>
  perform(core, actor, createCommit, {
    project: project.id,
    branch: 'main',
    commitMessage: filePath,
    actions: [{ action: 'create', filePath, content: filePath }],
  })

const locks = () => world.core.db.read.selectFrom('repository_locks').selectAll().execute()
/** Returns a second handle of the database, so that its users do not share the local locks of the first. */
function anotherHandle(): Core['db'] {
  const { db } = world.core
  return { ...db }
}

test('no commit is lost when two cores commit to one branch twenty times concurrently, and the history is linear', async () => {
  // A second core for the same database acts like another process, except for its process id.
  const other: Core = { ...world.core, clock: systemClock, db: anotherHandle() }
  const cores = [{ ...world.core, clock: systemClock }, other]
  const names = Array.from({ length: 20 }, (_, index) => `file-${index}`)
  const committed = await Promise.all(names.map((name, index) => commit(cores[index % 2]!, project, mira, name)))
  const git = gitIn(world.core.settings.repositoriesDir, project.id)
  expect(git('ls-tree', '--name-only', 'main').trim().split('\n')).toEqual(names.toSorted())
  expect(git('rev-list', 'main').trim().split('\n').toSorted()).toEqual(committed.map(({ sha }) => sha).toSorted())
  expect(git('rev-list', '--first-parent', '--count', 'main')).toBe('20\n')
  expect(git('fsck', '--strict')).toBe('')
  expect(await locks()).toEqual([])
})

/** Inserts a lock row as another process would. */
const hold = (owner: string) =>
  world.core.db.write((tx) =>
    tx
      .insertInto('repository_locks')
      .values({
        repository: String(project.id),
        token: 'theirs',
        owner,
        renewals: 0,
        renewed_at_ms: world.clock.nowMs(),
      })
      .execute(),
  )
/** The identity of a process in another container, which has its own process id 1. */
const ELSEWHERE = 'boot/pid:[1] 1 1'

/**
 * Advances the clock in steps of 20 ms while `isWaiting`, and returns the passed time. Waits for `sleepers` before each
 * step.
 */
async function advanceWhile(isWaiting: () => Promise<boolean>, sleepers = 1): Promise<number> {
  const startMs = world.clock.nowMs()
  await world.clock.untilSleeping(sleepers)
  while (await isWaiting()) {
    await world.clock.advance(20)
    if (await isWaiting()) await world.clock.untilSleeping(sleepers)
  }
  return world.clock.nowMs() - startMs
}
const isTheirs = async () => (await locks())[0]?.token === 'theirs'
const failureOf = (work: Promise<unknown>) => work.catch((error: DomainError) => error.failure)

test('a lock of a local process that has ended is taken over immediately', async () => {
  const { pid } = spawnSync('true')
  await hold(thisProcess.replace(/ \d+ \d+$/, ` ${pid} 1`))
  await commit(world.core, project, mira, 'a')
  // Another process has the same process id now.
  await hold(`${thisProcess}1`)
  await commit(world.core, project, mira, 'b')
  expect(await locks()).toEqual([])
})

test('a lock of another container is taken over if it was not renewed for 15 s', async () => {
  await hold(ELSEWHERE)
  const committed = commit(world.core, project, mira, 'a')
  expect(await advanceWhile(isTheirs)).toBe(15_000)
  await committed
  expect(await locks()).toEqual([])
})

test('a caller waits at most 30 s for a lock that is renewed', async () => {
  await hold(ELSEWHERE)
  const first = failureOf(commit(world.core, project, mira, 'a'))
  const second = failureOf(commit(world.core, project, mira, 'b'))
  let isOver = false
  const over = Promise.all([first, second]).then(() => {
    isOver = true
  })
  const renewed = async () => {
    const renewals = Math.trunc(world.clock.nowMs() / 1_000)
    if (renewals !== (await locks())[0]?.renewals)
      await world.core.db.write((tx) => tx.updateTable('repository_locks').set({ renewals }).execute())
    if (world.clock.nowMs() >= WORLD_BEGINS_MS + 30_000) await over
    return !isOver
  }
  expect(await advanceWhile(renewed, 2)).toBe(30_000)
  expect(await Promise.all([first, second])).toEqual([{ code: 'conflict' }, { code: 'conflict' }])
  await world.core.db.write((tx) => tx.deleteFrom('repository_locks').execute())
  await commit(world.core, project, mira, 'c')
})

/** Runs `work` as a change of the project's repository. */
const change = (work: (repository: WritableRepository) => Promise<unknown>, storeRows = async () => {}) =>
  inSteps(world.core, mira, (context) =>
    changeProjectRepository(context, project, async (repository) => {
      await work(repository)
      return storeRows
    }),
  )

test('the holder renews the lock every 3 s', async () => {
  await commit(world.core, project, mira, 'a')
  await change(async () => {
    await world.clock.untilSleeping()
    await world.clock.advance(3_000)
    await world.clock.untilSleeping()
    expect(await locks()).toMatchObject([{ repository: String(project.id), renewals: 1 }])
  })
})

test.each(['moves a branch', 'deletes a branch'])(
  'a holder that has lost the lock without noticing, and %s, cannot change the repository',
  async (what) => {
    const { sha: first } = await commit(world.core, project, mira, 'a')
    let isStored = false
    const late = change(
      async (repository) => {
        const oid = await repository.writeCommit({
          ...(await repository.commit(first)),
          parents: [first],
          message: 'late',
        })
        const to = what === 'moves a branch' ? oid : undefined
        expect(await moveReference(repository, 'heads', { name: 'main', from: first, to })).toBe('planned')
        await world.core.db.write((tx) =>
          tx.updateTable('repository_locks').set({ token: 'theirs', owner: ELSEWHERE }).execute(),
        )
        const other: Core = { ...world.core, db: anotherHandle() }
        const committed = commit(other, project, mira, 'b')
        await advanceWhile(isTheirs, 2)
        await committed
      },
      async () => {
        isStored = true
      },
    )
    await expect(late).rejects.toThrow()
    const git = gitIn(world.core.settings.repositoriesDir, project.id)
    expect(git('log', '--format=%s', 'main')).toBe('b\na\n')
    expect(isStored).toBe(false)
    expect(await world.core.db.read.selectFrom('repository_changes').selectAll().execute()).toEqual([])
  },
)

test('a reference moves only if it has the expected value', async () => {
  const { sha: first } = await commit(world.core, project, mira, 'a')
  const { sha: second } = await commit(world.core, project, mira, 'b')
  const git = gitIn(world.core.settings.repositoriesDir, project.id)
  const move = async (from: string | undefined, to: string | undefined) => {
    let outcome: MoveOutcome | undefined
    await change(async (repository) => {
      outcome = await moveReference(repository, 'heads', { name: 'main', from, to })
    })
    return [outcome, git('rev-parse', 'main').trim()]
  }
  expect(await move(first, second)).toEqual(['not_as_expected', second])
  expect(await move(undefined, second)).toEqual(['not_as_expected', second])
  expect(await move(second, first)).toEqual(['planned', first])
})

/** A script that commits files in an endless loop, and prints the id of each completed commit. */
const endlessWriter = `
import { randomBytes } from 'node:crypto'
const [core, db, runtime, file, settings, project, actor] = process.argv.slice(2)
const { createCommit, perform } = await import(core)
const { openSqlite } = await import(db)
const { systemClock: clock } = await import(runtime)
const world = { db: openSqlite(file), clock, randomBytes, settings: JSON.parse(settings) }
for (let index = 0; ; index += 1) {
  const filePath = process.pid + '/' + index
  const actions = [{ action: 'create', filePath, content: 'x'.repeat(20_000) + filePath }]
  const { sha } = await perform(world, JSON.parse(actor), createCommit,
    { project: Number(project), branch: 'main', commitMessage: filePath, actions })
  console.log(sha)
}
`

test('after a kill at any time, completed commits exist, the repository is intact, and the next process can write', async () => {
  const { directory } = world
  const file = join(directory, 'killed.db')
  const db = openSqlite<CoreTables>(file)
  onTestFinished(() => db.close())
  await migrateCore(db)
  const settings = { ...world.core.settings, repositoriesDir: join(directory, 'killed') }
  const core: Core = { db, clock: systemClock, randomBytes, settings }
  const draft = { username: 'mira', name: 'Mira', email: 'mira@example.test' }
  const actor = await db.write((tx) => insertUser({ db: tx, nowMs: 0 }, draft))
  const killed = await db.write((tx) =>
    insertProject({ db: tx, nowMs: 0 }, { parent: actor, path: 'x', name: 'x', visibility: 'private' }),
  )
  const script = join(directory, 'writer.mjs')
  writeFileSync(script, endlessWriter)
  const built = (name: string) => new URL(`../../../../${name}/dist/index.js`, import.meta.url).href
  const args = [
    built('core'),
    built('db'),
    built('runtime'),
    file,
    JSON.stringify(settings),
    String(killed.id),
    JSON.stringify(actor),
  ]
  const git = gitIn(settings.repositoriesDir, killed.id)
  const answered: string[] = []
  for (let kills = 1; kills <= 6; kills += 1) {
    const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
    const ended = once(child, 'close')
    for await (const sha of createInterface({ input: child.stdout })) {
      answered.push(sha)
      // Kills the process at different points of the next commit.
      if (answered.length % 3 === kills % 3) await Promise.race([systemClock.sleep(kills * 3), ended])
      if (answered.length >= kills * 3) child.kill('SIGKILL')
    }
    await ended
    expect(git('fsck', '--strict', '--full', '--connectivity-only')).not.toMatch(/error|missing/)
    const history = new Set(git('rev-list', 'main').trim().split('\n'))
    expect(answered.filter((sha) => !history.has(sha))).toEqual([])
  }
  const { sha } = await commit(core, killed, actor, 'after')
  expect(git('rev-parse', 'main').trim()).toBe(sha)
  expect(git('fsck', '--strict', '--full')).not.toMatch(/error|missing/)
})
