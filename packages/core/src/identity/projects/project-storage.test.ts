import { randomBytes } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { recordInput, repositoryPath, World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { DomainError } from '../../base/kit/domain-error.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import type { Core } from '../../base/operations/context.ts'
import type { InputSchema, Operation } from '../../base/operations/operation.ts'
import { perform } from '../../base/operations/perform.ts'
import { putPipelineRecord, removePipeline } from '../../ci/pipelines/pipeline-operations.ts'
import { createProject } from '../../code/projects/project-operations.ts'
import { createBranch, removeBranch } from '../../code/repositories/branch-operations.ts'
import { createCommit, listCommits } from '../../code/repositories/commit-operations.ts'
import { createFile } from '../../code/repositories/file-operations.ts'
import { measureRepositories } from '../../code/repositories/measure-repositories.ts'
import { issueNotes } from '../../work/discussions/note-operations.ts'
import { createIssue, removeIssue } from '../../work/issues/issue-operations.ts'
import { projectLabels } from '../../work/labels/label-operations.ts'
import { projectMilestones } from '../../work/milestones/milestone-operations.ts'
import { findProjectStorage } from './storage-store.ts'

const LIMIT = 100_000
/** A size that fits into one project once, but not twice. */
const HALF = 60_000

let world: World
let mira: User
let project: Project
/** The core under test, with the limit. */
let core: Core

beforeEach(async () => {
  world = await World.open()
  mira = await world.user('mira')
  project = await world.project('tool', mira)
  core = limited(LIMIT)
})

afterEach(() => world.close())

const limited = (projectStorageBytes: number): Core => ({
  ...world.core,
  settings: { ...world.core.settings, projectStorageBytes },
})
const failure = (error: unknown) => (error instanceof DomainError ? error.failure : error)
const full = {
  code: 'storage_full',
  limitBytes: LIMIT,
  storedBytes: expect.any(Number),
  neededBytes: expect.any(Number),
}
const run = <Input extends InputSchema, Result>(operation: Operation<Input, Result>, input: object, on = core) =>
  perform(on, mira, operation, { project: project.id, ...input })

/** Returns content that cannot be compressed. */
const content = (bytes: number) => ({ content: randomBytes(bytes).toString('base64'), encoding: 'base64' })
const addFile = (filePath: string, bytes: number, on = core) =>
  run(createFile, { filePath, branch: 'main', commitMessage: 'Add', ...content(bytes) }, on)
const record = (id: number, { jobs = 1, status = 'success' }) => ({
  pipelineId: id,
  objectAttributes: { id, status },
  builds: Array.from({ length: jobs }, (_, index) => ({ id: id * 1_000 + index, status, name: 'unit', stage: 'test' })),
})
const put = (id: number, given: Parameters<typeof record>[1] = {}) =>
  run(putPipelineRecord, recordInput(record(id, given)))

const stored = () => findProjectStorage({ db: world.core.db.read }, project.id)
/** Sets the counted size: null as before the first measurement, or a wrong number. */
const recount = (bytes: number | null) =>
  world.core.db.write((db) =>
    db
      .updateTable('project_storage')
      .set({ repository_bytes: bytes, ...(bytes === null && { measured_at_ms: null }) })
      .execute(),
  )
const gitdir = () => repositoryPath(core, project.id)
const objects = () => join(gitdir(), 'objects')
const referenceBytes = () =>
  ['heads', 'tags'].flatMap((kind) => readdirSync(join(gitdir(), 'refs', kind), { recursive: true }) as string[])
    .length * 4_096
const objectBytes = () =>
  (readdirSync(objects(), { recursive: true }) as string[])
    .map((name) => statSync(join(objects(), name)))
    .reduce((sum, stats) => sum + (stats.isFile() ? Math.ceil(stats.size / 4_096) * 4_096 : 0), 0)

describe('the repository of a project', () => {
  test('is counted by the sizes of its objects on the disk', async () => {
    await addFile('a.bin', 1_000)
    await addFile('b.bin', 2_000)
    expect((await stored()).repositoryBytes).toBe(objectBytes() + referenceBytes())
    expect(objectBytes()).toBeGreaterThan(3_000)
  })

  test('uses a whole block for each object, also for a tiny one', async () => {
    const actions = Array.from({ length: 30 }, (_, index) => ({
      action: 'create',
      filePath: `${index}.txt`,
      content: String(index),
    }))
    const committed = run(createCommit, { branch: 'main', commitMessage: 'Add', actions })
    expect(await committed.catch(failure)).toEqual(full)
    await run(createCommit, { branch: 'main', commitMessage: 'Add', actions: actions.slice(0, 10) })
    // Ten blobs, a tree, a commit and the branch.
    expect((await stored()).repositoryBytes).toBe(13 * 4_096)
  })

  test('includes branches and the directories of their names', async () => {
    await addFile('a.bin', 1_000)
    const add = (branch: string) => run(createBranch, { branch, ref: 'main' })
    await add('a/b/c')
    expect((await stored()).repositoryBytes).toBe(objectBytes() + referenceBytes())
    expect(await add('deep/'.repeat(30).concat('end')).catch(failure)).toEqual(full)
    expect((await stored()).repositoryBytes).toBe(objectBytes() + referenceBytes())
    await run(removeBranch, { branch: 'a/b/c' })
    await recount(null)
    await measureRepositories(core)
    expect((await stored()).repositoryBytes).toBe(objectBytes() + referenceBytes())
  })

  test('a commit that would exceed the limit is rejected, and none of its objects is kept', async () => {
    await addFile('a.bin', HALF)
    const before = { bytes: objectBytes(), stored: await stored() }
    expect(await addFile('b.bin', HALF).catch(failure)).toEqual(full)
    expect({ bytes: objectBytes(), stored: await stored() }).toEqual(before)
    expect((await run(listCommits, {})).items).toHaveLength(1)
    await addFile('small.txt', 100)
  })

  test('no object is kept of a commit that is rejected for another reason', async () => {
    await addFile('a.bin', 1_000)
    const before = objectBytes()
    const actions = [
      { action: 'create', filePath: 'b.bin', ...content(1_000) },
      { action: 'delete', filePath: 'none' },
    ]
    const refused = run(createCommit, { branch: 'main', commitMessage: 'Change', actions })
    expect(await refused.catch(failure)).toMatchObject({ code: 'refused' })
    expect(objectBytes()).toBe(before)
  })

  test('of two concurrent commits only one is accepted', async () => {
    const outcomes = await Promise.all(
      ['a.bin', 'b.bin'].map((path) =>
        addFile(path, HALF).then(
          () => 'created',
          (error) => failure(error),
        ),
      ),
    )
    expect(outcomes).toEqual(expect.arrayContaining(['created', full]))
  })

  test('a new project is not created if its README does not fit', async () => {
    const draft = { path: 'new', initializeWithReadme: true }
    expect(await perform(limited(10), mira, createProject, draft).catch(failure)).toMatchObject({
      code: 'storage_full',
    })
    expect(await perform(core, mira, createProject, { path: 'new' })).toMatchObject({ project: { isEmpty: true } })
  })

  test('branches of a full repository can be removed but not created', async () => {
    await addFile('a.bin', HALF)
    await run(createBranch, { branch: 'next', ref: 'main' })
    const tight = limited(HALF)
    expect(await addFile('b.txt', 1, tight).catch(failure)).toMatchObject({ code: 'storage_full' })
    const another = run(createBranch, { branch: 'another', ref: 'main' }, tight)
    expect(await another.catch(failure)).toMatchObject({ code: 'storage_full' })
    await run(removeBranch, { branch: 'next' }, tight)
  })

  test('a limit of 0 means unlimited', async () => {
    await addFile('a.bin', HALF, limited(0))
    await addFile('b.bin', HALF, limited(0))
  })

  test('a repository of an earlier version is measured by its first change, or by the sweep', async () => {
    await addFile('a.bin', HALF)
    await recount(null)
    expect(await addFile('b.bin', HALF).catch(failure)).toEqual(full)
    await recount(null)
    await measureRepositories(core)
    expect((await stored()).repositoryBytes).toBe(objectBytes() + referenceBytes())
  })

  test('the sweep counts objects that a killed process did not count', async () => {
    await addFile('a.bin', 1_000)
    await recount(5)
    await measureRepositories(core)
    expect((await stored()).repositoryBytes).toBe(5)
    await world.clock.advance(24 * 3_600_000)
    await measureRepositories(core)
    expect((await stored()).repositoryBytes).toBe(objectBytes() + referenceBytes())
  })
})

describe('records of pipelines', () => {
  test('count together with the repository, and a record beyond the limit is rejected', async () => {
    await addFile('a.bin', HALF)
    await put(1, { jobs: 20 })
    const before = await stored()
    expect(before.recordsBytes).toBeGreaterThan(20 * 256)
    expect(await put(2, { jobs: 200 }).catch(failure)).toEqual(full)
    expect(await stored()).toEqual(before)
    expect(await run(removePipeline, { pipelineId: 2 }).catch(failure)).toMatchObject({ code: 'not_found' })
    expect(await addFile('b.bin', HALF / 10).then(() => 'created')).toBe('created')
  })

  test('replacing a record changes the usage by the difference, and deleting one subtracts it', async () => {
    await put(1, { status: 'running', jobs: 10 })
    const one = (await stored()).recordsBytes
    await put(1, { status: 'running', jobs: 10 })
    expect((await stored()).recordsBytes).toBe(one)
    await put(1, { jobs: 30 })
    expect((await stored()).recordsBytes).toBeGreaterThan(2 * one)
    await put(2)
    await run(removePipeline, { pipelineId: 1 })
    await run(removePipeline, { pipelineId: 2 })
    expect((await stored()).recordsBytes).toBe(0)
  })

  test('concurrent records are stored until the limit is reached', async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, (_, index) => put(index + 1, { jobs: 50 })))
    const passed = outcomes.filter(({ status }) => status === 'fulfilled').length
    expect(passed).toBeGreaterThan(0)
    expect(passed).toBeLessThan(20)
    const { recordsBytes: bytes } = await stored()
    expect(bytes).toBeLessThanOrEqual(LIMIT)
    expect(bytes + bytes / passed).toBeGreaterThan(LIMIT)
  })
})

describe('texts', () => {
  const stored = async () => (await findProjectStorage({ db: world.core.db.read }, project.id)).textsBytes
  const long = 'é'.repeat(10_000)

  test('of labels, milestones, issues and their notes count with a part for each row, and free their space', async () => {
    expect(await stored()).toBe(0)
    const label = await run(projectLabels.create, {
      parent: project.id,
      name: 'slow',
      color: '#ff0000',
      description: long,
    })
    expect(await stored()).toBe(20_256)
    await run(projectLabels.update, { parent: project.id, labelId: label.id, description: 'abc' })
    expect(await stored()).toBe(259)
    await run(projectMilestones.create, { parent: project.id, title: 'v1', description: 'xyz' })
    const issue = await run(createIssue, { title: 'broken', description: long })
    await run(issueNotes.create, { issueIid: issue.iid, body: long })
    expect(await stored()).toBe(259 + 259 + 20_256 + 20_256)
    await run(removeIssue, { issueIid: issue.iid })
    await run(projectLabels.remove, { parent: project.id, labelId: label.id })
    expect(await stored()).toBe(259)
  })

  test('are refused beyond the storage of the project, and shorter ones are accepted', async () => {
    const label = await run(projectLabels.create, {
      parent: project.id,
      name: 'slow',
      color: '#ff0000',
      description: long,
    })
    for (let index = 0; index < 3; index += 1) await run(createIssue, { title: `issue ${index}`, description: long })
    expect(await run(createIssue, { title: 'last', description: long }).catch(failure)).toEqual(full)
    const before = await stored()
    await run(projectLabels.update, { parent: project.id, labelId: label.id, description: 'short' })
    expect(await stored()).toBe(before - 20_000 + 5)
    await run(createIssue, { title: 'last', description: 'short' })
  })
})
