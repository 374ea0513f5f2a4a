import { World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { DomainError } from '../../base/kit/domain-error.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import { listBranches } from './branch-operations.ts'
import { listCommitDiffs } from './commit-operations.ts'
import { compareRevisions, findMergeBase } from './comparison-operations.ts'
import { listTree } from './file-operations.ts'
import { GitHistory } from './git-history.harness.ts'
import {
  blameFile,
  getCommitSequence,
  getCommitSignature,
  listCommitRefs,
  listContributors,
} from './history-operations.ts'

let world: World
let mira: User
let project: Project
let history: GitHistory

beforeEach(async () => {
  world = await World.open()
  mira = await world.user('mira')
  project = await world.project('tools', mira)
  history = await GitHistory.create(world, project)
})

afterEach(() => world.close())

const failure = (error: DomainError) => error.failure
const lines = (...texts: string[]) => texts.map((text) => `${text}\n`).join('')

describe('blame', () => {
  const blame = async (filePath: string, more: object = {}) => {
    const groups = await world.perform(mira, blameFile, { project: project.id, filePath, ref: 'main', ...more })
    return groups.flatMap(({ commit, lines: texts }) => texts.map((text) => `${commit.sha} ${text}`))
  }
  const blameOfGit = (filePath: string, ...more: string[]) => {
    const output = history.git('blame', '--line-porcelain', ...more, 'main', '--', filePath).split('\n')
    const heads = output.filter((line) => /^[0-9a-f]{40} /.test(line)).map((line) => line.slice(0, 40))
    const texts = output.filter((line) => line.startsWith('\t')).map((line) => line.slice(1))
    return heads.map((sha, index) => `${sha} ${texts[index]}`)
  }

  test('agrees with Git after changes, a rename, a revert, merges and equal blocks', async () => {
    history.commit({ 'a.txt': lines('one', 'two', '{', '}', 'three', 'four', 'five'), 'b.txt': 'x' })
    history.commit({ 'a.txt': lines('one', '2', '{', '}', '{', '}', 'three', 'four', 'five') })
    history.commit({ 'a.txt': lines('zero', 'one', 'two', '{', '}', '{', '}', 'three', 'four', 'five') })
    history.git('checkout', '--quiet', '-b', 'side')
    history.commit({ 'a.txt': lines('zero', 'one', 'two', '{', '}', '{', '}', 'three', 'four', 'five', 'six') })
    history.git('checkout', '--quiet', 'main')
    history.commit({ 'a.txt': lines('ZERO', 'one', 'two', '{', '}', '{', '}', 'three', 'four', 'five') })
    history.merge('side')
    expect(await blame('a.txt')).toEqual(blameOfGit('a.txt'))
    history.git('mv', 'a.txt', 'moved.txt')
    history.commit({})
    history.commit({
      'moved.txt': `${lines('ZERO', 'one', 'two', '{', '}', '{', '}', 'drei', 'four', 'five', 'six', '')}end`,
    })
    expect(await blame('moved.txt')).toEqual(blameOfGit('moved.txt'))
    expect(new Set((await blame('moved.txt')).map((line) => line.slice(0, 40))).size).toBeGreaterThan(4)
    const range = { start: 2, end: 4 }
    expect(await blame('moved.txt', { range })).toEqual(blameOfGit('moved.txt', '-L2,4'))
  })

  test('agrees with Git on many random changes with a merge now and then', async () => {
    let state = 7
    const random = (below: number) => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
      return Math.floor((state / 2_147_483_648) * below)
    }
    let count = 0
    let text = Array.from({ length: 30 }, () => `line ${count++}`)
    const edited = (before: readonly string[]) => {
      const after = [...before]
      for (let edits = 1 + random(4); edits > 0; edits -= 1) {
        const fresh = Array.from({ length: random(3) }, () => `line ${count++}`)
        after.splice(random(after.length), random(3), ...fresh)
      }
      return after
    }
    history.commit({ 'a.txt': lines(...text) })
    for (let round = 0; round < 8; round += 1) {
      history.git('checkout', '--quiet', '-B', 'side')
      // The side branch changes the beginning and the main branch the end, so that both can be merged.
      const [first, last] = [text.slice(0, 10), text.slice(20)]
      const side = edited(first)
      history.commit({ 'a.txt': lines(...side, ...text.slice(10)) })
      history.git('checkout', '--quiet', 'main')
      const main = edited(last)
      history.commit({ 'a.txt': lines(...text.slice(0, 20), ...main) })
      history.merge('side')
      text = [...side, ...text.slice(10, 20), ...main]
      expect(history.git('show', 'main:a.txt')).toBe(text.join('\n'))
      expect(await blame('a.txt')).toEqual(blameOfGit('a.txt'))
    }
  })

  test('rejects a missing file, a missing ref and a reversed range', async () => {
    history.commit({ 'a.txt': 'x' })
    expect(await blame('b.txt').catch(failure)).toEqual({ code: 'not_found', what: 'File' })
    expect(await blame('a.txt', { ref: 'gone' }).catch(failure)).toEqual({ code: 'not_found', what: 'Commit' })
    expect(await blame('a.txt', { range: { start: 2, end: 1 } }).catch(failure)).toMatchObject({ code: 'parameters' })
  })

  test('rejects a file with too many lines, and a history with too many lines together', async () => {
    history.commit({ 'a.txt': 'x\n'.repeat(50_001) })
    expect(await blame('a.txt').catch(failure)).toEqual({
      code: 'refused',
      message: 'The file is too large to blame',
    })
    for (let version = 0; version < 25; version += 1) history.commit({ 'a.txt': `${version}\n${'x\n'.repeat(45_000)}` })
    expect(await blame('a.txt').catch(failure)).toEqual({
      code: 'refused',
      message: 'The history of the file is too long to blame',
    })
  })

  test('rejects a history if its versions take too much work to compare', async () => {
    for (let version = 0; version < 40; version += 1)
      history.commit({ 'a.txt': lines('kept', ...hostileLines(`${version} `, 2_000)) })
    expect(await blame('a.txt').catch(failure)).toEqual({
      code: 'refused',
      message: 'The history of the file is too long to blame',
    })
  })
})

describe('an answer with the diffs of many files that take long to compare', () => {
  const count = 60
  const change = (round: number) =>
    history.commit(
      Object.fromEntries(
        Array.from({ length: count }, (_, file) => [`${file + 100}.txt`, lines(...hostileLines(`${round} `, 3_000))]),
      ),
    )

  test('has the diffs of the first files, and marks the others as too large', async () => {
    const [from, to] = [change(0), change(1)]
    const { diffs } = await world.perform(mira, compareRevisions, { project: project.id, from, to })
    const { items } = await world.perform(mira, listCommitDiffs, {
      project: project.id,
      sha: to,
      page: 1,
      perPage: 100,
    })
    for (const files of [diffs, items]) {
      expect(files).toHaveLength(count)
      expect(files.map(({ isTooLarge }) => isTooLarge)).toEqual(files.map(({ diff }) => diff === ''))
      expect(files[0]!.isTooLarge).toBe(false)
      expect(files.at(-1)!.isTooLarge).toBe(true)
    }
  })
})

/** Returns lines that are in no other version. */
const hostileLines = (prefix: string, count: number) => Array.from({ length: count }, (_, line) => `${prefix}${line}`)

/** Creates two branches that have diverged, each with two commits, and a third one without common commits. */
function diverge() {
  history.commit({ 'a.txt': lines('1', '2', '3'), 'b.txt': 'b', 'c.txt': 'same content' })
  history.git('checkout', '--quiet', '-b', 'side')
  history.author = 'Kai'
  history.commit({ 'a.txt': lines('1', 'two', '3') }, 'First')
  history.commit({ 'b.txt': null, 'd/e.txt': 'new\n', 'c.txt': null, 'moved.txt': 'same content' }, 'Second')
  history.git('checkout', '--quiet', 'main')
  history.author = 'Mira'
  history.commit({ 'a.txt': lines('1', '2', 'three') })
  history.git('checkout', '--quiet', '--orphan', 'alone')
  history.commit({})
  history.git('checkout', '--quiet', 'main')
}
const compare = (input: object) => world.perform(mira, compareRevisions, { project: project.id, ...input })

test.each([
  [{ from: 'main', to: 'side' }, ['main..side'], ['main...side']],
  [{ from: 'side', to: 'main' }, ['side..main'], ['side...main']],
  [{ from: 'main', to: 'side', straight: true }, ['main..side'], ['main..side']],
  [{ from: 'main', to: 'main' }, ['main..main'], ['main..main']],
])('compares %o as Git does', async (input, commits, diffs) => {
  diverge()
  const compared = await compare({ ...input, unidiff: true })
  expect(compared.commits.map(({ sha }) => sha).join('\n')).toBe(history.git('rev-list', '--reverse', ...commits))
  const patch = history.git('diff', '-M100%', '--no-color', '--full-index', ...diffs)
  const patches = patch
    .split(/^diff --git .*\n/m)
    .slice(1)
    .map((text) => text.replace(/^(?!---|@@|[ +-]).*\n?/gm, '').trimEnd())
  expect(compared.diffs.map(({ diff }) => diff.trimEnd().replace('\n\\ No newline at end of file', ''))).toEqual(
    patches.map((text) => text.replace('\n\\ No newline at end of file', '')),
  )
  expect(compared.isSameCommit).toBe(input.from === input.to)
})

test('rejects unknown revisions and other projects', async () => {
  diverge()
  expect(await compare({ from: 'main', to: 'gone' }).catch(failure)).toEqual({ code: 'not_found', what: 'Ref' })
  const other = { from: 'main', to: 'side', fromProjectId: project.id + 1 }
  expect(await compare(other).catch(failure)).toEqual({ code: 'not_found', what: 'Project' })
})

test('cuts long messages of the compared commits', async () => {
  diverge()
  history.git('checkout', '--quiet', 'side')
  history.commit({}, 'm'.repeat(20_000))
  const { commits } = await compare({ from: 'main', to: 'side' })
  expect(commits.at(-1)).toMatchObject({ message: 'm'.repeat(10_000) })
})

test('finds the merge base of two and more revisions as Git does', async () => {
  diverge()
  const base = async (...refs: string[]) =>
    (await world.perform(mira, findMergeBase, { project: project.id, refs })).sha
  for (const refs of [
    ['main', 'side'],
    ['side', 'main'],
    ['side', 'side~1'],
    ['side~1', 'main', 'side'],
  ])
    expect(await base(...refs.map((ref) => history.git('rev-parse', ref)))).toBe(history.git('merge-base', ...refs))
  expect(await base('main', 'alone').catch(failure)).toEqual({ code: 'not_found', what: 'Merge Base' })
  expect(await base('main').catch(failure)).toEqual({ code: 'refused', message: 'Provide at least 2 refs' })
  expect(await base('main', 'x').catch(failure)).toEqual({ code: 'refused', message: 'Could not find ref: x' })
})

test('lists contributors like git shortlog, without merges', async () => {
  diverge()
  history.merge('-Xtheirs', 'side')
  const list = async (input: object) => {
    const { items } = await world.perform(mira, listContributors, { project: project.id, ...input })
    return items.map(({ name, email, commits }) => `${commits} ${name} <${email}>`)
  }
  const ofGit = history
    .git('shortlog', '-sne', '--no-merges', 'main')
    .split('\n')
    .map((line) => line.trim().replace('\t', ' '))
  expect((await list({ sort: 'desc' })).toSorted()).toEqual(ofGit.toSorted())
  expect(await list({ orderBy: 'name' })).toEqual(['2 Kai <kai@example.test>', '2 Mira <mira@example.test>'])
  expect(await list({ orderBy: 'email', sort: 'desc', ref: 'side' })).toEqual([
    '1 Mira <mira@example.test>',
    '2 Kai <kai@example.test>',
  ])
})

test('lists the branches and tags that contain a commit as Git does', async () => {
  diverge()
  history.git('tag', 'v1', 'side~1')
  history.git('tag', '--annotate', '--message', 'x', 'v2', 'side')
  for (const commit of ['main~1', 'side~1', 'side', 'alone']) {
    const sha = history.git('rev-parse', commit)
    const { items } = await world.perform(mira, listCommitRefs, { project: project.id, sha })
    const ofGit = (...args: string[]) =>
      history
        .git(...args, '--contains', sha, '--format=%(refname:short)')
        .split('\n')
        .filter(Boolean)
    expect(items).toEqual([
      ...ofGit('branch').map((name) => ({ type: 'branch', name })),
      ...ofGit('tag').map((name) => ({ type: 'tag', name })),
    ])
    const tags = await world.perform(mira, listCommitRefs, { project: project.id, sha, type: 'tag' })
    expect(tags.items.map(({ name }) => name)).toEqual(ofGit('tag'))
  }
})

test('lists branches by a regular expression and in other orders', async () => {
  diverge()
  const names = async (input: object) =>
    (await world.perform(mira, listBranches, { project: project.id, ...input })).items.map(({ name }) => name)
  expect(await names({ regex: '^(main|al.*)$' })).toEqual(['alone', 'main'])
  expect(await names({ regex: '(?i)SIDE' })).toEqual(['side'])
  expect(await names({ sort: 'updated_desc' })).toEqual(['alone', 'main', 'side'])
  expect(await names({ sort: 'updated_asc' })).toEqual(['side', 'main', 'alone'])
  const invalid = { code: 'parameters', problems: [{ path: ['regex'], problem: 'invalid' }] }
  expect(await names({ regex: '(' }).catch(failure)).toEqual(invalid)
  expect(await names({ regex: 'x', search: 'y' }).catch(failure)).toMatchObject({ code: 'parameters' })
  history.git('branch', 'x'.repeat(40))
  expect(await names({ regex: '^(x|y)*$' }).catch(failure)).toEqual(['x'.repeat(40)])
  // This one takes exponential time where expressions are tried one path after the other.
  expect(await names({ regex: '^(x|x)*b$' })).toEqual([])
})

test('pages through a tree by the path of the last entry, or by its id', async () => {
  history.commit(Object.fromEntries(Array.from({ length: 5 }, (_, index) => [`${index}.txt`, `${index}`])))
  const page = async (input: object) => {
    const found = await world.perform(mira, listTree, {
      project: project.id,
      pagination: 'keyset',
      perPage: 2,
      ...input,
    })
    return {
      paths: found.items.map(({ path }) => path),
      ids: found.items.map(({ sha }) => sha),
      next: 'nextCursor' in found ? found.nextCursor : 'none',
    }
  }
  const first = await page({})
  expect(first.paths).toEqual(['0.txt', '1.txt'])
  const second = await page({ cursor: first.next })
  expect(second.paths).toEqual(['2.txt', '3.txt'])
  expect((await page({ pageToken: first.ids[1] })).paths).toEqual(['2.txt', '3.txt'])
  expect(await page({ cursor: second.next })).toMatchObject({ paths: ['4.txt'], next: undefined })
  expect(await page({ pageToken: 'gone' }).catch(failure)).toMatchObject({ code: 'parameters' })
})

describe('one commit', () => {
  test('has the number of commits that Git counts, over all parents or the first ones', async () => {
    history.commit({ 'a.txt': 'a' })
    history.git('checkout', '--quiet', '-b', 'side')
    history.commit({ 'b.txt': 'b' })
    history.commit({ 'b.txt': 'c' })
    history.git('checkout', '--quiet', 'main')
    history.merge('side')
    const count = async (sha: string, firstParent?: boolean) =>
      (await world.perform(mira, getCommitSequence, { project: project.id, sha, firstParent })).count
    for (const sha of ['main', 'side', history.git('rev-parse', 'side~1')]) {
      expect(await count(sha)).toBe(Number(history.git('rev-list', '--count', sha)))
      expect(await count(sha, true)).toBe(Number(history.git('rev-list', '--count', '--first-parent', sha)))
    }
    await expect(count('none')).rejects.toSatisfy((error: DomainError) => failure(error).code === 'not_found')
  })

  test.each([
    ['SSH SIGNATURE', 'SSH'],
    ['PGP SIGNATURE', 'PGP'],
    ['PGP MESSAGE', 'PGP'],
    ['SIGNED MESSAGE', 'X509'],
  ])('with a signature of %s has the type %s', async (armor, type) => {
    const oid = history.commit({ 'a.txt': 'a' }, '-----BEGIN SSH SIGNATURE-----')
    const signature = (sha: string) => world.perform(mira, getCommitSignature, { project: project.id, sha })
    await expect(signature(oid)).rejects.toMatchObject({ failure: { code: 'not_found' } })
    const [headers, message] = history.git('cat-file', 'commit', oid).split('\n\n')
    const signed = `${headers}\ngpgsig -----BEGIN ${armor}-----\n \n abc\n -----END ${armor}-----\n\n${message}\n`
    expect(await signature(history.object('commit', signed))).toEqual({ type })
  })
})
