import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openSqlite } from '@penstock/db'
import { systemClock } from '@penstock/runtime'
import { repositoryPath, World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { inSteps } from '../../code/repositories/change-context.harness.ts'
import { openOwnStorage } from '../../code/repositories/repository-storage.ts'
import { migrateCore } from '../../migrate-core.ts'
import type { CoreTables } from '../kit/tables.ts'
import type { Core } from '../operations/context.ts'
import { changeRepository } from './change-repository.ts'
import { moveReference, setHeadBranch } from './git-reference.ts'
import type { WritableRepository } from './git-repository.ts'
import { findRepository } from './repository-directory.ts'
import { nextRepositoryId, type RepositoryKey, repositoryNameOf } from './repository-key.ts'
import { removeRepositories, sweepRepositories } from './sweep-repositories.ts'
import { undoUnfinishedChanges } from './undo-change.ts'

const snippet: RepositoryKey = { kind: 'snippet', id: 5 }
const LIMIT_BYTES = 100_000

let world: World

beforeEach(async () => {
  world = await World.open()
})

afterEach(() => world.close())

const gitIn = (key: RepositoryKey, core: Core = world.core) => {
  const gitdir = repositoryPath(core, repositoryNameOf(key))
  return (...args: string[]) => execFileSync('git', ['--git-dir', gitdir, ...args], { encoding: 'utf8', stdio: 'pipe' })
}
const objectsOf = (key: RepositoryKey) =>
  readdirSync(join(repositoryPath(world.core, repositoryNameOf(key)), 'objects'), {
    recursive: true,
    withFileTypes: true,
  })
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name)

/** Plans a commit with one file. */
async function planCommit(repository: WritableRepository, content: string, branch = 'main'): Promise<string> {
  const oid = await repository.writeBlob(Buffer.from(content))
  const tree = await repository.writeTree([{ name: 'a.txt', mode: '100644', oid }])
  const person = { name: 'Mira', email: 'mira@example.test', atSeconds: 1_770_091_506, offsetMinutes: 0 }
  const commit = { tree, parents: [], author: person, committer: person, message: content }
  const to = await repository.writeCommit(commit)
  const git = await repository.find(to)
  expect(git?.type).toBe('commit')
  await moveReference(repository, 'heads', { name: branch, from: undefined, to })
  return to
}

interface Change {
  readonly key?: RepositoryKey
  readonly plan?: (repository: WritableRepository) => Promise<unknown>
  /** Runs after the row of the change was stored. */
  readonly afterRow?: (gitdir: string) => unknown
  readonly limitBytes?: number
}

/** Changes a repository, and stores a row with it. */
const change = ({ key = snippet, plan, afterRow, limitBytes = LIMIT_BYTES }: Change) =>
  inSteps(world.core, undefined, ({ core, write }) =>
    changeRepository(
      core,
      key,
      { write, openStorage: (gitdir, isNew) => openOwnStorage(core, { key, limitBytes, gitdir, isNew }) },
      async (repository) => {
        await (plan ?? ((writable) => planCommit(writable, 'x')))(repository)
        return async (tx) => {
          await tx.db
            .insertInto('internal_ids')
            .values({ parent: 'test', kind: repositoryNameOf(key), last: 1 })
            .execute()
          await afterRow?.(repository.gitdir)
        }
      },
    ),
  )
const rows = (core = world.core) =>
  core.db.read.selectFrom('internal_ids').select('kind').where('parent', '=', 'test').execute()
const intents = (core = world.core) => core.db.read.selectFrom('repository_changes').selectAll().execute()
const deleteRows = () => world.core.db.write((tx) => tx.deleteFrom('internal_ids').execute())

test('repositories of different kinds with one number have different directories, locks, sizes and removals', async () => {
  const kinds = ['project', 'snippet', 'group_wiki', 'project_wiki'] as const
  const keys = kinds.map((kind) => ({ kind, id: 5 }))
  for (const key of keys) await change({ key, plan: (repository) => planCommit(repository, key.kind) })
  expect(keys.map((key) => gitIn(key)('log', '--format=%s', 'main').trim())).toEqual(kinds)
  expect(readdirSync(world.core.settings.repositoriesDir).toSorted()).toEqual([
    expect.stringMatching(/^5-[0-9a-f]{32}\.git$/),
    'group-wikis',
    'project-wikis',
    'snippets',
  ])
  const sizes = await world.core.db.read.selectFrom('repository_sizes').selectAll().orderBy('repository').execute()
  // A blob, a tree, a commit and the branch.
  expect(sizes.map(({ repository, bytes }) => [repository, bytes])).toEqual(
    ['5', 'group-wikis/5', 'project-wikis/5', 'snippets/5'].map((name) => [name, 4 * 4_096]),
  )
  await world.core.db.write((db) => removeRepositories({ db, nowMs: 0, afterCommit: () => {} }, [snippet]))
  await sweepRepositories(world.core)
  expect(await Promise.all(keys.map(async (key) => (await findRepository(world.core, key)) !== undefined))).toEqual([
    true,
    false,
    true,
    true,
  ])
  expect(await world.core.db.read.selectFrom('repository_sizes').selectAll().execute()).toHaveLength(3)
})

test('each id for a new snippet is returned once', async () => {
  const ids = await Promise.all([1, 2, 3].map(() => nextRepositoryId(world.core, 'snippet')))
  expect(ids.toSorted()).toEqual([1, 2, 3])
})

describe('nothing remains in the database and in the repository', () => {
  const fail = () => {
    throw new Error('broken')
  }
  const blockBranch = (name: string) => (gitdir: string) =>
    mkdirSync(join(gitdir, 'refs', 'heads', name, 'blocked'), { recursive: true })

  test('if the row of the first change fails', async () => {
    await expect(change({ afterRow: fail })).rejects.toThrow('broken')
    expect([await rows(), await intents(), await findRepository(world.core, snippet)]).toEqual([[], [], undefined])
    expect(readdirSync(join(world.core.settings.repositoriesDir, 'snippets'))).toEqual([])
  })

  test('if the reference of the first change fails', async () => {
    await expect(change({ afterRow: blockBranch('main') })).rejects.toThrow()
    expect([await rows(), await intents(), await findRepository(world.core, snippet)]).toEqual([[], [], undefined])
  })

  test.each([
    ['the row', fail],
    ['the first of two references', blockBranch('second')],
    ['the last reference', blockBranch('third')],
  ])('if %s of a later change fails', async (_, afterRow) => {
    await change({})
    await deleteRows()
    const before = {
      objects: objectsOf(snippet),
      refs: gitIn(snippet)('for-each-ref'),
      head: gitIn(snippet)('symbolic-ref', 'HEAD'),
    }
    const sizes = await world.core.db.read.selectFrom('repository_sizes').selectAll().execute()
    const plan = async (repository: WritableRepository) => {
      await setHeadBranch(repository, 'second')
      await planCommit(repository, 'y', 'second')
      await planCommit(repository, 'z', 'third')
    }
    await expect(change({ plan, afterRow })).rejects.toThrow()
    expect([await rows(), await intents()]).toEqual([[], []])
    expect({
      objects: objectsOf(snippet),
      refs: gitIn(snippet)('for-each-ref'),
      head: gitIn(snippet)('symbolic-ref', 'HEAD'),
    }).toEqual(before)
    expect(await world.core.db.read.selectFrom('repository_sizes').selectAll().execute()).toEqual(sizes)
  })

  test('if a packed branch is deleted and the row fails', async () => {
    await change({})
    gitIn(snippet)('pack-refs', '--all')
    const [main] = gitIn(snippet)('rev-parse', 'main').split('\n')
    await deleteRows()
    const plan = (repository: WritableRepository) =>
      moveReference(repository, 'heads', { name: 'main', from: main, to: undefined })
    await expect(change({ plan, afterRow: fail })).rejects.toThrow('broken')
    expect(gitIn(snippet)('rev-parse', 'main').trim()).toBe(main)
    await change({ plan })
    expect(gitIn(snippet)('for-each-ref')).toBe('')
  })

  test('if the change exceeds the size limit', async () => {
    const plan = (repository: WritableRepository) => planCommit(repository, String(Math.random()).repeat(2_000))
    const failed = change({ plan, limitBytes: 3 * 4_096 }).catch((error) => error.failure)
    expect(await failed).toMatchObject({ code: 'storage_full', limitBytes: 3 * 4_096 })
    expect([await rows(), await findRepository(world.core, snippet)]).toEqual([[], undefined])
  })
})

test('a change without a move stores only its rows, and creates no repository', async () => {
  await change({ plan: async () => {} })
  expect([await rows(), await intents(), await findRepository(world.core, snippet)]).toEqual([
    [{ kind: 'snippets/5' }],
    [],
    undefined,
  ])
})

/** A script that kills itself at a point of a change. */
const killedChange = `
import { randomBytes } from 'node:crypto'
const [dist, db, runtime, file, settings, point] = process.argv.slice(2)
const { changeRepository } = await import(dist + 'base/git/change-repository.js')
const { moveReference } = await import(dist + 'base/git/git-reference.js')
const { openOwnStorage } = await import(dist + 'code/repositories/repository-storage.js')
const { openSqlite } = await import(db)
const { systemClock: clock } = await import(runtime)
const core = { db: openSqlite(file), clock, randomBytes, settings: JSON.parse(settings) }
const kill = async (here) => {
  if (here !== point) return
  process.kill(process.pid, 'SIGKILL')
  await new Promise(() => {})
}
const key = { kind: 'snippet', id: 5 }
const write = async (work) => {
  const result = await core.db.write(async (db) => {
    const result = await work({ db })
    await kill('after the references have moved')
    return result
  })
  await kill('after the commit')
  return result
}
const openStorage = (gitdir, isNew) => openOwnStorage(core, { key, limitBytes: 1e6, gitdir, isNew })
await changeRepository(core, key, { write, openStorage }, async (repository) => {
  await kill('after the repository was created')
  const oid = await repository.writeBlob(Buffer.from(process.pid + ''))
  const tree = await repository.writeTree([{ name: 'a.txt', mode: '100644', oid }])
  const person = { name: 'Mira', email: 'mira@example.test', atSeconds: process.pid, offsetMinutes: 0 }
  const to = await repository.writeCommit({ tree, parents: [], author: person, committer: person, message: 'x' })
  await moveReference(repository, 'heads', { name: 'b' + process.pid, from: undefined, to })
  await kill('before the intent')
  return async ({ db }) => {
    await kill('before the rows')
    await db.insertInto('internal_ids').values({ parent: 'test', kind: 'b' + process.pid, last: 1 }).execute()
    await kill('before the references move')
  }
})
`

describe('after a kill', () => {
  const points = [
    'after the repository was created',
    'before the intent',
    'before the rows',
    'before the references move',
    'after the references have moved',
    'after the commit',
  ]

  async function coreOfFile(): Promise<{ core: Core; run(point: string): Promise<void> }> {
    const file = join(world.directory, 'killed.db')
    const db = openSqlite<CoreTables>(file)
    onTestFinished(() => db.close())
    await migrateCore(db)
    const settings = { ...world.core.settings, repositoriesDir: join(world.directory, 'killed') }
    const script = join(world.directory, 'change.mjs')
    writeFileSync(script, killedChange)
    const built = (path: string) => new URL(`../../../../${path}`, import.meta.url).href
    const args = [
      built('core/dist/'),
      built('db/dist/index.js'),
      built('runtime/dist/index.js'),
      file,
      JSON.stringify(settings),
    ]
    return {
      core: { ...world.core, db, clock: systemClock, settings },
      async run(point) {
        const child = spawn(process.execPath, [script, ...args, point], { stdio: ['ignore', 'inherit', 'inherit'] })
        const [code, signal] = await once(child, 'close')
        expect([code, signal]).toEqual(point === '' ? [0, null] : [null, 'SIGKILL'])
      },
    }
  }
  const branches = (core: Core) =>
    existsSync(repositoryPath(core, 'snippets/5'))
      ? gitIn(snippet, core)('branch', '--format=%(refname:short)').split('\n').filter(Boolean)
      : undefined

  test.each(points)(
    '%s of the first change, neither rows nor repository remain, or both',
    async (point) => {
      const { core, run } = await coreOfFile()
      await run(point)
      await undoUnfinishedChanges(core)
      const stored = (await rows(core)).map(({ kind }) => kind)
      const isComplete = point === 'after the commit'
      expect(stored).toHaveLength(isComplete ? 1 : 0)
      expect(branches(core)).toEqual(isComplete ? stored : undefined)
      expect(await intents(core)).toEqual([])
    },
    30_000,
  )

  test('of any later change, the next change finds rows and references that agree', async () => {
    const { core, run } = await coreOfFile()
    await run('')
    for (const [index, point] of points.entries()) {
      await run(point)
      await run('')
      const stored = (await rows(core)).map(({ kind }) => kind)
      // The changes that ran to their end, and the one that was killed after its commit.
      expect(stored).toHaveLength(index + 2 + (point === 'after the commit' ? 1 : 0))
      expect(branches(core)).toEqual(stored.toSorted())
    }
    expect(await intents(core)).toEqual([])
    expect(gitIn(snippet, core)('fsck', '--strict', '--full', '--no-dangling')).toBe('')
  }, 120_000)
})
