import { execFileSync } from 'node:child_process'
import { repositoryPath, World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { repositoryNameOf } from '../../base/git/repository-key.ts'
import type { DomainError } from '../../base/kit/domain-error.ts'
import { accessLevels } from '../../base/model/access-level.ts'
import type { Group } from '../../base/model/group.ts'
import type { User } from '../../base/model/user.ts'
import { removeProject } from '../../code/projects/project-operations.ts'
import { removeGroup, updateGroup } from '../../identity/namespaces/group-operations.ts'
import { groupWikis, projectWikis } from './wiki-operations.ts'

let world: World
let mira: User
let group: Group

beforeEach(async () => {
  world = await World.open()
  mira = await world.user('mira')
  group = await world.group('ops')
  await world.member(group, mira, accessLevels.owner)
})

afterEach(() => world.close())

const git = (...args: string[]) => {
  const gitdir = repositoryPath(world.core, repositoryNameOf({ kind: 'group_wiki', id: group.id }))
  return execFileSync('git', ['--git-dir', gitdir, ...args], { encoding: 'utf8', stdio: 'pipe' })
}
const files = () =>
  git('-c', 'core.quotePath=false', 'ls-tree', '-r', '--name-only', 'main').trim().split('\n').filter(Boolean)
const failure = (error: DomainError) => error.failure

const create = (title: string, more: object = {}, actor = mira) =>
  world.perform(actor, groupWikis.create, { parent: group.id, title, content: `# ${title}`, ...more })
const update = (slug: string, change: object, actor = mira) =>
  world.perform(actor, groupWikis.update, { parent: group.id, slug, ...change })
const get = (slug: string, version?: string) => world.perform(mira, groupWikis.get, { parent: group.id, slug, version })
const remove = (slug: string, actor = mira) => world.perform(actor, groupWikis.remove, { parent: group.id, slug })
const slugs = async () =>
  (await world.perform(mira, groupWikis.list, { parent: group.id })).map((page: { slug: string }) => page.slug)

test('a page is one commit for each change, by its author, and its versions stay', async () => {
  const page = await create('Guides/Set up')
  expect(page).toEqual({
    id: expect.any(Number),
    parent: { kind: 'group', id: group.id, fullPath: 'ops' },
    slug: 'Guides/Set-up',
    title: 'Set up',
    format: 'markdown',
    content: '# Guides/Set up',
    frontMatter: {},
  })
  await update('Guides/Set-up', { content: 'second' })
  expect(await get('Guides/Set-up')).toEqual({ ...page, content: 'second' })
  expect(git('log', '--format=%an <%ae> %s', 'main')).toBe(
    'mira Holt <mira@example.test> mira updated page: Set up\nmira Holt <mira@example.test> mira created page: Set up\n',
  )
  const [second, first] = git('rev-list', 'main').split('\n') as [string, string]
  expect(await get('Guides/Set-up', first)).toEqual(page)
  expect((await get('Guides/Set-up', second.slice(0, 10))).content).toBe('second')
  for (const unknown of ['f'.repeat(40), 'main', 'HEAD', `${first}x`])
    expect(await get('Guides/Set-up', unknown).catch(failure)).toMatchObject({
      code: unknown.length > 40 ? 'parameters' : 'not_found',
    })
  await remove('Guides/Set-up')
  expect(await slugs()).toEqual([])
  expect(await get('Guides/Set-up').catch(failure)).toEqual({ code: 'not_found', what: 'Wiki Page' })
  expect((await get('Guides/Set-up', second)).id).toBe(undefined)
  expect(git('log', '--format=%s', '-1', 'main')).toBe('mira deleted page: Set up\n')
  expect((await create('Guides/Set up')).id).not.toBe(page.id)
  expect(git('fsck', '--strict')).toBe('')
})

test('an update that changes nothing makes no commit', async () => {
  const page = await create('Home')
  expect(await update('Home', { title: 'Home', content: '# Home' })).toEqual(page)
  expect(git('rev-list', '--count', 'main')).toBe('1\n')
})

test('pages are listed by the path of the file in the order of bytes, with content if requested', async () => {
  for (const title of ['home', 'a b', 'a/x', 'Zebra', 'ä', 'a.x']) await create(title, { content: title })
  expect(await slugs()).toEqual(['Zebra', 'a-b', 'a.x', 'a/x', 'home', 'ä'])
  const listed = await world.perform(mira, groupWikis.list, { parent: group.id, withContent: true })
  expect(listed.map((page) => 'content' in page && page.content)).toEqual(['Zebra', 'a b', 'a.x', 'a/x', 'home', 'ä'])
})

test.each([
  ['Guides/Set up', 'Guides/Set-up', 'Set up'],
  ['  a   b /  c\td  ', 'a-b/c-d', 'c d'],
  ['How-To', 'How-To', 'How To'],
  ['/../../etc/passwd', 'etc/passwd', 'passwd'],
  ['a/../../b/./c', 'b/c', 'c'],
  ['a//b/', 'a/b', 'b'],
  ['приклад/тест', 'приклад/тест', 'тест'],
  ['日本語 ページ', '日本語-ページ', '日本語 ページ'],
  ['مرحبا بالعالم', 'مرحبا-بالعالم', 'مرحبا بالعالم'],
  ['👩‍💻 team', '👩‍💻-team', '👩‍💻 team'],
  ['a%2Fb & <c> "d"', 'a%2Fb-&-<c>-"d"', 'a%2Fb & <c> "d"'],
  ['_sidebar', '_sidebar', '_sidebar'],
  ['attachments', 'attachments', 'attachments'],
  ['notes.md', 'notes.md', 'notes.md'],
  ['x'.repeat(245), 'x'.repeat(245), 'x'.repeat(245)],
  [`${'d'.repeat(255)}/x`, `${'d'.repeat(255)}/x`, 'x'],
])('the page %j has the slug %j and the title %j', async (title, slug, shown) => {
  expect(await create(title, { format: 'asciidoc' })).toMatchObject({ slug, title: shown })
  expect(await slugs()).toEqual([slug])
  expect(await get(slug)).toMatchObject({ slug })
  expect(git('fsck', '--strict')).toBe('')
})

test.each([
  ['', "can't be blank"],
  [' / .. /', "can't be blank"],
  ['é'.repeat(123), 'exceeds the limit of 245 bytes'],
  [`${'d'.repeat(256)}/x`, `exceeds the limit of 255 bytes for directory name "${'d'.repeat(256)}"`],
  ['.git/config', 'is invalid'],
  ['a/.GIT/hooks/x', 'is invalid'],
  ['git~1/x', 'is invalid'],
  ['..\\..\\x', 'is invalid'],
  ['a\u0001b', 'is invalid'],
  [`uploads/${'0'.repeat(32)}/x`, 'is invalid'],
  ['d/'.repeat(101), 'is invalid'],
])('the title %j is rejected, and nothing is created', async (title, message) => {
  expect(await create(title).catch(failure)).toEqual({ code: 'invalid', fields: { title: [message] } })
  expect(await slugs()).toEqual([])
})

test('a page is found in other letter case, with an extension and in the form of its title', async () => {
  await create('Guides/Set up', { format: 'org' })
  for (const slug of ['guides/set-up', 'Guides/Set up', 'GUIDES/SET-UP.org', 'Guides/Set-up.md', '/Guides/./Set-up'])
    expect(await get(slug)).toMatchObject({ slug: 'Guides/Set-up' })
  expect(await get('Guides').catch(failure)).toMatchObject({ code: 'not_found' })
})

test('a page of the same name, whatever its case and format, is rejected with its file', async () => {
  await create('guides/Set up')
  const duplicate = await create('Guides/set up', { format: 'org' }).catch(failure)
  const text = 'Duplicate page: A page with that title already exists in the file guides/Set-up.md'
  expect(duplicate).toEqual({ code: 'invalid', fields: { base: [text] } })
  await create('x.md/y')
  expect(await create('x').catch(failure)).toEqual({ code: 'invalid', fields: { title: ['has already been taken'] } })
})

describe('a new title', () => {
  test.each([
    ['Advanced', 'a/Advanced'],
    ['/Advanced', 'Advanced'],
    ['x/y/Advanced', 'x/y/Advanced'],
    ['Page', 'a/Page'],
    ['..', undefined],
  ])('%j moves the page a/page to %j with its id, and the pages below it', async (title, moved) => {
    const { id } = await create('a/page')
    const below = await create('a/page/below')
    const other = await create('a/pages')
    if (moved === undefined) {
      expect(await update('a/page', { title }).catch(failure)).toMatchObject({ code: 'invalid' })
      return
    }
    expect(await update('a/page', { title })).toMatchObject({ id, slug: moved, content: '# a/page' })
    expect((await slugs()).toSorted()).toEqual([moved, `${moved}/below`, 'a/pages'].toSorted())
    expect((await get(`${moved}/below`)).id).toBe(below.id)
    expect((await get('a/pages')).id).toBe(other.id)
    if (moved.toLowerCase() !== 'a/page')
      expect(await get('a/page').catch(failure)).toEqual({ code: 'not_found', what: 'Wiki Page' })
    const redirects = git('show', 'main:.svc/redirects.yml')
    expect(redirects).toBe(`---\n"a/page": "${moved}"\n"a/page/below": "${moved}/below"\n`)
  })

  test('of another page is rejected, also for a page below', async () => {
    for (const title of ['a', 'a/x', 'b/x', 'c']) await create(title)
    const taken = { title: ['There is already a page with the same title in that path.'] }
    for (const title of ['C', 'b']) {
      expect(await update('a', { title, content: 'new' }).catch(failure)).toEqual({ code: 'invalid', fields: taken })
    }
    expect((await get('a')).content).toBe('# a')
    expect(git('rev-list', '--count', 'main')).toBe('4\n')
  })

  test('may be that of a page below, which moves on; redirects follow', async () => {
    const page = await create('a')
    const below = await create('a/b')
    await update('a', { title: 'a/b' })
    expect((await get('a/b')).id).toBe(page.id)
    expect((await get('a/b/b')).id).toBe(below.id)
    await update('a/b', { title: '/c' })
    expect(git('show', 'main:.svc/redirects.yml')).toBe('---\n"a": "c"\n"a/b": "c"\n"a/b/b": "c/b"\n')
    expect(git('fsck', '--strict')).toBe('')
  })
})

test('an update keeps the format and the extension unless it names another format', async () => {
  await create('plan', { format: 'org' })
  expect(await update('plan', { content: 'x' })).toMatchObject({ format: 'org' })
  expect(files()).toEqual(['plan.org'])
  expect(await update('plan', { content: 'x', format: 'rdoc' })).toMatchObject({ format: 'rdoc', slug: 'plan' })
  expect(files()).toEqual(['plan.rdoc'])
  const problems = [{ path: [], problem: 'at_least_one', names: ['content', 'title'] }]
  expect(await update('plan', { format: 'org' }).catch(failure)).toEqual({ code: 'parameters', problems })
})

test('front matter is read from the content, and its title is written to it', async () => {
  const content = '---\ntitle: Start\ntags: [a, b]\n---\nText\n'
  expect(await create('x', { content })).toMatchObject({ content, frontMatter: { title: 'Start', tags: ['a', 'b'] } })
  const changed = await update('x', { content, frontMatter: { title: 'New: "one"' } })
  expect(changed.frontMatter).toEqual({ title: 'New: "one"', tags: ['a', 'b'] })
  expect(changed.content.endsWith('\n---\nText\n')).toBe(true)
  expect((await create('y', { frontMatter: { title: 'Only' } })).content).toBe('---\ntitle: Only\n---\n# y')
  for (const odd of [
    '---\n- a\n---\n',
    '---\n&a [*a, *a]\n---\n',
    '---\na: b: c\n---\n',
    '---\n',
    `---\n${'['.repeat(60_000)}\n---\n`,
  ])
    expect(await update('y', { content: odd })).toMatchObject({ content: odd, frontMatter: {} })
})

test('content beyond the limit of the settings is rejected', async () => {
  const { core } = world
  const limited = { ...core.settings, pinnedSettings: { wiki_page_max_content_bytes: 2_048 } }
  const small = await World.open({ pinnedSettings: limited.pinnedSettings })
  try {
    const noor = await small.user('noor')
    const wiki = await small.group('x')
    await small.member(wiki, noor, accessLevels.planner)
    const page = (content: string) => small.perform(noor, groupWikis.create, { parent: wiki.id, title: 'x', content })
    const fields = { content: ['is too long (2.01 KB). The maximum size is 2 KB.'] }
    expect(await page('é'.repeat(1_030)).catch(failure)).toEqual({ code: 'invalid', fields })
    expect(await page('é'.repeat(1_024))).toMatchObject({ slug: 'x' })
  } finally {
    await small.close()
  }
})

test('Planners and Developers write, Planners and Maintainers delete, Guests read', async () => {
  const rights = {
    minimal: '---',
    guest: 'r--',
    planner: 'rwd',
    reporter: 'r--',
    securityManager: 'r--',
    developer: 'rw-',
    maintainer: 'rwd',
  } as const
  for (const [role, expected] of Object.entries(rights)) {
    const user = await world.user(role)
    await world.member(group, user, accessLevels[role as keyof typeof rights])
    await create(`page of ${role}`)
    const slug = `page-of-${role}`
    const tried = await Promise.all([
      world.perform(user, groupWikis.get, { parent: group.id, slug }).catch(failure),
      create(`by ${role}`, {}, user).catch(failure),
      remove(slug, user).catch(failure),
    ])
    const letters = tried.map((result, index) =>
      result !== undefined && 'code' in result && result.code === 'forbidden' ? '-' : 'rwd'[index],
    )
    expect([role, letters.join('')]).toEqual([role, expected])
  }
})

test('a disabled wiki is closed for everyone, and a private one for those who are not members', async () => {
  const visitor = await world.user('noor')
  await world.perform(mira, updateGroup, { group: group.id, visibility: 'public' })
  await create('home')
  const read = (actor: User | undefined) =>
    world.perform(actor, groupWikis.get, { parent: group.id, slug: 'home' }).then(
      () => 'ok',
      (error: DomainError) => error.failure.code,
    )
  expect([await read(undefined), await read(visitor), await read(mira)]).toEqual(['ok', 'ok', 'ok'])
  await world.perform(mira, updateGroup, { group: group.id, wikiAccessLevel: 'private' })
  expect([await read(undefined), await read(visitor), await read(mira)]).toEqual(['forbidden', 'forbidden', 'ok'])
  await world.perform(mira, updateGroup, { group: group.id, wikiAccessLevel: 'disabled' })
  expect([await read(undefined), await read(visitor), await read(mira)]).toEqual([
    'forbidden',
    'forbidden',
    'forbidden',
  ])
})

test('the wiki goes with its group, with a group above it, and with its project; a rename keeps it', async () => {
  const below = await world.group('below', { parent: group })
  const project = await world.project('tools', below)
  await create('home')
  await world.perform(mira, groupWikis.create, { parent: below.id, title: 'x', content: '' })
  await world.perform(mira, projectWikis.create, { parent: project.id, title: 'x', content: '' })
  await world.perform(mira, updateGroup, { group: group.id, path: 'renamed' })
  expect(await get('home')).toMatchObject({ parent: { fullPath: 'renamed' } })
  await world.perform(mira, removeProject, { project: project.id })
  await world.perform(mira, removeGroup, { group: group.id })
  const rows = await world.core.db.read.selectFrom('wiki_pages').selectAll().execute()
  const sizes = await world.core.db.read.selectFrom('repository_sizes').selectAll().execute()
  expect([rows, sizes]).toEqual([[], []])
})
