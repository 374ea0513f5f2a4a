import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { repositoryPath, World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { DomainError, Failure } from '../../base/kit/domain-error.ts'
import { accessLevels } from '../../base/model/access-level.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import { createBranch, getBranch, listBranches, removeBranch } from './branch-operations.ts'
import { inSteps } from './change-context.harness.ts'
import { createCommit, getCommit, listCommitDiffs, listCommits } from './commit-operations.ts'
import { initializeRepository } from './commit-to-branch.ts'
import { createFile, getBlob, getFile, listTree, removeFile, updateFile } from './file-operations.ts'
import { createTag, getTag, listTags, removeTag } from './tag-operations.ts'

let world: World
let mira: User
let project: Project

beforeEach(async () => {
  world = await World.open()
  mira = await world.user('mira')
  project = await world.project('tools', mira)
})

afterEach(() => world.close())

const gitdir = () => repositoryPath(world.core, project.id)
const git = (...args: string[]) =>
  execFileSync('git', ['--git-dir', gitdir(), ...args], { encoding: 'utf8', stdio: 'pipe' })

const initialize = (project: Project) =>
  inSteps(world.core, mira, (context) => initializeRepository(context, project, mira))
type Action = Record<string, unknown>
const commit = (actions: Action[], more: Record<string, unknown> = {}) =>
  world.perform(mira, createCommit, { project: project.id, branch: 'main', commitMessage: 'Change', actions, ...more })
const create = (filePath: string, content = 'x\n'): Action => ({ action: 'create', filePath, content })
const refusal = (answer: Promise<unknown>): Promise<Failure> =>
  answer.then(
    () => expect.fail('should be rejected'),
    (error: DomainError) => error.failure,
  )
const branches = async () => (await world.perform(mira, listBranches, { project: project.id })).items
const titles = async (input: Record<string, unknown> = {}) =>
  (await world.perform(mira, listCommits, { project: project.id, ...input })).items.map(({ title }) => title)

describe('commits', () => {
  test('the first one creates the repository and its default branch, which Git can read', async () => {
    const created = await commit([create('docs/ü🚀.md', 'Hällo\n'), create('run.sh', '')], {
      commitMessage: 'Add docs\n\nWhy not\n\nSigned-off-by: Mira\nSigned-off-by: Noor',
      authorName: 'Noor Elm',
      authorEmail: 'noor@example.test',
    })
    expect(created).toMatchObject({
      title: 'Add docs',
      parentShas: [],
      author: { name: 'Noor Elm', email: 'noor@example.test', atSeconds: 1_770_091_506, offsetMinutes: 0 },
      committer: { name: 'mira Holt', email: 'mira@example.test' },
      trailers: [
        { key: 'Signed-off-by', value: 'Mira' },
        { key: 'Signed-off-by', value: 'Noor' },
      ],
      stats: { additions: 1, deletions: 0 },
    })
    expect(git('fsck', '--strict', '--full')).toBe('')
    expect(git('rev-parse', 'HEAD').trim()).toBe(created.sha)
    expect(git('show', 'HEAD:docs/ü🚀.md')).toBe('Hällo\n')
    expect(git('log', '-1', '--format=%an|%ae|%cn|%aI', 'main')).toBe(
      'Noor Elm|noor@example.test|mira Holt|2026-02-03T04:05:06+00:00\n',
    )
    const [event] = await world.core.db.read.selectFrom('events').selectAll().execute()
    expect(event).toMatchObject({ type: 'repository.pushed', object_id: project.id, actor_id: mira.id })
    expect(JSON.parse(event!.details)).toEqual({ ref: 'refs/heads/main', before: null, after: created.sha })
    const { defaultBranch } = await getProject({ db: world.core.db.read, nowMs: 0 }, project.id)
    expect(defaultBranch).toBe('main')
  })

  test('contain all actions, applied in order', async () => {
    await commit([create('a.txt', '1\n2\n'), create('b/c.txt'), create('d.sh', ''), create('e.txt', 'e\n')])
    const { sha } = await commit([
      { action: 'update', filePath: 'a.txt', content: Buffer.from('1\nü\n').toString('base64'), encoding: 'base64' },
      { action: 'move', filePath: 'b', previousPath: 'b/c.txt' },
      { action: 'chmod', filePath: 'd.sh', executeFilemode: true },
      { action: 'delete', filePath: 'e.txt' },
      create('f/g/h.txt', 'h\n'),
    ])
    expect(git('ls-tree', '-r', 'main').replace(/[0-9a-f]{40}/g, '')).toBe(
      '100644 blob \ta.txt\n100644 blob \tb\n100755 blob \td.sh\n100644 blob \tf/g/h.txt\n',
    )
    const { items } = await world.perform(mira, listCommitDiffs, { project: project.id, sha })
    expect(
      items.map(({ oldPath, newPath, oldMode, newMode, diff }) => [oldPath, newPath, oldMode, newMode, diff]),
    ).toEqual([
      ['a.txt', 'a.txt', '100644', '100644', '@@ -1,2 +1,2 @@\n 1\n-2\n+ü\n'],
      ['b/c.txt', 'b', '100644', '100644', ''],
      ['d.sh', 'd.sh', '100644', '100755', ''],
      ['e.txt', 'e.txt', '100644', undefined, '@@ -1 +0,0 @@\n-e\n'],
      ['f/g/h.txt', 'f/g/h.txt', undefined, '100644', '@@ -0,0 +1 @@\n+h\n'],
    ])
    expect(git('fsck', '--strict')).toBe('')
  })

  test.each([
    ['creating an existing file', [create('a.txt')]],
    ['creating a file below a file', [create('a.txt/b')]],
    ['creating a file with the name of a directory', [create('dir')]],
    ['updating a missing file', [{ action: 'update', filePath: 'none', content: '' }]],
    ['deleting a directory', [{ action: 'delete', filePath: 'dir' }]],
    ['moving without a previous path', [{ action: 'move', filePath: 'x' }]],
    ['creating a file twice', [create('new.txt'), create('new.txt')]],
    ['a path out of the repository', [create('../../evil')]],
    ['a path in the directory of Git', [create('.git/hooks/post-update')]],
    ['a path with a control character', [create('a\nb')]],
    ['content that is not Base64', [{ ...create('y', '%%%'), encoding: 'base64' }]],
    ['content that is too large', [create('y', 'x'.repeat(10 * 1024 * 1024 + 1))]],
  ])('are rejected without any change: %s', async (_, actions) => {
    const before = await commit([create('a.txt'), create('dir/file')])
    expect((await refusal(commit(actions as Action[]))).code).toBe('refused')
    expect(git('rev-parse', 'main').trim()).toBe(before.sha)
    expect(readdirSync(world.directory)).not.toContain('evil')
  })

  test('do not overwrite a file that has changed since the given commit', async () => {
    const first = await commit([create('a.txt'), create('b.txt')])
    const other = await commit([{ action: 'update', filePath: 'b.txt', content: 'b' }])
    const update = (lastCommitId: string) =>
      commit([{ action: 'update', filePath: 'a.txt', content: lastCommitId, lastCommitId }])
    const second = await update(other.sha)
    expect((await refusal(update(first.sha))).code).toBe('refused')
    await update(second.sha)
  })

  test('create a new branch from the given start', async () => {
    await commit([create('a.txt')])
    expect((await refusal(commit([create('b.txt')], { branch: 'next' }))).code).toBe('refused')
    await commit([create('b.txt')], { branch: 'next', startBranch: 'main' })
    expect((await refusal(commit([create('c.txt')], { branch: 'next', startBranch: 'main' }))).code).toBe('refused')
    await commit([create('c.txt')], { branch: 'next', startBranch: 'main', force: true })
    expect(git('ls-tree', '--name-only', 'next')).toBe('a.txt\nc.txt\n')
  })

  test('are listed newest first, by path, time, branch and page', async () => {
    for (const name of ['a', 'b', 'c']) {
      await commit([create(`${name}/file`)], { commitMessage: `Add ${name}` })
      await world.clock.advance(60_000)
    }
    await commit([create('d')], { commitMessage: 'Add d', branch: 'next', startBranch: 'main' })
    expect(await titles()).toEqual(['Add c', 'Add b', 'Add a'])
    expect(await titles({ refName: 'next', perPage: 1 })).toEqual(['Add d'])
    expect(await titles({ all: true })).toEqual(['Add d', 'Add c', 'Add b', 'Add a'])
    expect(await titles({ path: 'b' })).toEqual(['Add b'])
    expect(await titles({ path: '../b' })).toEqual([])
    expect(await titles({ since: '2026-02-03T04:06:00Z', until: '2026-02-03T04:06:30Z' })).toEqual(['Add b'])
    expect(await world.perform(mira, listCommits, { project: project.id, page: 2, perPage: 2 })).toMatchObject({
      items: [{ title: 'Add a' }],
      hasNext: false,
      total: undefined,
    })
    expect(await refusal(titles({ refName: 'none' }))).toEqual({ code: 'not_found', what: 'Reference' })
  })

  test('are found by id, abbreviated id, branch or tag', async () => {
    const { sha } = await commit([create('a.txt')])
    await world.perform(mira, createTag, { project: project.id, tagName: 'v1', ref: 'main', message: 'One' })
    const get = (wanted: string) => world.perform(mira, getCommit, { project: project.id, sha: wanted })
    const found = await Promise.all([sha, sha.slice(0, 8), 'main', 'v1', 'refs/tags/v1', 'HEAD'].map(get))
    expect(new Set(found.map((one) => one.sha))).toEqual(new Set([sha]))
    for (const wanted of ['none', '0'.repeat(40), '../../core.db', '../HEAD', 'config', 'refs/heads/../../config']) {
      expect(await refusal(get(wanted))).toEqual({ code: 'not_found', what: 'Commit' })
    }
  })
})

describe('branches and tags', () => {
  test('a branch can be created, is shown as merged, and can be removed', async () => {
    const { sha } = await commit([create('a.txt')])
    const input = { project: project.id, branch: 'feature/x' }
    const created = await world.perform(mira, createBranch, { ...input, ref: sha.slice(0, 7) })
    expect(created).toMatchObject({
      name: 'feature/x',
      isMerged: false,
      isDefault: false,
      canPush: true,
      commit: { sha },
    })
    await commit([create('c.txt')])
    expect(await world.perform(mira, getBranch, input)).toMatchObject({ isMerged: true })
    await commit([create('b.txt')], { branch: 'feature/x' })
    expect((await branches()).map(({ name, isMerged, isDefault }) => [name, isMerged, isDefault])).toEqual([
      ['feature/x', false, false],
      ['main', false, true],
    ])
    const again = world.perform(mira, createBranch, { ...input, ref: 'main' })
    expect((await refusal(again)).code).toBe('refused')
    expect((await refusal(world.perform(mira, createBranch, { ...input, branch: 'feature', ref: 'main' }))).code).toBe(
      'refused',
    )
    expect((await refusal(world.perform(mira, createBranch, { ...input, branch: '../../x', ref: 'main' }))).code).toBe(
      'refused',
    )
    await world.perform(mira, removeBranch, input)
    await world.perform(mira, createBranch, { ...input, branch: 'feature', ref: 'main' })
    expect(git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/feature\nrefs/heads/main\n')
    expect(await refusal(world.perform(mira, getBranch, input))).toEqual({ code: 'not_found', what: 'Branch' })
    expect((await refusal(world.perform(mira, removeBranch, { ...input, branch: 'main' }))).code).toBe('protected')
  })

  test('a search matches a part of a name, anchored by ^ and $', async () => {
    await commit([create('a.txt')])
    for (const branch of ['feature-1', 'a-feature'])
      await world.perform(mira, createBranch, { project: project.id, branch, ref: 'main' })
    const found = async (search: string) =>
      (await world.perform(mira, listBranches, { project: project.id, search })).items.map(({ name }) => name)
    expect(await found('FEAT')).toEqual(['a-feature', 'feature-1'])
    expect(await found('^feat')).toEqual(['feature-1'])
    expect(await found('feature$')).toEqual(['a-feature'])
  })

  test('tags can be created with and without an annotation', async () => {
    const { sha } = await commit([create('a.txt')])
    const tag = (tagName: string, message?: string) =>
      world.perform(mira, createTag, { project: project.id, tagName, ref: 'main', ...(message && { message }) })
    expect(await tag('v1.9')).toMatchObject({ target: sha, annotation: undefined, commit: { sha } })
    await world.clock.advance(60_000)
    const annotated = await tag('v1.10', 'Ten')
    expect(annotated).toMatchObject({
      annotation: { message: 'Ten', tagger: { atSeconds: 1_770_091_566 } },
      commit: { sha },
    })
    expect(git('cat-file', '-t', 'v1.10')).toBe('tag\n')
    expect(git('fsck', '--strict')).toBe('')
    const names = async (input: object) =>
      (await world.perform(mira, listTags, { project: project.id, ...input })).items.map(({ name }) => name)
    expect(await names({})).toEqual(['v1.10', 'v1.9'])
    expect(await names({ orderBy: 'version', sort: 'asc' })).toEqual(['v1.9', 'v1.10'])
    expect((await refusal(tag('v1.9'))).code).toBe('refused')
    await world.perform(mira, removeTag, { project: project.id, tagName: 'v1.9' })
    expect(await refusal(world.perform(mira, getTag, { project: project.id, tagName: 'v1.9' }))).toEqual({
      code: 'not_found',
      what: 'Tag',
    })
  })

  test('objects and references packed by Git can be read and removed', async () => {
    await commit([create('a.txt', 'old\n')])
    await world.perform(mira, createBranch, { project: project.id, branch: 'next', ref: 'main' })
    git('gc', '--quiet')
    expect((await branches()).map(({ name }) => name)).toEqual(['main', 'next'])
    await commit([{ action: 'update', filePath: 'a.txt', content: 'new\n' }])
    await world.perform(mira, removeBranch, { project: project.id, branch: 'next' })
    expect(git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main\n')
    expect(git('show', 'main:a.txt')).toBe('new\n')
  })
})

describe('files', () => {
  test('can be created, read, updated and removed', async () => {
    const input = { project: project.id, filePath: 'src/a.txt', branch: 'main', commitMessage: 'x' }
    expect(await world.perform(mira, createFile, { ...input, content: 'one' })).toEqual({
      path: 'src/a.txt',
      branch: 'main',
    })
    const first = await world.perform(mira, getFile, { project: project.id, filePath: 'src/a.txt', ref: 'main' })
    expect(first).toMatchObject({
      name: 'a.txt',
      sha256: '7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed',
      blobSha: '43dd47ea691c90a5fa7827892c70241913351963',
      isExecutable: false,
    })
    expect(first.commitSha).toBe(first.lastCommitSha)
    await world.perform(mira, createFile, { ...input, filePath: 'b', content: '' })
    await world.perform(mira, updateFile, { ...input, content: 'two', lastCommitId: first.lastCommitSha })
    const blob = await world.perform(mira, getBlob, { project: project.id, sha: first.blobSha })
    expect(Buffer.from(blob.bytes).toString()).toBe('one')
    await world.perform(mira, removeFile, input)
    const missing = world.perform(mira, getFile, { project: project.id, filePath: 'src/a.txt' })
    expect(await refusal(missing)).toEqual({ code: 'not_found', what: 'File' })
    expect(git('ls-tree', '-r', '--name-only', 'main')).toBe('b\n')
  })

  test('are listed after directories', async () => {
    await commit([create('b'), create('z/y/x'), create('c/d')])
    const paths = async (input: object) =>
      (await world.perform(mira, listTree, { project: project.id, ...input })).items.map(
        ({ path, mode }) => `${mode} ${path}`,
      )
    expect(await paths({})).toEqual(['040000 c', '040000 z', '100644 b'])
    expect(await paths({ path: '/z/', recursive: true })).toEqual(['040000 z/y', '100644 z/y/x'])
    for (const input of [{ path: 'none' }, { path: 'b' }, { path: '../../..' }, { ref: 'none' }]) {
      expect(await refusal(paths(input))).toEqual({ code: 'not_found', what: 'Tree' })
    }
  })
})

describe('permissions', () => {
  test('users who can see the project can read, and Developers can write', async () => {
    const open = await world.project('open', mira, 'public')
    const noor = await world.user('noor')
    await world.member(open, noor, accessLevels.reporter)
    await initialize(open)
    const read = await world.perform(undefined, getFile, { project: open.id, filePath: 'README.md' })
    expect(Buffer.from(read.bytes).toString()).toBe('# open\n')
    const write = { project: open.id, branch: 'main', commitMessage: 'x', actions: [create('a')] }
    expect(await refusal(world.perform(noor, createCommit, write))).toEqual({ code: 'forbidden' })
    expect(await refusal(world.perform(undefined, createCommit, write))).toEqual({ code: 'unauthenticated' })
    const hidden = world.perform(noor, listTree, { project: project.id })
    expect(await refusal(hidden)).toEqual({ code: 'not_found', what: 'Project' })
  })

  test('an empty repository has empty lists, and is initialized only once', async () => {
    expect(await titles()).toEqual([])
    expect(await branches()).toEqual([])
    await initialize(project)
    expect((await refusal(initialize(project))).code).toBe('refused')
  })
})
