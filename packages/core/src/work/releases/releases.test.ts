import { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { DomainError } from '../../base/kit/domain-error.ts'
import { accessLevels } from '../../base/model/access-level.ts'
import type { Group } from '../../base/model/group.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import { perform, performBatch } from '../../base/operations/perform.ts'
import { updateProject } from '../../code/projects/project-operations.ts'
import { createCommit } from '../../code/repositories/commit-operations.ts'
import { getTag, listTags } from '../../code/repositories/tag-operations.ts'
import { listIssuesOfEachProject } from '../issues/issue-listings.ts'
import { createIssue, listProjectIssues } from '../issues/issue-operations.ts'
import { groupMilestones, projectMilestones } from '../milestones/milestone-operations.ts'
import { createReleaseLink, removeReleaseLink, updateReleaseLink } from './release-links.ts'
import { createRelease, getRelease, listReleases, removeRelease, updateRelease } from './release-operations.ts'

let world: World
let mira: User
let noor: User
let ops: Group
let project: Project
let sha: string
const failure = (error: DomainError) => error.failure
const DAY_MS = 86_400_000

beforeEach(async () => {
  world = await World.open()
  mira = await world.user('mira')
  noor = await world.user('noor')
  ops = await world.group('ops')
  project = await world.project('tools', ops)
  await world.member(project, mira, accessLevels.maintainer)
  await world.member(project, noor, accessLevels.guest)
  const actions = [{ action: 'create', filePath: 'a.txt', content: 'a' }]
  const commit = { project: project.id, branch: 'main', commitMessage: 'Begin', actions }
  sha = (await world.perform(mira, createCommit, commit)).sha
})
afterEach(() => world.close())

const create = (tagName: string, more: object = {}, actor = mira) =>
  world.perform(actor, createRelease, { project: project.id, tagName, ref: 'main', ...more })
const on = (tagName: string) => ({ project: project.id, tagName })

test('a release creates its tag, or uses an existing one', async () => {
  const made = await create('v1.0', { name: 'One', description: 'First', tagMessage: 'The first' })
  expect(made).toMatchObject({ tag: 'v1.0', name: 'One', sha, author: { id: mira.id }, commit: { sha } })
  expect((await world.perform(mira, getTag, on('v1.0'))).annotation?.message.trim()).toBe('The first')
  await world.perform(mira, removeRelease, on('v1.0'))
  expect((await create('v1.0', { ref: undefined })).sha).toBe(sha)
  expect(await create('v1.0').catch(failure)).toEqual({ code: 'conflict', reason: 'Release already exists' })
  expect(await create('v2', { ref: undefined }).catch(failure)).toEqual({
    code: 'impossible',
    message: 'Ref is not specified',
  })
  expect(await create('v2', { ref: 'nowhere' }).catch(failure)).toMatchObject({ code: 'refused' })
})

test('a release creates no tag in a repository that is disabled', async () => {
  const off = { repositoryAccessLevel: 'disabled', mergeRequestsEnabled: false, jobsEnabled: false }
  await create('v1.0')
  await world.perform(mira, removeRelease, on('v1.0'))
  await world.perform(mira, updateProject, { project: project.id, ...off })
  expect(await create('v2').catch(failure)).toEqual({ code: 'forbidden' })
  expect((await create('v1.0')).tag).toBe('v1.0')
})

test('neither a tag nor a release remains if one of them fails', async () => {
  const links = [
    { name: 'Tool', url: 'https://files.example.test/tool' },
    { name: 'Tool', url: 'https://files.example.test/other' },
  ]
  const taken = { code: 'invalid', fields: { name: ['has already been taken'] } }
  expect(await create('v1', { assets: { links } }).catch(failure)).toEqual(taken)
  expect(await create('v1', { milestones: ['Nowhere'] }).catch(failure)).toEqual({
    code: 'refused',
    message: 'Milestone(s) not found: Nowhere',
  })
  expect((await world.perform(mira, listTags, { project: project.id })).items).toEqual([])
  expect((await world.perform(mira, listReleases, { project: project.id })).items).toEqual([])
})

test('guests see releases without code, and only Developers write them', async () => {
  await create('v1')
  const { items } = await world.perform(noor, listReleases, { project: project.id })
  expect(items).toMatchObject([{ tag: 'v1', showsCode: false, commit: undefined, mayUpdate: false }])
  expect(await world.perform(noor, getRelease, on('v1')).catch(failure)).toEqual({ code: 'forbidden' })
  expect(await create('v2', {}, noor).catch(failure)).toEqual({ code: 'forbidden' })
  expect(await world.perform(mira, updateRelease, on('v9')).catch(failure)).toEqual({ code: 'forbidden' })
})

test('releases are ordered by their time, which may be in the future', async () => {
  await create('v1')
  await create('v3', { releasedAt: new Date(world.clock.nowMs() + DAY_MS).toISOString() })
  await create('v2', { releasedAt: new Date(world.clock.nowMs() - DAY_MS).toISOString() })
  const tags = async (more: object) =>
    (await world.perform(mira, listReleases, { project: project.id, ...more })).items.map(({ tag }) => tag)
  expect(await tags({})).toEqual(['v3', 'v1', 'v2'])
  expect(await tags({ orderBy: 'created_at', sort: 'asc' })).toEqual(['v1', 'v3', 'v2'])
})

test('a milestone that is removed while the tag of a release is made is not found, and there is no tag', async () => {
  const { id } = await world.perform(mira, projectMilestones.create, { parent: project.id, title: 'May' })
  const { db } = world.core
  const write: typeof db.write = async (work, options) => {
    await db.write((tx) => tx.deleteFrom('milestones').where('id', '=', id).execute())
    return db.write(work, options)
  }
  const core = { ...world.core, db: { ...db, write } }
  const draft = { project: project.id, tagName: 'v1', ref: 'main', milestoneIds: [id] }
  expect(await perform(core, mira, createRelease, draft).catch(failure)).toEqual({
    code: 'refused',
    message: `Milestone(s) not found: ${id}`,
  })
  expect(await world.perform(mira, getTag, on('v1')).catch(failure)).toMatchObject({ code: 'not_found' })
})

test('releases are filtered by the time of their last change', async () => {
  await create('v1')
  await create('v2')
  await world.clock.advance(DAY_MS)
  const now = new Date(world.clock.nowMs()).toISOString()
  await world.perform(mira, updateRelease, { ...on('v1'), name: 'One' })
  const tags = async (filter: object) =>
    (await world.perform(mira, listReleases, { project: project.id, ...filter })).items.map(({ tag }) => tag)
  expect(await tags({ updatedAfter: now })).toEqual(['v1'])
  expect(await tags({ updatedBefore: new Date(world.clock.nowMs() - 1).toISOString() })).toEqual(['v2'])
  expect(await tags({ updatedAfter: now, updatedBefore: now })).toEqual(['v1'])
})

test('milestones of the project and of groups above belong to releases, and filter issues', async () => {
  const own = await world.perform(mira, projectMilestones.create, { parent: project.id, title: 'May' })
  const root = await world.user('root', { isAdministrator: true })
  const above = await world.perform(root, groupMilestones.create, { parent: ops.id, title: 'Year' })
  for (const [title, milestoneId] of [
    ['A', own.id],
    ['B', above.id],
    ['C', undefined],
  ]) {
    await world.perform(mira, createIssue, { project: project.id, title, milestoneId })
  }
  const made = await create('v1', { milestones: ['May', 'Year'] })
  expect(made.milestones.map(({ title, opened }) => [title, opened])).toEqual([
    ['May', 1],
    ['Year', 1],
  ])
  const updated = await world.perform(mira, updateRelease, { ...on('v1'), milestoneIds: [own.id], name: 'One' })
  expect(updated.milestones.map(({ title }) => title)).toEqual(['May'])
  await create('v2', { milestones: ['Year'] })
  const list = async (filter: object) => {
    const [listed] = await performBatch(world.core, mira, listIssuesOfEachProject, [project], filter)
    const [page] = await listed!.listing.pages({ first: 10 })
    return page!.items.map(({ title }) => title).sort()
  }
  expect(await list({ releaseTags: ['v1'] })).toEqual(['A'])
  expect(await list({ releaseTags: ['v1', 'v2'] })).toEqual(['A', 'B'])
  expect(await list({ releaseTagWildcard: 'none' })).toEqual(['C'])
  expect(await list({ not: { releaseTags: ['v1'] } })).toEqual(['B', 'C'])
  expect((await world.perform(mira, listProjectIssues, { project: project.id })).items.length).toBe(3)
})

test('line breaks in the name of a link become spaces, also in a link that a release begins with', async () => {
  const link = (name: string) => ({ name: `${name}\r\nfor all\n`, url: `https://files.example.test/${name}` })
  await create('v1', { assets: { links: [link('One')] } })
  await world.perform(mira, createReleaseLink, { ...on('v1'), ...link('Two') })
  const { links } = await world.perform(mira, getRelease, on('v1'))
  expect(links.map(({ name }) => name).sort()).toEqual(['One for all', 'Two for all'])
})

test('links of releases have unique names, addresses and paths', async () => {
  await create('v1', { assets: { links: [{ name: 'Tool', url: 'https://files.example.test/tool' }] } })
  const link = {
    name: 'Manual',
    url: 'https://docs.example.test/',
    directAssetPath: '/manual.pdf',
    linkType: 'runbook',
  }
  const made = await world.perform(mira, createReleaseLink, { ...on('v1'), ...link })
  expect(made).toMatchObject({ name: 'Manual', filepath: '/manual.pdf', linkType: 'runbook', tag: 'v1' })
  const change = (changes: object) =>
    world.perform(mira, updateReleaseLink, { ...on('v1'), linkId: made.id, ...changes }).catch(failure)
  expect(await change({ name: 'Tool' })).toMatchObject({
    code: 'invalid',
    fields: { name: ['has already been taken'] },
  })
  expect(await change({ url: 'javascript:alert(1)' })).toMatchObject({ code: 'invalid' })
  expect(await change({ directAssetPath: 'relative' })).toMatchObject({ code: 'invalid' })
  expect(await change({ name: 'Guide' })).toMatchObject({ name: 'Guide', filepath: '/manual.pdf' })
  await world.perform(mira, removeReleaseLink, { ...on('v1'), linkId: made.id })
  const shown = await world.perform(mira, getRelease, on('v1'))
  expect(shown.links.map(({ name }) => name)).toEqual(['Tool'])
})
