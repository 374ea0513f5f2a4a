import { rm, writeFile } from 'node:fs/promises'
import { World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { DomainError } from '../../base/kit/domain-error.ts'
import { accessLevels } from '../../base/model/access-level.ts'
import type { Group } from '../../base/model/group.ts'
import { type User, userNamespaceId } from '../../base/model/user.ts'
import { updateApplicationSettings } from '../../base/settings/settings-operations.ts'
import { removeGroup } from '../../identity/namespaces/group-operations.ts'
import { listGroupProjects, listProjects, listUserProjects } from '../../identity/projects/project-lists.ts'
import { findFormerProject, findProject } from '../../identity/projects/project-store.ts'
import { createBranch, removeBranch } from '../repositories/branch-operations.ts'
import { createFile, getFile } from '../repositories/file-operations.ts'
import {
  archiveProject,
  createProject,
  removeProject,
  showProject,
  transferProject,
  unarchiveProject,
  updateProject,
} from './project-operations.ts'

let world: World
let mira: User
let ivo: User
let ops: Group

beforeEach(async () => {
  world = await World.open()
  mira = await world.user('mira')
  ivo = await world.user('ivo')
  ops = await world.group('ops', { visibility: 'internal' })
  await world.member(ops, mira, accessLevels.owner)
})

afterEach(() => world.close())

const failure = (error: DomainError) => error.failure
const context = () => ({ db: world.core.db.read, nowMs: world.clock.nowMs() })

describe('creating', () => {
  test('adds a project to a group', async () => {
    const view = await world.perform(mira, createProject, { name: 'My Tool!', namespaceId: ops.id })
    expect(view).toMatchObject({
      project: { path: 'my-tool', fullPath: 'ops/my-tool', visibility: 'private', creatorId: mira.id },
      namespace: { id: ops.id, kind: 'group', fullPath: 'ops' },
      nameWithNamespace: 'ops / My Tool!',
      roles: { project: 0, group: 50 },
    })
    const events = await world.core.db.read.selectFrom('events').select(['type', 'project_id']).execute()
    expect(events).toEqual([{ type: 'project.created', project_id: view.project.id }])
  })

  test('with a README returns after the first commit', async () => {
    const draft = { name: 'Tool', namespaceId: ops.id, description: 'It turns.', initializeWithReadme: true }
    const { project } = await world.perform(mira, createProject, draft)
    expect(project).toMatchObject({ defaultBranch: 'main', isEmpty: false })
    const { bytes } = await world.perform(mira, getFile, { project: project.id, filePath: 'README.md' })
    expect(Buffer.from(bytes).toString()).toBe('# Tool\n\nIt turns.\n')
    const named = { path: 'named', defaultBranch: 'trunk', initializeWithReadme: true }
    expect(await world.perform(ivo, createProject, named)).toMatchObject({
      project: { defaultBranch: 'trunk', isEmpty: false },
    })
    const bare = await world.perform(ivo, createProject, { path: 'bare', defaultBranch: 'trunk' })
    expect(bare).toMatchObject({ project: { defaultBranch: 'trunk', isEmpty: true } })
  })

  test('removes the project again if the README cannot be committed', async () => {
    const { repositoriesDir } = world.core.settings
    await writeFile(repositoriesDir, 'a file in the way')
    const draft = { path: 'tool', initializeWithReadme: true }
    await expect(world.perform(mira, createProject, draft)).rejects.toThrow()
    await rm(repositoriesDir)
    expect(await findProject(context(), 'mira/tool')).toBeUndefined()
    expect(await world.perform(mira, createProject, { path: 'tool' })).toMatchObject({ project: { isEmpty: true } })
  })

  test("uses the actor's own namespace by default", async () => {
    const view = await world.perform(ivo, createProject, { path: 'notes' })
    expect(view).toMatchObject({
      project: { name: 'notes', fullPath: 'ivo/notes', ownerId: ivo.id },
      namespace: { id: userNamespaceId(ivo.id), kind: 'user', fullPath: 'ivo' },
      owner: { id: ivo.id },
      roles: { project: 50, group: 0 },
    })
  })

  test.each([
    [{}, { path: ['has already been taken'] }],
    [{ path: 'a/b' }, { path: [expect.stringContaining('may hold letters')] }],
    [{ path: undefined, name: '!!!' }, { path: ["can't be blank"] }],
    [{ path: 'new', visibility: 'public' }, { visibilityLevel: ['public is not allowed in a internal group.'] }],
    [{ path: 'new', namespaceId: 99 }, { namespace: ['is not valid'] }],
  ])('rejects %j', async (change, fields) => {
    await world.project('tool', ops)
    const draft = { path: 'tool', namespaceId: ops.id, ...change }
    expect(await world.perform(mira, createProject, draft).catch(failure)).toEqual({ code: 'invalid', fields })
  })

  test('rejects a group without permission and the namespace of another user', async () => {
    for (const namespaceId of [ops.id, userNamespaceId(mira.id)]) {
      const refused = world.perform(ivo, createProject, { path: 'x', namespaceId }).catch(failure)
      expect(await refused).toEqual({ code: 'invalid', fields: { namespace: ['is not valid'] } })
    }
    const nameless = await world.perform(ivo, createProject, {}).catch(failure)
    expect(nameless).toMatchObject({ problems: [{ problem: 'at_least_one', names: ['name', 'path'] }] })
  })
})

describe('changing', () => {
  test('limits a description to 2,000 characters, but keeps a longer one that is stored', async () => {
    const longest = 'x'.repeat(2_000)
    const { project } = await world.perform(mira, createProject, { path: 'tool', description: longest })
    expect(project.description).toBe(longest)
    const tooLong = { problems: [{ path: ['description'] }] }
    const lengthy = { path: 'new', description: `${longest}x` }
    expect(await world.perform(mira, createProject, lengthy).catch(failure)).toMatchObject(tooLong)
    const change = { project: project.id, description: `${longest}x` }
    expect(await world.perform(mira, updateProject, change).catch(failure)).toMatchObject(tooLong)
    await world.core.db.write((db) =>
      db
        .updateTable('projects')
        .set({ description: `${longest}x` })
        .execute(),
    )
    const renamed = await world.perform(mira, updateProject, { project: project.id, name: 'Tool' })
    expect(renamed.project).toMatchObject({ name: 'Tool', description: `${longest}x` })
  })

  const wrongNames = ['../../x', 'a\nb', 'a..b', 'refs/heads/main', 'HEAD', '-x', 'x'.repeat(201)]
  test.each(wrongNames)('rejects the default branch %j, as Git does', async (defaultBranch) => {
    const problems = [{ path: ['defaultBranch'], problem: 'invalid' }]
    const creating = world.perform(mira, createProject, { path: 'tool', defaultBranch })
    expect(await creating.catch(failure)).toEqual({ code: 'parameters', problems })
    const { id } = await world.project('tool', ops)
    const changing = world.perform(mira, updateProject, { project: id, defaultBranch })
    expect(await changing.catch(failure)).toEqual({ code: 'parameters', problems })
  })

  test('accepts only a branch of the repository as default branch, which then cannot be removed', async () => {
    const { project } = await world.perform(mira, createProject, { path: 'tool', initializeWithReadme: true })
    const change = { project: project.id, defaultBranch: 'next' }
    expect(await world.perform(mira, updateProject, change).catch(failure)).toEqual({
      code: 'invalid',
      fields: { defaultBranch: ['is not a branch of the repository'] },
    })
    await world.perform(mira, createBranch, { project: project.id, branch: 'next', ref: 'main' })
    expect(await world.perform(mira, updateProject, change)).toMatchObject({ project: { defaultBranch: 'next' } })
    const removing = world.perform(mira, removeBranch, { project: project.id, branch: 'next' })
    expect(await removing.catch(failure)).toMatchObject({ code: 'protected' })
    await world.perform(mira, removeBranch, { project: project.id, branch: 'main' })
  })

  test('accepts any default branch for an empty repository; its first branch then becomes the default', async () => {
    const { project } = await world.perform(mira, createProject, { path: 'tool', defaultBranch: 'trunk' })
    const changed = await world.perform(mira, updateProject, { project: project.id, defaultBranch: 'next' })
    expect(changed.project.defaultBranch).toBe('next')
    const file = { project: project.id, filePath: 'a.txt', content: 'x', commitMessage: 'Add a' }
    await world.perform(mira, createFile, { ...file, branch: 'main' })
    expect((await findProject(context(), project.id))?.defaultBranch).toBe('main')
  })

  test('keeps the old path as a redirect until another project takes it', async () => {
    const { id } = await world.project('tool', ops)
    await world.perform(mira, updateProject, { project: id, path: 'Hammer', description: 'hits' })
    expect(await findProject(context(), 'ops/hammer')).toMatchObject({
      id,
      fullPath: 'ops/Hammer',
      description: 'hits',
    })
    expect((await findFormerProject(context(), 'ops/TOOL'))?.id).toBe(id)
    await world.perform(mira, createProject, { path: 'tool', namespaceId: ops.id })
    expect(await findFormerProject(context(), 'ops/tool')).toBeUndefined()
    const { project } = await world.perform(mira, updateProject, { project: id, description: '' })
    expect(project).toMatchObject({ name: 'tool', path: 'Hammer', description: '' })
  })

  test('needs the Maintainer role; removing, archiving and moving needs the Owner role', async () => {
    const { id } = await world.project('tool', ops)
    await world.member(await findProject(context(), id).then((found) => found!), ivo, accessLevels.maintainer)
    await world.perform(ivo, updateProject, { project: id, name: 'Tool' })
    for (const answer of [
      world.perform(ivo, removeProject, { project: id }).catch(failure),
      world.perform(ivo, archiveProject, { project: id }).catch(failure),
      world.perform(ivo, unarchiveProject, { project: id }).catch(failure),
    ])
      expect(await answer).toEqual({ code: 'forbidden' })
    const moved = world.perform(ivo, transferProject, { project: id, namespace: 'ivo' })
    expect(await moved.catch(failure)).toEqual({ code: 'forbidden' })
    expect((await world.perform(mira, archiveProject, { project: id })).project.isArchived).toBe(true)
    expect((await world.perform(mira, unarchiveProject, { project: id })).project.isArchived).toBe(false)
    await world.perform(mira, removeProject, { project: id })
    expect(await findProject(context(), id)).toBeUndefined()
  })

  test('only administrators remove projects while these are protected; removing their group is still possible', async () => {
    const root = await world.user('root', { isAdministrator: true })
    await world.perform(root, updateApplicationSettings, { default_project_deletion_protection: true })
    const [first, second] = [await world.project('first', ops), await world.project('second', ops)]
    expect(await world.perform(mira, removeProject, { project: first.id }).catch(failure)).toEqual({
      code: 'forbidden',
    })
    await world.perform(root, removeProject, { project: first.id })
    expect(await findProject(context(), first.id)).toBeUndefined()
    await world.perform(mira, removeGroup, { group: ops.id })
    expect(await findProject(context(), second.id)).toBeUndefined()
  })

  test('moving to another namespace needs a role there, and grants the roles of that namespace', async () => {
    const { id } = await world.project('tool', ops, 'internal')
    const web = await world.group('web')
    const refused = world.perform(mira, transferProject, { project: id, namespace: 'web' }).catch(failure)
    expect(await refused).toEqual({ code: 'not_found', what: 'Namespace' })
    await world.member(web, mira, accessLevels.developer)
    const { project } = await world.perform(mira, transferProject, { project: id, namespace: web.id })
    expect(project).toMatchObject({ fullPath: 'web/tool', groupIds: [web.id], visibility: 'private' })
    expect((await findFormerProject(context(), 'ops/tool'))?.id).toBe(id)
    const again = world.perform(mira, transferProject, { project: id, namespace: 'mira' }).catch(failure)
    expect(await again).toEqual({ code: 'forbidden' })
    const admin = await world.user('root', { isAdministrator: true })
    await world.perform(admin, transferProject, { project: id, namespace: 'mira' })
    expect(await world.perform(mira, showProject, { project: 'mira/tool' })).toMatchObject({
      project: { ownerId: mira.id, groupId: undefined },
      roles: { project: 50, group: 0 },
    })
  })
})

describe('lists', () => {
  beforeEach(async () => {
    const inner = await world.group('inner', { parent: ops })
    await world.project('secret', ops)
    await world.project('house', ops, 'internal')
    await world.project('deep', inner)
    await world.project('open', ivo, 'public')
    await world.project('notes', ivo)
  })

  const seen = async (actor: User | undefined, input: object = {}) =>
    (await world.perform(actor, listProjects, { orderBy: 'id', sort: 'asc', ...input })).items.map(
      ({ project }) => project.fullPath,
    )

  test('contain the projects that the actor may see', async () => {
    expect(await seen(undefined)).toEqual(['ivo/open'])
    expect(await seen(ivo)).toEqual(['ops/house', 'ivo/open', 'ivo/notes'])
    expect(await seen(mira)).toEqual(['ops/secret', 'ops/house', 'ops/inner/deep', 'ivo/open'])
    expect(await seen(mira, { membership: true })).toEqual(['ops/secret', 'ops/house', 'ops/inner/deep'])
    expect(await seen(ivo, { owned: true })).toEqual(['ivo/open', 'ivo/notes'])
    expect(await seen(ivo, { minAccessLevel: 30, visibility: 'private' })).toEqual(['ivo/notes'])
    expect(await seen(mira, { search: 'EE' })).toEqual(['ops/inner/deep'])
    expect(await seen(mira, { orderBy: 'name', sort: 'desc' })).toEqual([
      'ops/secret',
      'ivo/open',
      'ops/house',
      'ops/inner/deep',
    ])
  })

  test('can be limited to a group or a user', async () => {
    const of = async (input: object) =>
      (await world.perform(mira, listGroupProjects, { group: 'ops', orderBy: 'id', sort: 'asc', ...input })).items.map(
        ({ nameWithNamespace }) => nameWithNamespace,
      )
    expect(await of({})).toEqual(['ops / secret', 'ops / house'])
    expect(await of({ includeSubgroups: true })).toEqual(['ops / secret', 'ops / house', 'ops / inner / deep'])
    const { items } = await world.perform(mira, listUserProjects, { user: 'IVO' })
    expect(items.map(({ project }) => project.fullPath)).toEqual(['ivo/open'])
  })

  test('keyset pages contain each project once, in id order only; numbered pages have a maximum', async () => {
    const found: string[] = []
    let cursor: string | undefined
    do {
      const input = { pagination: 'keyset', orderBy: 'id', perPage: 2, cursor }
      const page = await world.perform(mira, listProjects, input)
      found.push(...page.items.map(({ project }) => project.fullPath))
      cursor = 'nextCursor' in page ? page.nextCursor : undefined
    } while (cursor !== undefined)
    expect(found).toEqual(['ivo/open', 'ops/inner/deep', 'ops/house', 'ops/secret'])
    const unordered = await world.perform(mira, listProjects, { pagination: 'keyset' }).catch(failure)
    expect(unordered).toEqual({ code: 'no_keyset_in_order' })
    const far = await world.perform(mira, listProjects, { page: 501, perPage: 100 }).catch(failure)
    expect(far).toEqual({ code: 'page_too_far', what: 'Project', maxItems: 50_000 })
  })
})
