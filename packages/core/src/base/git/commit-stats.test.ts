import { execFileSync } from 'node:child_process'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { repositoryPath, World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { showProject } from '../../code/projects/project-operations.ts'
import { createCommit, getCommit, listCommits } from '../../code/repositories/commit-operations.ts'
import type { Project } from '../model/project.ts'

const COMMITS = 22
const FILES = 100

let world: World
let open: Project

beforeEach(async () => {
  world = await World.open()
  const mira = await world.user('mira')
  open = await world.project('open', mira, 'public')
  const actions = [{ action: 'create', filePath: 'README.md', content: 'x' }]
  await world.perform(mira, createCommit, { project: open.id, branch: 'main', commitMessage: 'x', actions })
})

afterEach(() => world.close())

/** Writes commits to the branch `many` with Git, each of which adds one line to the given number of files. */
function writeMany(files: number, commits: number): void {
  const gitdir = repositoryPath(world.core, open.id)
  const text = (commit: number, file: number) => `${commit}\n${`line of ${file}\n`.repeat(commit)}`
  const stream = Array.from({ length: commits }, (_, index) => {
    const commit = index + 1
    const head = `commit refs/heads/many\ncommitter M <m@example.test> ${1_770_000_000 + commit} +0000\ndata 1\nm\n`
    const changes = Array.from({ length: files }, (_, file) => {
      const content = text(commit, file)
      return `M 100644 inline f${file}\ndata ${content.length}\n${content}\n`
    })
    return head + changes.join('')
  })
  execFileSync('git', ['-c', 'fastimport.unpackLimit=1000000', '--git-dir', gitdir, 'fast-import', '--quiet'], {
    input: stream.join('\n'),
  })
}

const list = () =>
  world.perform(undefined, listCommits, { project: open.id, refName: 'many', withStats: true, perPage: 100 })

test('a request counts 2,000 files, the next one counts further, and other requests are answered in between', async () => {
  writeMany(FILES, COMMITS)
  let isOver = false
  const listed = list().finally(() => {
    isOver = true
  })
  let others = 0
  while (!isOver) {
    await world.perform(undefined, showProject, { project: open.id })
    await nextTurn()
    others += 1
  }
  const first = (await listed).items.map(({ stats }) => stats)
  expect(first.slice(0, 2)).toEqual([
    { additions: FILES * 2, deletions: FILES },
    { additions: FILES * 2, deletions: FILES },
  ])
  expect(first.filter((stats) => stats !== undefined)).toHaveLength(2_000 / FILES)
  expect(first.at(-1)).toBeUndefined()
  // How many depends on the machine. A count that blocks the event loop lets none through.
  expect(others).toBeGreaterThan(2)

  const second = (await list()).items.map(({ stats }) => stats)
  expect(second.slice(0, 20)).toEqual(first.slice(0, 20))
  expect(second.at(-1)).toEqual({ additions: FILES * 2, deletions: 0 })
  expect(second).not.toContain(undefined)
})

test('a commit that exceeds the limit of a request has no stats, and is not counted again', async () => {
  writeMany(2_001, 1)
  const { stats, sha } = await world.perform(undefined, getCommit, { project: open.id, sha: 'many' })
  expect(stats).toBeUndefined()
  expect((await list()).items.map((item) => [item.sha, item.stats])).toEqual([[sha, undefined]])
})
