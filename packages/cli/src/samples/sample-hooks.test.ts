import { exportDecision, resolveOptions } from '@penstock/converter'
import { parseLossless, readInput } from '@penstock/forges'
import { describe, expect, test } from 'vitest'
import { chanceOf } from './chance.ts'
import { groups, people, projects } from './company.ts'
import { earlierRuns } from './earlier-runs.ts'
import { recipes } from './recipes.ts'
import { runs } from './runs.ts'
import { HOUR_MS } from './sample-commits.ts'
import { sampleRecords } from './sample-hooks.ts'
import { sampleWorld } from './sample-world.harness.ts'

const nowMs = Date.UTC(2026, 1, 3, 4, 5, 6)
const world = sampleWorld(nowMs)
const records = sampleRecords(world)
const converted = records.map(({ hook }) => {
  const input = readInput(parseLossless(JSON.stringify(hook)), { receivedAtNs: undefined })
  if (input.kind !== 'pipeline') throw new Error(`${input.kind} is no pipeline`)
  return input.record
})
const withStatus = (status: string) => converted.filter((record) => record.status === status)

test('the tables refer only to existing names', () => {
  const paths = new Set(groups.map(({ path }) => path))
  const parentOf = (path: string) => path.split('/').slice(0, -1).join('/')
  for (const { path } of [...groups.slice(1), ...projects]) expect(paths).toContain(parentOf(path))
  for (const { of } of people) expect(paths).toContain(of)
  const bridges = Object.values(recipes).flatMap((jobs) => jobs.flatMap(({ starts }) => starts ?? []))
  for (const { recipe, project = projects[0]!.path } of [...runs, ...bridges]) {
    expect(Object.keys(recipes)).toContain(recipe)
    expect(projects.map(({ path }) => path)).toContain(project)
  }
  for (const { by } of runs) expect(people.map(({ username }) => username)).toContain(by)
  for (const { recipe, fates = {} } of runs) {
    const names = [recipe, ...recipes[recipe]!.flatMap(({ starts }) => starts?.recipe ?? [])]
      .flatMap((name) => recipes[name]!)
      .map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(Object.keys(fates)))
  }
})

test('there are about thirty pipelines of every kind, all finished except one', () => {
  expect(records).toHaveLength(33)
  const options = resolveOptions({})
  expect(converted.filter((record) => exportDecision(record, options).kind === 'export')).toHaveLength(32)
  const statuses = ['success', 'failed', 'canceled', 'skipped', 'manual'].map((status) => withStatus(status).length)
  expect(statuses).toEqual([24, 6, 1, 1, 1])
  const sources = new Set(converted.map(({ source }) => source))
  for (const source of [
    'push',
    'merge_request_event',
    'schedule',
    'parent_pipeline',
    'pipeline',
    'web',
    'api',
    'trigger',
  ])
    expect(sources).toContain(source)
  expect(converted.filter(({ tag }) => tag).map(({ ref }) => ref)).toEqual(['v3.8.0', 'v1.12.0'])
})

test('a pipeline that another project started runs for the newest commit of its own branch', () => {
  const [first] = converted.filter(({ source }) => source === 'pipeline')
  const shas = converted.filter(({ source }) => source === 'parent_pipeline').map(({ sha }) => sha)
  expect(first!.sha).toBe('a'.repeat(40))
  expect(shas).not.toContain('a'.repeat(40))
})

test('one pipeline has 200 jobs and two more attempts', () => {
  const [nightly] = converted.filter(({ name }) => name === 'Every screen, every night')
  expect(new Set(nightly!.jobs.map(({ name }) => name)).size).toBe(200)
  const attempts = nightly!.jobs.filter(({ name }) => name === 'tablet 17/64')
  expect(attempts.map(({ status }) => status).toSorted()).toEqual(['failed', 'success'])
  expect(nightly!.status).toBe('success')
})

test('ids are unique, and a child refers to its parent, its bridge and its root', () => {
  const ids = converted.map(({ id }) => id)
  const jobIds = converted.flatMap(({ jobs }) => jobs.map(({ id }) => id))
  expect([new Set(ids).size, new Set(jobIds).size]).toEqual([ids.length, jobIds.length])
  const children = records.filter(({ hook }) => 'source_pipeline' in hook)
  expect(children).toHaveLength(8)
  for (const { hook, project } of children) {
    const { pipeline_id, bridge_id } = hook.source_pipeline as Record<string, number>
    const parent = records.find(({ pipelineId }) => pipelineId === pipeline_id)!
    expect(hook.source_pipeline).toMatchObject({ project: { path_with_namespace: parent.project } })
    expect((parent.hook.bridges as { id: number }[]).map(({ id }) => id)).toContain(bridge_id)
    const { id, root_pipeline_id } = hook.object_attributes as Record<string, number>
    expect(root_pipeline_id).toBe(parent.project === project ? pipeline_id : id)
  }
})

test('all times are in the last two days, and in order', () => {
  const atMs = (ns: bigint | undefined) => Number((ns ?? 0n) / 1_000_000n)
  for (const { createdAtNs, finishedAtNs, status, jobs } of converted) {
    expect(atMs(createdAtNs)).toBeGreaterThan(nowMs - 48 * HOUR_MS)
    if (status !== 'manual') expect(atMs(finishedAtNs)).toBeLessThan(nowMs)
    for (const job of jobs) {
      if (job.startedAtNs === undefined) continue
      expect(job.startedAtNs).toBeGreaterThan(createdAtNs!)
      expect(job.finishedAtNs!).toBeGreaterThan(job.startedAtNs)
      if (status !== 'manual') expect(job.finishedAtNs!).toBeLessThanOrEqual(finishedAtNs!)
    }
  }
})

test('the same world has the same pipelines, and another time results in others', () => {
  expect(JSON.stringify(sampleRecords(world))).toBe(JSON.stringify(records))
  const later = sampleRecords({ ...world, nowMs: nowMs + HOUR_MS })
  expect(later.map(({ pipelineId }) => pipelineId)).toEqual(records.map(({ pipelineId }) => pipelineId))
  expect(JSON.stringify(later)).not.toBe(JSON.stringify(records))
})

describe('the earlier runs', () => {
  const earlier = earlierRuns(nowMs, chanceOf)
  const withEarlier = sampleRecords(world, earlier)
  const found = withEarlier.map(({ hook }) => hook.object_attributes as { id: number; iid: number; created_at: string })

  test('are several hundred in two weeks, and their ids are lower', () => {
    expect(earlier.length).toBeGreaterThan(200)
    const before = found.filter(({ id }) => id < 1_001)
    expect(before.length).toBeGreaterThan(earlier.length)
    for (const { created_at } of before) {
      expect(Date.parse(created_at)).toBeGreaterThan(nowMs - 14 * 24 * HOUR_MS)
      expect(Date.parse(created_at)).toBeLessThan(nowMs - 0.9 * HOUR_MS)
    }
    expect(new Set(found.map(({ id }) => id)).size).toBe(found.length)
    expect(found.filter(({ id }) => id >= 1_001)).toHaveLength(records.length)
  })

  test.each([0, 7, 13, 23])('include a job that is slow yesterday if now is %s o’clock', (hour) => {
    const now = Date.UTC(2026, 1, 3, hour, 30)
    const yesterday = new Date(now - 24 * HOUR_MS).toISOString().slice(0, 10)
    const slow = earlierRuns(now, chanceOf).filter(({ fates, hoursAgo }) => {
      const day = new Date(now - hoursAgo * HOUR_MS).toISOString().slice(0, 10)
      return day === yesterday && fates?.image?.kind === 'slow'
    })
    expect(slow.length).toBeGreaterThanOrEqual(3)
  })

  test('have a job that becomes slower, jobs that fail and succeed, and a day on which much failed', () => {
    const hooks = withEarlier.map(
      ({ hook, project }) => ({ hook, project }) as unknown as { hook: Hook; project: string },
    )
    const browser = hooks.flatMap(({ hook }) => hook.builds.filter(({ name }) => name === 'browser 1/4'))
    const secondsOf = (builds: readonly Build[]) =>
      builds.reduce((sum, { duration }) => sum + duration!, 0) / builds.length
    expect(secondsOf(browser.slice(-20)) / secondsOf(browser.slice(0, 20))).toBeGreaterThan(1.1)
    const attempts = hooks.map(({ hook }) => hook.builds.filter(({ name }) => name === 'payments sandbox'))
    expect(attempts.filter((of) => of.map(({ status }) => status).join() === 'failed,success').length).toBeGreaterThan(
      3,
    )
    const failures: Record<string, number> = {}
    for (const { status, created_at } of hooks.map(({ hook }) => hook.object_attributes)) {
      const day = created_at.slice(0, 10)
      if (status === 'failed') failures[day] = (failures[day] ?? 0) + 1
    }
    const counts = Object.values(failures).toSorted((a, b) => b - a)
    expect(counts[0]).toBeGreaterThan(1.5 * counts[1]!)
  })
})

interface Build {
  readonly name: string
  readonly status: string
  readonly duration: number | null
}

interface Hook {
  readonly object_attributes: { readonly status: string; readonly created_at: string }
  readonly builds: readonly Build[]
}
