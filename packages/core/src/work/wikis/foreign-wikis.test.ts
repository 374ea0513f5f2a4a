import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { repositoryPath, World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { repositoryNameOf } from '../../base/git/repository-key.ts'
import type { DomainError } from '../../base/kit/domain-error.ts'
import { accessLevels } from '../../base/model/access-level.ts'
import type { Group } from '../../base/model/group.ts'
import type { User } from '../../base/model/user.ts'
import { groupWikis } from './wiki-operations.ts'

let world: World
let mira: User
let group: Group
let clone: string

/** A wiki with files that were not written by this service. */
beforeEach(async () => {
  world = await World.open()
  mira = await world.user('mira')
  group = await world.group('ops')
  await world.member(group, mira, accessLevels.owner)
  await create('home')
  clone = join(world.directory, 'clone')
  execFileSync('git', ['clone', '-q', gitdir(), clone])
})

afterEach(() => world.close())

const gitdir = () => repositoryPath(world.core, repositoryNameOf({ kind: 'group_wiki', id: group.id }))
const inClone = (...args: string[]) =>
  execFileSync('git', ['-C', clone, '-c', 'user.name=Ada', '-c', 'user.email=ada@example.test', ...args], {
    encoding: 'utf8',
  })
const write = (path: string, content: string) => {
  mkdirSync(dirname(join(clone, path)), { recursive: true })
  writeFileSync(join(clone, path), content)
}
function push(): void {
  inClone('add', '-A')
  inClone('commit', '-qm', 'From elsewhere')
  inClone('push', '-q', 'origin', 'HEAD:main')
}

const parent = () => ({ parent: group.id })
const create = (title: string) => world.perform(mira, groupWikis.create, { ...parent(), title, content: title })
const list = () => world.perform(mira, groupWikis.list, { ...parent(), withContent: true })
const get = (slug: string) => world.perform(mira, groupWikis.get, { ...parent(), slug })
const update = (slug: string, change: object) =>
  world.perform(mira, groupWikis.update, { ...parent(), slug, ...change })
const failure = (error: DomainError) => error.failure

test('files in all formats are pages, other files are not, and pages get ids when they are first read', async () => {
  for (const path of [
    ...['a.markdown', 'b.mkd', 'c.adoc', 'd.textile', 'e.rst', 'f.mediawiki', 'g.creole', 'h.pod', 'i.txt', 'J.MD'],
    ...['Set up.md', 'notes.html', 'README', '.md', `uploads/${'0'.repeat(32)}/x.md`, 'uploads/y.md'],
  ])
    write(path, path)
  push()
  const pages = await list()
  expect(pages.map(({ slug, format }) => `${slug} ${format}`)).toEqual([
    'J markdown',
    'Set up markdown',
    'a markdown',
    'b markdown',
    'c asciidoc',
    'd textile',
    'e rst',
    'f mediawiki',
    'g creole',
    'h pod',
    'home markdown',
    'i plaintext',
    'uploads/y markdown',
  ])
  expect(new Set(pages.map(({ id }) => id)).size).toBe(pages.length)
  expect((await list()).map(({ id }) => id)).toEqual(pages.map(({ id }) => id))
  expect(await get('set-up')).toMatchObject({ slug: 'Set up', id: pages[1]!.id })
  // The extension and a format that a client cannot choose are kept.
  expect(await update('a', { title: 'b/a', content: 'new' })).toMatchObject({ slug: 'b/a', format: 'markdown' })
  expect(await update('d', { content: 'new' })).toMatchObject({ slug: 'd', format: 'textile' })
  expect(inClone('ls-remote', '-q', 'origin', 'main')).not.toBe('')
  const files = execFileSync('git', ['--git-dir', gitdir(), 'ls-tree', '-r', '--name-only', 'main'], {
    encoding: 'utf8',
  })
  expect(files).toContain('b/a.markdown\n')
  expect(files).toContain('d.textile\n')
  expect(execFileSync('git', ['--git-dir', gitdir(), 'fsck', '--strict'], { encoding: 'utf8' })).toBe('')
})

test('symbolic links are not followed, listed or replaced', async () => {
  symlinkSync('/etc/passwd', join(clone, 'passwd.md'))
  symlinkSync('/etc', join(clone, 'etc'))
  symlinkSync('.', join(clone, 'loop'))
  symlinkSync('home.md', join(clone, 'start.md'))
  symlinkSync('/tmp', join(clone, '.svc'))
  push()
  expect((await list()).map(({ slug }) => slug)).toEqual(['home'])
  for (const slug of ['passwd', 'etc/passwd', 'loop/home', 'start'])
    expect(await get(slug).catch(failure)).toEqual({ code: 'not_found', what: 'Wiki Page' })
  for (const title of ['passwd', 'etc/x', 'loop/x', 'start'])
    expect(await create(title).catch(failure)).toEqual({
      code: 'invalid',
      fields: { title: ['has already been taken'] },
    })
  // The link is in the place of the redirects.
  expect(await update('home', { title: 'begin' })).toMatchObject({ slug: 'begin' })
})

test('two files of one page are both listed, and the exact one is changed', async () => {
  write('Home.md', 'capital')
  write('home.org', 'org')
  push()
  expect((await list()).map(({ slug, format }) => `${slug} ${format}`)).toEqual([
    'Home markdown',
    'home markdown',
    'home org',
  ])
  expect(await get('Home')).toMatchObject({ content: 'capital' })
  expect(await get('home')).toMatchObject({ content: 'home' })
  expect(await get('home.org')).toMatchObject({ content: 'org' })
  await world.perform(mira, groupWikis.remove, { ...parent(), slug: 'home' })
  expect(await get('home')).toMatchObject({ content: 'org' })
})

test('a page that is too large to read is answered with the reason, and can be removed', async () => {
  write('large.md', 'x'.repeat(33 * 1024 * 1024))
  push()
  expect(await get('large').catch(failure)).toMatchObject({ code: 'impossible' })
  expect((await world.perform(mira, groupWikis.list, parent())).map(({ slug }) => slug)).toEqual(['home', 'large'])
  expect(await list().catch(failure)).toMatchObject({ code: 'impossible' })
  expect(await update('large', { content: 'small' })).toMatchObject({ content: 'small' })
})

test('bytes that are not UTF-8 are replaced, and deep directories are cut off', async () => {
  writeFileSync(join(clone, 'latin.md'), Buffer.from([0x63, 0xe9]))
  write(`${'d/'.repeat(120)}x.md`, 'deep')
  push()
  expect((await list()).map(({ slug }) => slug)).toEqual(['home', 'latin'])
  expect(await get('latin')).toMatchObject({ content: 'c\ufffd' })
})
