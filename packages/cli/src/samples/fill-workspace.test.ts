import {
  getCommitWithPipeline,
  getPipeline,
  getProject,
  getProjectIssue,
  getProjectMergeRequest,
  getProjectSnippet,
  groupMembers,
  groupVariables,
  groupWikis,
  isMessageActive,
  listApplications,
  listBroadcastMessages,
  listContextCommits,
  listPipelineBridges,
  listPipelineJobs,
  listPipelines,
  loadExportSettings,
  projectAccessRequests,
} from '@penstock/core'
import { WORLD_BEGINS_MS, World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { operator } from '../core/core-operator.ts'
import { fillWorkspace, hasRoomForSamples } from './fill-workspace.ts'

const SECRET = 'psin_0123456789ab_made-for-the-samples'

let world: World
let tokensMade: number

beforeEach(async () => {
  world = await World.open()
  tokensMade = 0
})
afterEach(() => world.close())

const fill = () =>
  fillWorkspace({
    core: world.core,
    hasEarlierRuns: false,
    nowMs: WORLD_BEGINS_MS,
    newIngestToken: async () => {
      tokensMade += 1
      return SECRET
    },
  })
const eventCount = async () =>
  (await world.core.db.read.selectFrom('events').select('id').orderBy('id', 'desc').execute()).length

test('a second run changes nothing', async () => {
  expect((await fill()).pipelines).toBe(33)
  const before = await eventCount()
  world.clock.advance(3_600_000)
  expect((await fill()).pipelines).toBe(33)
  expect([await eventCount(), tokensMade]).toEqual([before, 1])
})

test('every user has a role, and every project has an export', async () => {
  await fill()
  const levels = new Map<string, number>()
  for (const parent of ['mossgate', 'mossgate/shop', 'mossgate/lockers', 'mossgate/platform']) {
    const { items } = await world.perform(operator, groupMembers.list, { parent })
    for (const { user, level } of items) levels.set(user.username, Math.min(level, levels.get(user.username) ?? level))
  }
  expect(Object.fromEntries(levels)).toMatchObject({
    ...{ ines: 50, amara: 40, jonas: 40, priya: 30, tomasz: 30 },
    ...{ yuki: 25, leila: 20, bram: 15, dana: 10, otto: 5 },
  })
  const { items: variables } = await world.perform(operator, groupVariables.list, { parent: 'mossgate' })
  expect(variables.map(({ key, isMasked }) => [key, isMasked])).toEqual([
    ['SVC_OBSERVABILITY_EXPORT', false],
    ['SVC_OBSERVABILITY_TOKEN', true],
  ])
  const reading = { db: world.core.db.read, nowMs: world.clock.nowMs() }
  const deepest = await getProject(reading, 'mossgate/lockers/devices/door-firmware')
  const settings = await loadExportSettings(reading, world.core, deepest, { environments: [], isProtectedRef: false })
  expect(settings).toEqual({ signals: ['traces', 'metrics', 'logs'], token: SECRET, warnings: [] })
})

test('records are complete: jobs and their attempts, bridges and the pipelines they started', async () => {
  await fill()
  const project = 'mossgate/lockers/hub'
  const { items: hub } = await world.perform(operator, listPipelines, { project, source: 'push' })
  const { items: bridges } = await world.perform(operator, listPipelineBridges, { project, pipelineId: hub[0]!.id })
  expect(bridges.map(({ name, downstream }) => [name, downstream?.source])).toEqual(
    expect.arrayContaining([
      ['service', 'parent_pipeline'],
      ['simulator', 'parent_pipeline'],
    ]),
  )
  const nightly = { project: 'mossgate/shop/storefront', name: 'Every screen, every night' }
  const { items } = await world.perform(operator, listPipelines, nightly)
  const pipelineId = items[0]!.id
  const jobs = await world.perform(operator, listPipelineJobs, { ...nightly, pipelineId, includeRetried: true })
  expect(jobs.total).toBe(201)
  const pipeline = await world.perform(operator, getPipeline, { ...nightly, pipelineId })
  expect(pipeline).toMatchObject({ source: 'schedule', status: 'success', detailedStatus: 'passed with warnings' })
})

test('there is an issue with a label, and a merge request with pipelines', async () => {
  await fill()
  const project = 'mossgate/shop/storefront'
  const issue = await world.perform(operator, getProjectIssue, { project, issueIid: 1 })
  expect([issue.labels, issue.author?.username]).toEqual([['small screens'], 'bram'])
  const { iid, sourceBranch, sha } = await world.perform(operator, getProjectMergeRequest, {
    project,
    mergeRequestIid: 1,
  })
  expect(sha).toMatch(/^[0-9a-f]{40}$/)
  const { items } = await world.perform(operator, listPipelines, { project, ref: sourceBranch })
  expect([iid, items.map(({ status }) => status)]).toEqual([1, ['success', 'canceled']])
})

test('the merge request has a context commit, and a user requests access to the project', async () => {
  await fill()
  const project = 'mossgate/shop/storefront'
  const { items } = await world.perform(operator, listContextCommits, { project, mergeRequestIid: 1 })
  const newest = await world.perform(operator, getCommitWithPipeline, { project, sha: 'main' })
  expect(items.map(({ commit }) => commit.sha)).toEqual([newest.sha])
  const requests = await world.perform(operator, projectAccessRequests.list, { parent: project })
  expect(requests.items.map(({ user }) => user.username)).toEqual(['otto'])
})

test('everyone can read a snippet with two files', async () => {
  await fill()
  const snippet = { project: 'mossgate/shop/storefront', snippetId: 1 }
  const { files, author } = await world.perform(undefined, getProjectSnippet, snippet)
  expect([files, author?.username]).toEqual([['README.md', 'bin/warm-up.sh'], 'priya'])
})

test('a group has a wiki', async () => {
  await fill()
  const pages = await world.perform(undefined, groupWikis.list, { parent: 'mossgate/shop' })
  expect(pages.map(({ slug }) => slug)).toEqual(['guides/testing', 'home'])
})

test('there is an application, and a message on the pages', async () => {
  await fill()
  const applications = await world.perform(operator, listApplications, {})
  expect(applications.map(({ name, scopes }) => [name, scopes])).toEqual([['Locker map', ['read_api']]])
  const { items } = await world.perform(undefined, listBroadcastMessages, {})
  expect(items.map(({ theme, dismissable }) => [theme, dismissable])).toEqual([['light-blue', true]])
  expect(isMessageActive(items[0]!, world.clock.nowMs())).toBe(true)
})

test('pipelines ran for commits in the repositories, and the last one is that of the commit', async () => {
  await fill()
  for (const project of ['mossgate/shop/storefront', 'mossgate/platform/sites', 'mossgate/shop/checkout']) {
    const { items } = await world.perform(operator, listPipelines, { project, perPage: 100 })
    expect(items.length).toBeGreaterThan(1)
    for (const { sha, commit, beforeSha, source, isTag } of items) {
      const found = await world.perform(operator, getCommitWithPipeline, { project, sha: sha! })
      expect(found).toMatchObject({ title: commit!.title, lastPipeline: { sha } })
      expect(found.committer.atSeconds * 1_000).toBe(commit!.committedAtMs)
      if (source === 'push' && !isTag) expect(beforeSha).toBe(found.parentShas[0])
    }
  }
  const tagged = { project: 'mossgate/shop/checkout', sha: 'v3.8.0' }
  expect(await world.perform(operator, getCommitWithPipeline, tagged)).toMatchObject({
    title: 'Version 3.8.0',
    lastPipeline: { ref: 'v3.8.0' },
  })
})

test('there is no room if the core has another user', async () => {
  await world.user('root', { isAdministrator: true })
  expect(await hasRoomForSamples(world.core)).toBe(true)
  await fill()
  expect(await hasRoomForSamples(world.core)).toBe(true)
  await world.user('mira')
  expect(await hasRoomForSamples(world.core)).toBe(false)
})
