import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Project } from '../model/project.ts'
import type { User } from '../model/user.ts'
import { performBatch } from '../operations/perform.ts'
import { createCommit } from './commit-operations.ts'
import { RepositoryReader } from './repository-reader.ts'
import { commitsAt, messagesOfCommits } from './repository-reads.ts'

let world: World
let mira: User
let tools: Project

beforeEach(async () => {
  world = await World.open()
  mira = await world.user('mira')
  tools = await world.project('tools', mira)
})
afterEach(() => world.close())

const gitdir = () => join(world.core.settings.repositoriesDir, `${tools.id}.git`)
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
