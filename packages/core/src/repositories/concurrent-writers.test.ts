import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { openSqlite } from '@penstock/db'
import { systemClock } from '@penstock/runtime'
import { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import type { Core } from '../kit/context.ts'
import type { DomainError } from '../kit/domain-error.ts'
import { perform } from '../kit/perform.ts'
import type { CoreTables } from '../kit/tables.ts'
import { migrateCore } from '../migrate-core.ts'
import type { Project } from '../projects/project.ts'
import { insertProject } from '../projects/project-store.ts'
import type { User } from '../users/user.ts'
import { insertUser } from '../users/user-store.ts'
import { changeRepository } from './change-repository.ts'
import { createCommit } from './commit-operations.ts'
import { findReference, moveReference } from './git-reference.ts'

let world: World
let mira: User
let project: Project

beforeEach(async () => {
  world = await World.open()
  mira = await world.user('mira')
  project = await world.project('tools', mira)
})

afterEach(() => world.close())

const gitIn = (repositoriesDir: string, id: number) => {
  const gitdir = join(repositoriesDir, `${id}.git`)
  return (...args: string[]) => execFileSync('git', ['--git-dir', gitdir, ...args], { encoding: 'utf8', stdio: 'pipe' })
}
const commit = (core: Core, project: Project, actor: User, filePath: string) =>
  perform(core, actor, createCommit, {
    project: project.id,
    branch: 'main',
    commitMessage: filePath,
    actions: [{ action: 'create', filePath, content: filePath }],
  })

test('twenty at once on one branch, in two cores: none is lost, and history is one line', async () => {
  // A core of its own for the same database: what another process has, but for its number.
  const { db } = world.core
  const otherDb = { read: db.read, write: db.write.bind(db), close: db.close.bind(db) }
  const other: Core = { ...world.core, clock: systemClock, db: otherDb }
  const cores = [{ ...world.core, clock: systemClock }, other]
  const names = Array.from({ length: 20 }, (_, index) => `file-${index}`)
  const made = await Promise.all(names.map((name, index) => commit(cores[index % 2]!, project, mira, name)))
  const git = gitIn(world.core.settings.repositoriesDir, project.id)
  expect(git('ls-tree', '--name-only', 'main').trim().split('\n')).toEqual(names.toSorted())
  expect(git('rev-list', 'main').trim().split('\n').toSorted()).toEqual(made.map(({ sha }) => sha).toSorted())
  expect(git('rev-list', '--first-parent', '--count', 'main')).toBe('20\n')
  expect(git('fsck', '--strict')).toBe('')
  expect(await world.core.db.read.selectFrom('repository_locks').selectAll().execute()).toEqual([])
})

test('a lock of a process that has ended is taken over; that of a living one is waited for', async () => {
  const hold = (pid: number, token: string) =>
    world.core.db.write((tx) =>
      tx
        .insertInto('repository_locks')
        .values({ repository: String(project.id), token, pid, process_started: '', taken_at_ms: 0 })
        .execute(),
    )
  await hold(spawnSync('true').pid, 'of the dead')
  await commit(world.core, project, mira, 'a')

  await hold(process.ppid, 'of the living')
  const waiting = commit(world.core, project, mira, 'b')
  await world.clock.untilSleeping()
  await world.core.db.write((tx) => tx.deleteFrom('repository_locks').execute())
  await world.clock.advance(20)
  await waiting

  await hold(process.ppid, 'of the living')
  const inVain = commit(world.core, project, mira, 'c').catch((error: DomainError) => error.failure)
  let isSettled = false
  void inVain.then(() => {
    isSettled = true
  })
  while (!isSettled) {
    await Promise.race([inVain, world.clock.untilSleeping()])
    await world.clock.advance(20)
  }
  expect(await inVain).toEqual({ code: 'conflict', reason: 'Resource lock' })
})

test('a reference moves only from where it is expected', async () => {
  const { sha: first } = await commit(world.core, project, mira, 'a')
  const { sha: second } = await commit(world.core, project, mira, 'b')
  await changeRepository(world.core, String(project.id), async (repository) => {
    const move = (from: string | undefined, to: string | undefined) =>
      moveReference(repository, 'heads', { name: 'main', from, to })
    expect(await move(first, second)).toBe('not_as_expected')
    expect(await move(undefined, second)).toBe('not_as_expected')
    expect(await move(second, first)).toBe('moved')
    expect(await findReference(repository, 'heads', 'main')).toBe(first)
  })
})

/** Commits one file after the other, and says which have been answered. */
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

test('killed at any moment: what was answered is there, nothing is half there, and the next one writes', async () => {
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
  const built = (name: string) => new URL(`../../../${name}/dist/index.js`, import.meta.url).href
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
      // Some way into the next one, and not always as far.
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
