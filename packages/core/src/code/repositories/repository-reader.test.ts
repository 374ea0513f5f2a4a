import { execFileSync } from 'node:child_process'
import { repositoryPath, World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import { performBatch } from '../../base/operations/perform.ts'
import { createCommit } from './commit-operations.ts'
import { RepositoryReader } from './repository-reader.ts'
import {
  branchNamesOf,
  commitsAt,
  commitsOfRepositories,
  entriesOfTrees,
  messagesOfCommits,
  treesAt,
} from './repository-reads.ts'

let world: World
let mira: User
let tools: Project

beforeEach(async () => {
  world = await World.open()
  mira = await world.user('mira')
  tools = await world.project('tools', mira)
})
afterEach(() => world.close())

const gitdir = () => repositoryPath(world.core, tools.id)
const git = (args: string[], input = '') =>
  execFileSync('git', ['--git-dir', gitdir(), ...args], { input, encoding: 'utf8', stdio: 'pipe' }).trim()

const commit = (content: string) =>
  world.perform(mira, createCommit, {
    project: tools.id,
    branch: 'main',
    commitMessage: 'Measure',
    actions: [
      { action: 'create', filePath: 'a/large.txt', content },
      { action: 'create', filePath: 'b.txt', content: '' },
    ],
  })

test('reads sizes and contents of loose objects and of objects packed by Git', async () => {
  // The content is random, so that its compressed form is longer than the header that is read.
  const content = Buffer.from(world.core.randomBytes(100_000)).toString('base64')
  await commit(content)
  const read = async () => {
    const reader = await RepositoryReader.open(world.core, tools)
    const files = await reader.filesAt({ paths: ['a/large.txt', 'b.txt', 'a', 'c', '../b.txt'] })
    const [large] = files
    const text = Buffer.from(await large!.bytes()).toString()
    return { sizes: await Promise.all(files.map((file) => file.size())), isSame: text === content }
  }
  const expected = { sizes: [content.length, 0], isSame: true }
  expect(await read()).toEqual(expected)
  git(['repack', '-adq'])
  expect(git(['count-objects'])).toBe('0 objects, 0 kilobytes')
  expect(await read()).toEqual(expected)
})

test('counts each commit once, also if several paths lead to it', async () => {
  const { sha } = await commit('')
  const more = (message: string, ...parents: string[]) =>
    git([
      '-c',
      'user.name=M',
      '-c',
      'user.email=m@m',
      'commit-tree',
      '-m',
      message,
      ...parents.flatMap((id) => ['-p', id]),
      `${sha}^{tree}`,
    ])
  const [left, right] = [more('left', sha), more('right', sha)]
  git(['update-ref', 'refs/heads/main', more('both', left, right)])
  const reader = await RepositoryReader.open(world.core, tools)
  expect(await reader.countCommits()).toBe(4)
  expect(await reader.countCommits()).toBe(Number(git(['rev-list', '--count', 'main'])))
})

test('returns annotated and lightweight tags of a commit', async () => {
  const { sha } = await commit('')
  git(['tag', 'v1', sha])
  git(['-c', 'user.name=M', '-c', 'user.email=m@m', 'tag', '-a', '-m', 'Two', 'v2', sha])
  git(['pack-refs', '--all'])
  const reader = await RepositoryReader.open(world.core, tools)
  expect(await reader.tagsOf(sha)).toEqual(['v1', 'v2'])
  expect(await reader.count('tags')).toBe(2)
})

test('reads messages apart from commits, until the limit of bytes is reached', async () => {
  const commitWith = async (commitMessage: string) => {
    const actions = [{ action: 'create', filePath: commitMessage, content: '' }]
    const { sha } = await world.perform(mira, createCommit, {
      project: tools.id,
      branch: 'main',
      commitMessage,
      actions,
    })
    return { sha, inProject: tools }
  }
  const [six, two] = [await commitWith('sechs!'), await commitWith('ü')]
  const read = async (commits: readonly (typeof six)[], maxBytes: number) =>
    (await performBatch(world.core, mira, messagesOfCommits, commits, { maxBytes })).map((each) => each?.description)
  expect(await read([six, two, two], 10)).toEqual(['sechs!', 'ü', 'ü'])
  expect(await read([six, two, two], 9)).toEqual(['sechs!', 'ü', undefined])
  expect(await read([six, two], 5)).toEqual([undefined, undefined])
  expect(await read([{ ...two, inProject: await world.project('empty', mira) }], 0)).toEqual([undefined])
  const reader = await RepositoryReader.open(world.core, tools)
  const [commit] = await performBatch(world.core, mira, commitsAt, [reader], {})
  expect(commit).toMatchObject({ sha: two.sha, parentShas: [six.sha], author: { name: 'mira Holt' } })
  expect(JSON.stringify(commit)).not.toContain('ü')
})

test('lists a directory and its parts by type, as Git does', async () => {
  await commit('x')
  const reader = await RepositoryReader.open(world.core, tools)
  const treesOf = (input: object) => performBatch(world.core, undefined, treesAt, [reader], input)
  const [root] = await treesOf({})
  expect(root!.entries.map(({ type, path }) => `${type} ${path}`)).toEqual(['tree a', 'blob b.txt'])
  const [all] = await treesOf({ recursive: true, ref: 'main' })
  expect(all!.entries.map(({ path }) => path).toSorted()).toEqual(
    git(['ls-tree', '-rt', '--name-only', 'main']).split('\n'),
  )
  const [listed] = await performBatch(world.core, undefined, entriesOfTrees, [all!], { type: 'blob' })
  const [page] = await listed!.listing.pages({ first: 10 })
  expect(page!.items.map(({ path, sha }) => `${path} ${sha}`)).toEqual(
    ['a/large.txt', 'b.txt'].map((path) => `${path} ${git(['rev-parse', `main:${path}`])}`),
  )
  expect(await treesOf({ path: 'a', ref: 'gone' })).toEqual([undefined])
  expect(await treesOf({ path: 'b.txt' })).toEqual([undefined])
})

test('pages through the commits of a ref in both directions, and filters them', async () => {
  await commit('0')
  for (const content of ['1', '2', '3']) {
    await world.clock.advance(1_000)
    const actions = [{ action: 'update', filePath: 'a/large.txt', content }]
    await world.perform(mira, createCommit, {
      project: tools.id,
      branch: 'main',
      commitMessage: `Set ${content}`,
      actions,
    })
  }
  const reader = await RepositoryReader.open(world.core, tools)
  const page = async (input: object, request: { first: number; after?: string } | { last: number }) => {
    const [listed] = await performBatch(world.core, undefined, commitsOfRepositories, [reader], input)
    const [read] = await listed!.listing.pages(request)
    const { items, cursors, hasMore } = read!
    return { shas: items.map(({ sha }) => sha), cursors, hasMore }
  }
  const shas = (...args: string[]) => git(['rev-list', ...args, 'main']).split('\n')
  const first = await page({}, { first: 2 })
  expect(first).toMatchObject({ shas: shas('-2'), hasMore: true })
  expect(await page({}, { first: 5, after: first.cursors[1]! })).toMatchObject({
    shas: shas('--skip=2'),
    hasMore: false,
  })
  expect(await page({}, { last: 1 })).toMatchObject({ shas: shas('--skip=3'), hasMore: true })
  expect(await page({ query: 'SET 2' }, { first: 5 })).toMatchObject({ shas: shas('--grep=Set 2') })
  expect(await page({ path: 'b.txt' }, { first: 5 })).toMatchObject({ shas: shas('--skip=3') })
})

test.each([
  ['*', ['a/b', 'a/c', 'main']],
  ['a/*', ['a/b', 'a/c']],
  ['*a*c', ['a/c']],
  ['main', ['main']],
  ['mai', []],
  ['m.*n', []],
])('finds branches by the pattern %s', async (searchPattern, expected) => {
  await commit('')
  for (const name of ['a/b', 'a/c']) git(['branch', name, 'main'])
  const reader = await RepositoryReader.open(world.core, tools)
  const names = (input: object) => performBatch(world.core, undefined, branchNamesOf, [reader], input)
  expect(await names({ searchPattern, offset: 0, limit: 100 })).toEqual([expected])
  expect(await names({ searchPattern, offset: 1, limit: 1 })).toEqual([expected.slice(1, 2)])
})
