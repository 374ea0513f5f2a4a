import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Db, migrate, openDatabase } from '@penstock/db'
import { ManualClock, recordInput, temporaryDatabase } from '@penstock/testkit'
import type { Migration } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import type { CoreTables } from './base/kit/tables.ts'
import type { Core } from './base/operations/context.ts'
import { perform } from './base/operations/perform.ts'
import { findJob } from './ci/pipelines/job-listings.ts'
import { findPipeline } from './ci/pipelines/pipeline-listings.ts'
import { getPipeline, listPipelines, listProjectJobs, putPipelineRecord } from './ci/pipelines/pipeline-operations.ts'
import { insertProject } from './identity/projects/project-store.ts'
import { insertUser } from './identity/users/user-store.ts'
import { migrateCore, pendingCoreMigrations } from './migrate-core.ts'

/** Opens a database with all migrations except the one of that name. */
async function databaseWithout(name: string): Promise<Db<CoreTables>> {
  const directory = mkdtempSync(join(tmpdir(), 'penstock-migrate-'))
  const { location, remove } = await temporaryDatabase(directory)
  const db = openDatabase<CoreTables>(location)
  onTestFinished(async () => {
    await db.close()
    await remove()
    rmSync(directory, { recursive: true })
  })
  const folder = new URL('./migrations/', import.meta.url)
  const names = (await readdir(folder))
    .map((file) => /^(\w+)\.[jt]s$/.exec(file)?.[1])
    .filter((each) => each !== undefined)
  const others = names.filter((each) => each !== name)
  const entries = others.map(async (each): Promise<[string, Migration]> => {
    const file = await import(/* @vite-ignore */ new URL(`${each}.ts`, folder).href)
    return [each, file.migration]
  })
  await migrate(db, Object.fromEntries(await Promise.all(entries)))
  return db
}

test('the migration makes ids unique within their projects, and keeps all pipelines, jobs and Global IDs', async () => {
  const db = await databaseWithout('20261122T1500_ids_of_projects')
  expect(await pendingCoreMigrations(db)).toContain('20261122T1500_ids_of_projects')
  const { root, garden, vault } = await db.write(async (tx) => {
    const writing = { db: tx, nowMs: 0 }
    const root = await insertUser(writing, {
      username: 'root',
      name: 'Root',
      email: 'root@example.test',
      isAdministrator: true,
    })
    const project = (path: string) => insertProject(writing, { parent: root, path, name: path, visibility: 'private' })
    return { root, garden: await project('garden'), vault: await project('vault') }
  })
  const big = Number.MAX_SAFE_INTEGER
  /** Projects, pipelines and jobs as the earlier version stored them. */
  const recorded: readonly [typeof garden, number, readonly number[]][] = [
    [garden, 31, [310, 311]],
    [garden, 32, [310]],
    [vault, 33, [311, 330, big]],
    [vault, big, []],
  ]
  await db.write(async (tx) => {
    for (const [project, id, jobs] of recorded) {
      const pipeline = {
        ...{ project_id: project.id, pipeline_id: id, status: 'success', updated_at_ms: 7, details: '{}', digest: 'd' },
        ...{ iid: null, name: null, source: null, ref: 'main', is_tag: null, sha: null, user_id: null, username: null },
        ...{ created_at_ms: 5, as_of_ms: 6 },
        ...{ upstream_project_path: null, upstream_pipeline_id: null, upstream_job_id: null },
      }
      const { id: key } = await tx
        .insertInto('pipelines')
        .values(pipeline as never)
        .returning('id')
        .executeTakeFirstOrThrow()
      for (const job of jobs) {
        const row = { pipeline_key: key, project_id: project.id, job_id: job, is_bridge: 0, is_retried: 0 }
        await tx
          .insertInto('pipeline_jobs')
          .values({ ...row, status: 'success', details: JSON.stringify({ name: `${id}`, stage: 's' }) })
          .execute()
      }
    }
  })

  await migrateCore(db)
  expect(await pendingCoreMigrations(db)).toEqual([])
  const core: Core = {
    db,
    clock: new ManualClock(0),
    randomBytes,
    settings: { serviceName: 'svc', externalUrl: 'https://svc.example.test' } as Core['settings'],
  }
  const numbersOf = async (project: typeof garden) => {
    const pipelines = await perform(core, root, listPipelines, { project: project.id, sort: 'asc' })
    const jobs = await perform(core, root, listProjectJobs, { project: project.id })
    for (const { globalNumber, id } of pipelines.items) {
      expect(await perform(core, root, findPipeline, { globalNumber })).toMatchObject({ id, projectId: project.id })
    }
    for (const { globalNumber, id, pipeline } of jobs.items) {
      expect(await perform(core, root, findJob, { globalNumber })).toMatchObject({ id, pipeline: { id: pipeline.id } })
    }
    const sorted = jobs.items.toSorted((a, b) => a.pipeline.id - b.pipeline.id || a.id - b.id)
    return [
      pipelines.items.map(({ id, globalNumber }) => [id, globalNumber]),
      sorted.map(({ id, globalNumber, pipeline }) => [pipeline.id, id, globalNumber]),
    ]
  }
  const assigned = expect.toSatisfy((number: number) => number >= 2 ** 52 && number < 2 ** 52 + 1_000)
  expect(await numbersOf(garden)).toEqual([
    [
      [31, 31],
      [32, 32],
    ],
    [
      [31, 310, 310],
      [31, 311, 311],
      [32, 310, assigned],
    ],
  ])
  expect(await numbersOf(vault)).toEqual([
    [
      [33, 33],
      [big, assigned],
    ],
    [
      [33, 311, assigned],
      [33, 330, 330],
      [33, big, assigned],
    ],
  ])

  const record = { objectAttributes: { id: 31, status: 'success' } }
  const builds = [{ id: 310, status: 'success' }]
  await perform(core, root, putPipelineRecord, recordInput({ ...record, project: vault.id, pipelineId: 31, builds }))
  expect(await perform(core, root, getPipeline, { project: vault.id, pipelineId: 31 })).toMatchObject({
    globalNumber: assigned,
  })
  const all = [...(await numbersOf(garden)), ...(await numbersOf(vault))].map((rows) => rows.map((row) => row.at(-1)))
  expect(new Set([...all[0]!, ...all[2]!]).size).toBe(5)
  expect(new Set([...all[1]!, ...all[3]!]).size).toBe(7)
})
