import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { repositoryPath, World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { sweepRepositories } from '../../base/git/sweep-repositories.ts'
import type { DomainError } from '../../base/kit/domain-error.ts'
import { accessLevels } from '../../base/model/access-level.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import { updateApplicationSettings } from '../../base/settings/settings-operations.ts'
import { removeUser } from '../../identity/accounts/user-operations.ts'
import { removeProject } from '../projects/project-operations.ts'
import { createSnippet, removeSnippet } from './snippet-mutations.ts'
import {
  createProjectSnippet,
  getProjectSnippet,
  getRawProjectSnippet,
  getRawProjectSnippetFile,
  getSnippetUserAgent,
  type RawSnippetFile,
  removeProjectSnippet,
  updateProjectSnippet,
} from './snippet-operations.ts'

let world: World
let root: User
let mira: User
let project: Project

beforeEach(async () => {
  world = await World.open()
  root = await world.user('root', { isAdministrator: true })
  mira = await world.user('mira')
  project = await world.project('tools', mira, 'public')
})

afterEach(() => world.close())

const failure = (error: DomainError) => error.failure
const draft = { title: 'Rotate logs', files: [{ filePath: 'bin/rotate.sh', content: 'rotate' }] }
const create = (more: object = {}, actor: User | undefined = mira) =>
  world.perform(actor, createProjectSnippet, { project: project.id, ...draft, ...more })
const update = (snippetId: number, changes: object, actor: User | undefined = mira) =>
  world.perform(actor, updateProjectSnippet, { project: project.id, snippetId, ...changes })
const get = (snippetId: number, actor: User | undefined = mira) =>
  world.perform(actor, getProjectSnippet, { project: project.id, snippetId })
const textOf = async ({ content }: RawSnippetFile) => Buffer.from(content as Uint8Array).toString()
const raw = async (snippetId: number, filePath: string, ref = 'main') => {
  const input = { project: project.id, snippetId, ref, filePath }
  return textOf(await world.perform(mira, getRawProjectSnippetFile, input))
}
const gitdir = (id: number) => repositoryPath(world.core, `snippets/${id}`)
const git = (id: number, ...args: string[]) =>
  execFileSync('git', ['--git-dir', gitdir(id), ...args], { encoding: 'utf8' })
const refused = (message: string) => ({ code: 'refused', message })

test('a snippet has a repository with one commit for each change of its files', async () => {
  const snippet = await create({ description: 'Nightly' })
  expect(snippet).toMatchObject({ id: 1, visibility: 'private', files: ['bin/rotate.sh'], projectId: project.id })
  world.clock.advance(1_000)
  const changed = await update(1, {
    title: 'Rotate',
    files: [
      { action: 'create', filePath: 'b.txt', content: 'b' },
      { action: 'update', filePath: 'bin/rotate.sh', content: 'rotate -f' },
      { action: 'move', filePath: 'c.txt', previousPath: 'b.txt' },
      { action: 'create', content: 'unnamed' },
    ],
  })
  expect(changed).toMatchObject({ title: 'Rotate', files: ['bin/rotate.sh', 'c.txt', 'snippetfile1.txt'] })
  expect(changed.updatedAtMs).toBe(snippet.updatedAtMs + 1_000)
  await update(1, { title: 'Rotate all' })
  expect(git(1, 'log', '--format=%s %an <%ae>', 'main').trim().split('\n')).toEqual([
    'Update snippet mira Holt <mira@example.test>',
    'Initial commit mira Holt <mira@example.test>',
  ])
  expect(git(1, 'fsck', '--strict')).toBe('')
  expect(await raw(1, 'c.txt')).toBe('b')
  expect(await raw(1, 'bin/rotate.sh', 'main')).toBe('rotate -f')
  expect(await raw(1, 'bin/rotate.sh', git(1, 'rev-parse', 'main~1').trim())).toBe('rotate')
  const first = await world.perform(mira, getRawProjectSnippet, { project: project.id, snippetId: 1 })
  expect([first.name, await textOf(first)]).toEqual(['rotate.sh', 'rotate -f'])
})

test('a large file is written and read in parts, with turns of the event loop between them', async () => {
  const content = Array.from({ length: 500_000 }, (_, line) => `line ${line} €\n`).join('')
  const turns = { count: 0, isOver: false }
  const countTurns = () => {
    turns.count += 1
    if (!turns.isOver) setImmediate(countTurns)
  }
  setImmediate(countTurns)
  await create({ files: [{ filePath: 'log.txt', content }] })
  turns.isOver = true
  const bytes = Buffer.byteLength(content)
  // It is encoded, hashed and compressed in at most 256 KiB for each turn.
  expect(turns.count).toBeGreaterThan(bytes / (256 * 1024))
  const file = await world.perform(mira, getRawProjectSnippet, { project: project.id, snippetId: 1 })
  expect([file.size, file.sha]).toEqual([bytes, git(1, 'rev-parse', 'main:log.txt').trim()])
  const parts: Buffer[] = await (file.content as Readable).toArray()
  expect(Math.max(...parts.map(({ length }) => length))).toBeLessThanOrEqual(64 * 1024)
  expect(Buffer.concat(parts).toString() === content).toBe(true)
  expect(git(1, 'fsck', '--strict')).toBe('')
})

test('the former parameters create, change and rename the only file', async () => {
  const { id } = await create({ files: undefined, content: 'a', fileName: '' })
  expect((await get(id)).files).toEqual(['snippetfile1.txt'])
  await update(id, { content: 'b' })
  expect((await update(id, { fileName: 'b.txt' })).files).toEqual(['b.txt'])
  expect(await raw(id, 'b.txt')).toBe('b')
  await update(id, { content: 'c', fileName: 'c.txt' })
  expect(await raw(id, 'c.txt')).toBe('c')
  await update(id, { files: [{ action: 'create', filePath: 'd.txt', content: 'd' }] })
  expect(await update(id, { content: 'e' }).catch(failure)).toEqual(
    refused('To update Snippets with multiple files, you must use the `files` parameter'),
  )
})

describe('a failing action leaves neither rows nor commits', () => {
  const action = (...files: object[]) => ({ title: 'Changed', files })

  test.each([
    [{ action: 'create', filePath: 'bin/rotate.sh', content: 'x' }],
    [{ action: 'create', filePath: 'bin', content: 'x' }],
    [{ action: 'update', filePath: 'missing', content: 'x' }],
    [{ action: 'delete', filePath: 'missing' }],
    [{ action: 'move', filePath: 'new', previousPath: 'missing' }],
  ])('%j', async (last) => {
    const before = await create()
    const tip = git(1, 'rev-parse', 'main')
    const first = { action: 'create', filePath: 'first', content: '1' }
    expect(await update(1, action(first, last)).catch(failure)).toEqual(
      refused('Repository Error updating the snippet'),
    )
    expect(await get(1)).toEqual(before)
    expect(git(1, 'rev-parse', 'main')).toBe(tip)
    expect(git(1, 'fsck', '--unreachable')).toBe('')
    expect(await world.core.db.read.selectFrom('repository_changes').selectAll().execute()).toEqual([])
  })

  test('a failing creation', async () => {
    const twice = { filePath: 'a', content: '1' }
    expect(await create({ files: [twice, twice] }).catch(failure)).toEqual(
      refused('Repository Error creating the snippet'),
    )
    expect(existsSync(gitdir(1))).toBe(false)
    for (const table of ['snippets', 'repository_changes', 'repository_sizes'] as const)
      expect(await world.core.db.read.selectFrom(table).selectAll().execute()).toEqual([])
  })

  test.each([
    [{ action: 'move', filePath: 'new' }],
    [{ action: 'move', filePath: 'bin/rotate.sh', previousPath: 'bin/rotate.sh' }],
    [{ action: 'update', filePath: 'bin/rotate.sh' }],
    [{ action: 'update', filePath: 'bin/rotate.sh', previousPath: 'other', content: 'x' }],
    [{ action: 'create', filePath: 'new' }],
    [{ action: 'delete' }],
  ])('an action that lacks something: %j', async (last) => {
    const before = await create()
    expect(await update(1, action(last)).catch(failure)).toEqual({
      code: 'impossible',
      message: 'Snippet actions have invalid data',
    })
    expect(await get(1)).toEqual(before)
  })
})

test.each([
  '.git/config',
  'a/.GIT/x',
  'a//b',
  './a',
  'a/',
  'a\u0000b',
  'con\nfig',
  'git~1/x',
  '.git ',
  'a/.git\u200c/b',
])('refuses the file name %j', async (filePath) => {
  expect(await create({ files: [{ filePath, content: 'x' }] }).catch(failure)).toEqual(
    refused('Repository Error creating the snippet - Invalid file name'),
  )
})

test.each(['../a', '/a', 'a/../../b', 'a\\..\\b', '\\a'])('refuses the path %j as a parameter', async (filePath) => {
  const problems = [{ path: ['files', 0, 'filePath'], problem: 'unsafe_path' }]
  expect(await create({ files: [{ filePath, content: 'x' }] }).catch(failure)).toEqual({ code: 'parameters', problems })
})

test('a snippet has one to ten files, within the size limit', async () => {
  const files = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ filePath: `f${index}`, content: 'x'.repeat(100) }))
  expect(await create({ files: files(11) }).catch(failure)).toEqual(
    refused('The repository can contain at most 10 file(s).'),
  )
  const { id } = await create({ files: files(10) })
  const all = files(10).map(({ filePath }) => ({ action: 'delete', filePath }))
  expect(await update(id, { files: all }).catch(failure)).toEqual(
    refused('The repository must contain at least 1 file.'),
  )
  expect(await update(id, { files: [{ action: 'create', content: 'x' }] }).catch(failure)).toEqual(
    refused('The repository can contain at most 10 file(s).'),
  )
  await world.perform(root, updateApplicationSettings, { snippet_size_limit: 999 })
  expect(await create({ files: files(10) }).catch(failure)).toEqual({
    code: 'invalid',
    fields: { content: ['is too long (1000 bytes). The maximum size is 999 bytes.'] },
  })
  await create({ files: files(9) })
})

test.each(['project', 'user'] as const)('the snippets of a %s share a limit, which a removal frees', async (of) => {
  await world.close()
  // A blob, two trees, a commit and the branch take a block each.
  const snippetBytes = 5 * 4_096
  world = await World.open({ projectStorageBytes: 2 * snippetBytes + 4_096 })
  mira = await world.user('mira')
  project = await world.project('tools', mira)
  const { files, title } = draft
  const actions = files.map((file) => ({ action: 'create', ...file }))
  const [add, remove] =
    of === 'project'
      ? [
          () => create(),
          (snippetId: number) => world.perform(mira, removeProjectSnippet, { project: project.id, snippetId }),
        ]
      : [
          () => world.perform(mira, createSnippet, { title, visibility: 'private', actions }),
          (id: number) => world.perform(mira, removeSnippet, { id }),
        ]
  await add()
  await add()
  expect(await add().catch(failure)).toMatchObject({ code: 'storage_full', storedBytes: 2 * snippetBytes })
  expect(existsSync(gitdir(3))).toBe(false)
  await remove(1)
  expect((await add()).id).toBe(4)
})

test('only administrators may give a restricted visibility, and the default is that of the instance', async () => {
  const settings = { restricted_visibility_levels: ['public'], default_snippet_visibility: 'internal' }
  await world.perform(root, updateApplicationSettings, settings)
  const restricted = {
    ...refused('Visibility level public has been restricted by your administrator'),
    needsAdministrator: true,
  }
  expect(await create({ visibility: 'public' }).catch(failure)).toEqual(restricted)
  const { id, visibility } = await create()
  expect(visibility).toBe('internal')
  expect(await update(id, { visibility: 'public' }).catch(failure)).toEqual(restricted)
  expect((await update(id, { visibility: 'public' }, root)).visibility).toBe('public')
  expect((await update(id, { title: 'x' })).title).toBe('x')
})

test('the author may change a snippet, but remove it only as a Reporter', async () => {
  const [noor, guest] = [await world.user('noor'), await world.user('guest')]
  await world.member(project, noor, accessLevels.reporter)
  await world.member(project, guest, accessLevels.guest)
  const remove = (snippetId: number, actor: User) =>
    world.perform(actor, removeProjectSnippet, { project: project.id, snippetId })
  const { id } = await create({}, noor)
  expect(await update(id, { title: 'x' }, guest).catch(failure)).toEqual({ code: 'forbidden' })
  const { id: other } = await create({}, noor)
  await remove(other, noor)
  await world.core.db.write((db) => db.deleteFrom('members').where('user_id', '=', noor.id).execute())
  expect((await update(id, { title: 'x' }, noor)).title).toBe('x')
  expect(await remove(id, noor).catch(failure)).toEqual({ code: 'forbidden' })
  await remove(id, mira)
  expect(await get(id).catch(failure)).toEqual({ code: 'not_found' })
  expect(existsSync(gitdir(id))).toBe(false)
})

test('repositories are removed with the project, and personal snippets with the user', async () => {
  await create()
  const [row] = await world.core.db.read.selectFrom('snippets').selectAll().execute()
  await create()
  await world.core.db.write((db) => db.updateTable('snippets').set({ project_id: null }).where('id', '=', 2).execute())
  expect(row).toMatchObject({ project_id: project.id })
  await world.perform(root, removeProject, { project: project.id })
  await sweepRepositories(world.core)
  expect([existsSync(gitdir(1)), existsSync(gitdir(2))]).toEqual([false, true])
  await world.perform(root, removeUser, { user: mira.id })
  expect(existsSync(gitdir(2))).toBe(false)
  expect(await world.core.db.read.selectFrom('snippets').selectAll().execute()).toEqual([])
})

test('administrators see the client that created a snippet', async () => {
  const request = { address: '203.0.113.9', userAgent: 'curl/8.5' }
  await world.perform(mira, createProjectSnippet, { project: project.id, ...draft }, request)
  const input = { project: project.id, snippetId: 1 }
  expect(await world.perform(root, getSnippetUserAgent, input)).toEqual({
    userAgent: 'curl/8.5',
    ipAddress: '203.0.113.9',
    isSubmitted: false,
  })
  await create()
  const missing = { project: project.id, snippetId: 2 }
  expect(await world.perform(root, getSnippetUserAgent, missing).catch(failure)).toEqual({
    code: 'not_found',
    what: 'UserAgentDetail',
  })
})

test('public texts are checked for spam', async () => {
  const suspects: unknown[] = []
  Object.assign(world.core, {
    spamCheck: async ({ author, ...suspect }: { author: User }) => {
      suspects.push(suspect)
      return { kind: 'ok' }
    },
  })
  const { id } = await create()
  await update(id, { title: 'x' })
  expect(suspects).toEqual([])
  await update(id, { visibility: 'public' })
  await update(id, { files: [{ action: 'create', filePath: 'a.txt', content: 'Buy' }] })
  await update(id, {})
  const suspect = { kind: 'snippet', title: 'x', isPublic: true }
  expect(suspects).toEqual([
    { ...suspect, files: [{ path: 'bin/rotate.sh', content: 'rotate' }] },
    { ...suspect, files: [{ path: 'a.txt', content: 'Buy' }] },
  ])
})
