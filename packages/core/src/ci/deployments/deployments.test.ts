import { recordInput } from '@penstock/testkit'
import { expect, test } from 'vitest'
import type { DomainError } from '../../base/kit/domain-error.ts'
import { inProjectWorld, mira, project, world } from '../../identity/projects/project-world.harness.ts'
import { slugOfName, tierOfName } from '../environments/environment.ts'
import {
  createEnvironment,
  deleteScheduledEnvironments,
  listEnvironments,
  removeEnvironment,
  removeReviewApps,
  stopEnvironment,
  stopStaleEnvironments,
  updateEnvironment,
} from '../environments/environment-operations.ts'
import { putPipelineRecord, removePipeline } from '../pipelines/pipeline-operations.ts'
import { getEnvironment } from './deployed-environment.ts'
import {
  createDeployment,
  getDeployment,
  listDeployments,
  removeDeployment,
  updateDeployment,
} from './deployment-operations.ts'

const DAY_MS = 86_400_000
const [first, second] = ['1'.repeat(40), '2'.repeat(40)]
const failure = (error: DomainError) => error.failure
inProjectWorld('maintainer')

const add = (name: string, more: object = {}) =>
  world.perform(mira, createEnvironment, { project: project.id, name, ...more })
const on = (environmentId: number) => ({ project: project.id, environmentId })
const deploy = (environment: string, sha = first, status = 'success') =>
  world.perform(mira, createDeployment, { project: project.id, environment, sha, ref: 'main', tag: false, status })
const names = async (filter: object = {}) =>
  (await world.perform(mira, listEnvironments, { project: project.id, ...filter })).items.map(({ name }) => name)
const deployments = async (filter: object = {}) =>
  (await world.perform(mira, listDeployments, { project: project.id, ...filter })).items
const record = (id: number, builds: readonly object[], more: object = {}) =>
  world.perform(
    mira,
    putPipelineRecord,
    recordInput({
      project: project.id,
      pipelineId: id,
      objectAttributes: { id, status: 'running', ref: 'main', sha: first, ...more },
      builds,
    }),
  )

test.each([
  ['production', 'production', /^production$/],
  ['Production', 'production', /^production-[0-9a-z]{6}$/],
  ['review/add-login', 'development', /^review-add-login-[0-9a-z]{6}$/],
  ['qa', 'testing', /^qa$/],
  ['1', 'other', /^env-1-[0-9a-z]{6}$/],
  ['staging of the northern office', 'staging', /^staging-of-the-no-[0-9a-z]{6}$/],
  ['{}', 'other', /^env-[0-9a-z]{6}$/],
])('the environment %s has tier %s and a slug for host names', (name, tier, slug) => {
  expect(tierOfName(name)).toBe(tier)
  expect(slugOfName(name)).toMatch(slug)
})

test('environments have unique names, are listed by name, and deleted when they are stopped', async () => {
  const staging = await add('staging', { externalUrl: 'https://staging.example.test' })
  await add('production')
  expect(staging).toMatchObject({ slug: 'staging', tier: 'staging', state: 'available', autoStopSetting: 'always' })
  expect(await add('staging').catch(failure)).toEqual({
    code: 'invalid',
    fields: { name: ['has already been taken'] },
  })
  expect(await add('/x').catch(failure)).toMatchObject({ code: 'invalid' })
  expect(await names()).toEqual(['production', 'staging'])
  expect(await names({ search: 'stag' })).toEqual(['staging'])
  expect(await names({ search: 'st' }).catch(failure)).toMatchObject({ code: 'refused' })
  expect(await names({ name: 'production' })).toEqual(['production'])
  const changed = await world.perform(mira, updateEnvironment, { ...on(staging.id), tier: 'testing', externalUrl: '' })
  expect(changed).toMatchObject({ tier: 'testing', externalUrl: undefined })
  expect(await world.perform(mira, removeEnvironment, on(staging.id)).catch(failure)).toEqual({ code: 'forbidden' })
  await world.perform(mira, stopEnvironment, on(staging.id))
  expect(await names({ states: 'stopped' })).toEqual(['staging'])
  await world.perform(mira, removeEnvironment, on(staging.id))
  expect(await names()).toEqual(['production'])
})

test('a deployment creates and starts its environment, and the last one stays', async () => {
  const running = await deploy('staging', first, 'running')
  expect(running).toMatchObject({ iid: 1, status: 'running', user: { id: mira.id }, finishedAtMs: undefined })
  const { environmentId } = running
  await world.perform(mira, stopEnvironment, on(environmentId))
  const one = { project: project.id, deploymentId: running.id }
  const change = (status: string) => world.perform(mira, updateDeployment, { ...one, status }).catch(failure)
  expect(await change('running')).toEqual({
    code: 'invalid',
    fields: { status: ['cannot transition via "run"'] },
  })
  expect(await world.perform(mira, removeDeployment, one).catch(failure)).toMatchObject({ code: 'refused' })
  expect(await change('success')).toMatchObject({ status: 'success', finishedAtMs: world.clock.nowMs() })
  expect((await deploy('staging', first)).id).toBe(running.id)
  expect(await world.perform(mira, getEnvironment, on(environmentId))).toMatchObject({
    state: 'available',
    lastDeployment: { id: running.id },
  })
  expect(await world.perform(mira, removeDeployment, one).catch(failure)).toMatchObject({ code: 'refused' })
  await deploy('staging', second)
  await world.perform(mira, removeDeployment, one)
  expect(await deployments()).toMatchObject([{ iid: 2, sha: second }])
})

test('lists of deployments are filtered by environment, status and time', async () => {
  await deploy('staging', first)
  world.clock.advance(DAY_MS)
  await deploy('production', first, 'failed')
  await deploy('production', second)
  const iids = async (filter: object) => (await deployments(filter)).map(({ iid }) => iid)
  expect(await iids({ sort: 'desc' })).toEqual([3, 2, 1])
  expect(await iids({ environment: 'production', status: 'success' })).toEqual([3])
  const since = new Date(world.clock.nowMs() - 1).toISOString()
  expect(await iids({ updatedAfter: since, orderBy: 'updated_at' })).toEqual([3, 2])
  expect(await iids({ finishedBefore: since, orderBy: 'finished_at', status: 'success' })).toEqual([1])
  expect(await iids({ finishedBefore: since }).catch(failure)).toMatchObject({ code: 'refused' })
})

test('recorded jobs with an environment are deployments, which follow the status of the job', async () => {
  const build = (id: number, status: string, environment?: object) => ({ id, name: `job ${id}`, status, environment })
  const web = { name: 'review/web', action: 'start', deploymentTier: 'testing' }
  const record1 = [
    build(11, 'success'),
    build(12, 'running', web),
    build(13, 'created', { name: 'production' }),
    build(14, 'success', { name: 'qa', action: 'access' }),
    build(15, 'success', { name: '/not a name' }),
  ]
  await record(1, record1)
  expect(await names()).toEqual(['production', 'qa', 'review/web'])
  expect(await deployments()).toMatchObject([
    {
      status: 'running',
      ref: 'main',
      sha: first,
      job: { id: 12 },
      environment: { name: 'review/web', tier: 'testing' },
    },
    { status: 'created', job: { id: 13 }, environment: { name: 'production', tier: 'production' } },
  ])
  const [review] = await deployments()
  const ends = { status: 'success', finished_at: undefined, finishedAt: '2026-02-03 04:00:00 UTC' }
  await record(1, [build(12, 'success', web), build(13, 'skipped', { name: 'production' })], ends)
  expect(await deployments()).toMatchObject([{ id: review!.id, status: 'success' }, { status: 'skipped' }])
  const forbidden = { project: project.id, deploymentId: review!.id, status: 'failed' }
  expect(await world.perform(mira, updateDeployment, forbidden).catch(failure)).toMatchObject({ code: 'forbidden' })

  await record(2, [build(21, 'success', { name: 'review/web', action: 'stop' })])
  expect(await names({ states: 'stopped' })).toEqual(['review/web'])
  await record(3, [build(31, 'success', web)])
  await record(2, [build(21, 'success', { name: 'review/web', action: 'stop' })], { ...ends, status: 'success' })
  expect(await names({ states: 'available', search: 'review' })).toEqual(['review/web'])

  await world.perform(await world.user('root', { isAdministrator: true }), removePipeline, {
    project: project.id,
    pipelineId: 1,
  })
  const shown = await world.perform(mira, getDeployment, { project: project.id, deploymentId: review!.id })
  expect(shown).toMatchObject({ job: undefined, status: 'success' })
})

test('stale environments are stopped, and old review apps deleted after a week', async () => {
  await add('review/old')
  await deploy('production')
  world.clock.advance(40 * DAY_MS)
  await deploy('staging')
  const before = (days: number) => ({
    project: project.id,
    before: new Date(world.clock.nowMs() - days * DAY_MS).toISOString(),
  })
  expect(await world.perform(mira, stopStaleEnvironments, before(1)).catch(failure)).toMatchObject({ code: 'refused' })
  expect(await world.perform(mira, stopStaleEnvironments, before(8))).toEqual({ stopped: 2 })
  expect(await names({ states: 'available' })).toEqual(['staging'])
  const removed = async (more: object) =>
    (await world.perform(mira, removeReviewApps, { project: project.id, ...more })).scheduled.map(({ name }) => name)
  expect(await removed({})).toEqual(['review/old'])
  expect(await removed({ dryRun: false })).toEqual(['review/old'])
  await deleteScheduledEnvironments(world.core)
  expect(await names({ search: 'review' })).toEqual(['review/old'])
  world.clock.advance(8 * DAY_MS)
  await deleteScheduledEnvironments(world.core)
  expect(await names()).toEqual(['production', 'staging'])
})

test('many environments are stopped and scheduled in one call, and only those below `review/` are review apps', async () => {
  const draft = {
    project_id: project.id,
    slug: '',
    tier: 'other',
    state: 'available',
    auto_stop_setting: 'always',
  } as const
  const rowOf = (name: string) => ({
    ...draft,
    name,
    created_at_ms: 1,
    updated_at_ms: world.clock.nowMs() - 40 * DAY_MS,
  })
  const rows = [
    ...Array.from({ length: 230 }, (_, index) => rowOf(`review/${index}`)),
    rowOf('Review/x'),
    rowOf('reviewer'),
  ]
  await world.core.db.write((db) => db.insertInto('environments').values(rows).execute())
  const before = new Date(world.clock.nowMs() - 8 * DAY_MS).toISOString()
  expect(await world.perform(mira, stopStaleEnvironments, { project: project.id, before })).toEqual({ stopped: 232 })
  const schedule = async (limit: number) => {
    const input = { project: project.id, before, dryRun: false, limit }
    return (await world.perform(mira, removeReviewApps, input)).scheduled.length
  }
  expect([await schedule(150), await schedule(150), await schedule(150)]).toEqual([150, 80, 0])
})
