import { existsSync } from 'node:fs'
import { repositoryPath, World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { repositoryNameOf } from '../../base/git/repository-key.ts'
import { sweepRepositories } from '../../base/git/sweep-repositories.ts'
import type { DomainError } from '../../base/kit/domain-error.ts'
import { accessLevels } from '../../base/model/access-level.ts'
import type { Group } from '../../base/model/group.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import {
  archiveProject,
  removeProject,
  transferProject,
  unarchiveProject,
} from '../../code/projects/project-operations.ts'
import { inSteps } from '../../code/repositories/change-context.harness.ts'
import { removeGroup, updateGroup } from '../../identity/namespaces/group-operations.ts'
import { findProjectStorage } from '../../identity/projects/storage-store.ts'
import { changeWiki } from './change-wiki.ts'
import { groupWikis, projectWikis } from './wiki-operations.ts'

let world: World
let mira: User
let noor: User
let ops: Group
let tools: Group
let project: Project

/** Groups `ops` and `ops/tools` and a project in the latter, each with a page `home`. */
beforeEach(async () => {
  world = await World.open()
  mira = await world.user('mira')
  noor = await world.user('noor')
  ops = await world.group('ops')
  tools = await world.group('tools', { parent: ops })
  project = await world.project('app', tools)
  await world.member(ops, mira, accessLevels.owner)
  for (const { id } of [ops, tools])
    await world.perform(mira, groupWikis.create, { parent: id, title: 'home', content: '[next](next)' })
  await world.perform(mira, projectWikis.create, { parent: project.id, title: 'home', content: 'x' })
})

afterEach(() => world.close())

const failure = (error: DomainError) => error.failure
const forbidden = { code: 'forbidden' }
const gone = (what: string) => ({ code: 'not_found', what })
const isOnDisk = (kind: 'group_wiki' | 'project_wiki', { id }: { readonly id: number }) =>
  existsSync(repositoryPath(world.core, repositoryNameOf({ kind, id })))
const home = (parent: number | string, more: object = {}, actor = mira) =>
  world.perform(actor, groupWikis.get, { parent, slug: 'home', ...more }).catch(failure)
const homeOfProject = (parent: number | string, actor = mira) =>
  world.perform(actor, projectWikis.get, { parent, slug: 'home' }).catch(failure)
const write = (parent: number | string, title: string, actor = mira) =>
  world.perform(actor, groupWikis.create, { parent, title, content: title }).catch(failure)
const writeToProject = (title: string, actor = mira) =>
  world.perform(actor, projectWikis.create, { parent: project.id, title, content: title }).catch(failure)

describe('after a group above was renamed', () => {
  beforeEach(async () => {
    await world.perform(mira, updateGroup, { group: ops.id, path: 'platform' })
  })

  test('its wiki and those below have the new paths, and are the same repositories and pages', async () => {
    expect(await home('platform')).toMatchObject({ id: 1, parent: { fullPath: 'platform' } })
    expect(await home('platform/tools')).toMatchObject({ id: 2, parent: { fullPath: 'platform/tools' } })
    expect(await homeOfProject('platform/tools/app')).toMatchObject({ parent: { fullPath: 'platform/tools/app' } })
    expect(await write('platform/tools', 'next')).toMatchObject({ slug: 'next' })
    expect([isOnDisk('group_wiki', ops), isOnDisk('group_wiki', tools)]).toEqual([true, true])
    const { content } = (await home('platform/tools', { renderHtml: true })) as { content: string }
    expect(content).toContain('/groups/platform/tools/-/wikis/next')
  })

  test('the former path leads to no wiki, and later to that of the group that has taken it', async () => {
    expect([await home('ops'), await home('ops/tools')]).toEqual([gone('Group'), gone('Group')])
    const other = await world.group('ops')
    await world.member(other, noor, accessLevels.owner)
    expect(await home('ops', {}, noor)).toEqual(gone('Wiki Page'))
    expect(await write('ops', 'home', noor)).toMatchObject({ id: 4, content: 'home' })
    expect(await home('platform')).toMatchObject({ id: 1, content: '[next](next)' })
  })
})

test('a group that becomes private closes its wiki for visitors', async () => {
  const open = await world.group('open', { visibility: 'public' })
  await world.member(open, mira, accessLevels.owner)
  await write(open.id, 'home')
  expect(await home(open.id, {}, noor)).toMatchObject({ slug: 'home' })
  await world.perform(mira, updateGroup, { group: open.id, visibility: 'private' })
  expect([await home(open.id, {}, noor), await write(open.id, 'x', noor)]).toEqual([gone('Group'), gone('Group')])
})

describe('when a group is removed', () => {
  test('its wiki and those below go with it, and the files too', async () => {
    await world.perform(mira, removeGroup, { group: ops.id })
    expect([await home(ops.id), await home('ops/tools'), await homeOfProject(project.id)]).toEqual([
      gone('Group'),
      gone('Group'),
      gone('Project'),
    ])
    expect([isOnDisk('group_wiki', ops), isOnDisk('group_wiki', tools), isOnDisk('project_wiki', project)]).toEqual([
      false,
      false,
      false,
    ])
    expect(await write(ops.id, 'x')).toEqual(gone('Group'))
    const again = await world.group('ops')
    await world.member(again, mira, accessLevels.owner)
    expect(await world.perform(mira, groupWikis.list, { parent: again.id })).toEqual([])
  })

  test('only the wiki of a group below goes with that', async () => {
    await world.perform(mira, removeGroup, { group: tools.id })
    expect([isOnDisk('group_wiki', ops), isOnDisk('group_wiki', tools)]).toEqual([true, false])
    expect(await home(ops.id)).toMatchObject({ slug: 'home' })
  })

  test('a write that has its turn later finds no group, and leaves no files', async () => {
    const others: Promise<unknown>[] = []
    const during = inSteps(world.core, undefined, (context) =>
      changeWiki(context, tools, mira, async () => {
        others.push(write(tools.id, 'late'))
        await world.clock.untilSleeping(2)
        others.push(world.perform(mira, removeGroup, { group: ops.id }))
        const groups = () => world.core.db.read.selectFrom('groups').select('id').execute()
        await expect.poll(groups).toEqual([])
        return { message: 'x', storeRows: async () => {} }
      }),
    ).catch(failure)
    expect(await during).toEqual(gone('Group'))
    expect((await Promise.all(others))[0]).toEqual({ code: 'not_found' })
    await sweepRepositories(world.core)
    expect(isOnDisk('group_wiki', tools)).toBe(false)
  })
})

describe('the wiki of a project', () => {
  test('can be read but not written while the project is archived, also by administrators', async () => {
    const root = await world.user('root', { isAdministrator: true })
    await world.perform(mira, archiveProject, { project: project.id })
    for (const actor of [mira, root]) {
      expect(await homeOfProject(project.id, actor)).toMatchObject({ slug: 'home' })
      expect(await writeToProject('x', actor)).toEqual(forbidden)
      const change = { parent: project.id, slug: 'home', content: 'y' }
      expect(await world.perform(actor, projectWikis.update, change).catch(failure)).toEqual(forbidden)
      expect(await world.perform(actor, projectWikis.remove, change).catch(failure)).toEqual(forbidden)
    }
    // The wiki of its group is not archived.
    expect(await write(tools.id, 'x')).toMatchObject({ slug: 'x' })
    await world.perform(mira, unarchiveProject, { project: project.id })
    expect(await writeToProject('x')).toMatchObject({ slug: 'x' })
  })

  test('counts for the storage of its project', async () => {
    const storage = async () => (await findProjectStorage({ db: world.core.db.read }, project.id)).wikiBytes
    const before = await storage()
    expect(before).toBeGreaterThan(0)
    await writeToProject('x')
    expect(await storage()).toBeGreaterThan(before)
  })

  test('moves with the project, to the roles of its new group', async () => {
    const site = await world.group('site')
    await world.member(site, mira, accessLevels.owner)
    await world.member(site, noor, accessLevels.guest)
    expect(await homeOfProject(project.id, noor)).toEqual(gone('Project'))
    await world.perform(mira, transferProject, { project: project.id, namespace: site.id })
    expect(await homeOfProject('site/app', noor)).toMatchObject({ parent: { fullPath: 'site/app' } })
    expect([await homeOfProject('ops/tools/app'), isOnDisk('project_wiki', project)]).toEqual([gone('Project'), true])
    expect(await writeToProject('x', noor)).toEqual(forbidden)
    expect(await writeToProject('x')).toMatchObject({ slug: 'x' })
    await world.perform(mira, removeProject, { project: project.id })
    expect(isOnDisk('project_wiki', project)).toBe(false)
  })
})
