import { DomainError, parseInput } from '@penstock/core'
import {
  type JobRecord,
  type PipelineRecord,
  parseDate,
  parseLossless,
  RecordError,
  readInput,
  readPayload,
} from '@penstock/forges'
import { pipelineHooks } from '@penstock/testkit'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { PipelineDraft } from '../packages/core/src/ci/pipelines/pipeline.ts'
import { pipelineDraftOf, putRecordInput } from '../packages/core/src/ci/pipelines/pipeline-record.ts'

// Two readers read the body of a pipeline hook: the core stores it, and the converter exports it. Both must accept and
// refuse the same bodies and read the same values, so that a trace shows what the API shows. The differences on purpose
// are the commented lines of `comparable…` below, and the rows of `differences` at the end.

type Body = Readonly<Record<string, unknown>>

/** Reads a body as the core does; `undefined` if it is refused. The path of the request names the pipeline of the body. */
function readByCore(text: string): PipelineDraft | undefined {
  const { project, ...body } = withInputNames(JSON.parse(text)) as Body
  const { id } = Object(body.objectAttributes)
  try {
    const input = parseInput(putRecordInput, {
      ...body,
      hookProject: project,
      project: 1,
      pipelineId: id,
      payload: text,
    })
    return pipelineDraftOf(input, input.hookProject)
  } catch (error) {
    if (error instanceof DomainError) return undefined
    throw error
  }
}

/** Reads a body as the converter does; `undefined` if it is refused. */
function readByConverter(text: string): PipelineRecord | undefined {
  try {
    const input = readInput(parseLossless(text), { receivedAtNs: undefined })
    return input.kind === 'pipeline' ? input.record : undefined
  } catch (error) {
    if (error instanceof RecordError) return undefined
    throw error
  }
}

/** Returns a value with the names of an operation's input, as the REST API does: `before_sha` becomes `beforeSha`. */
function withInputNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withInputNames)
  if (typeof value !== 'object' || value === null) return value
  const camelCase = (name: string) => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [camelCase(name), withInputNames(member)]))
}

/** Returns what both readers read, from the core's result. */
const comparableDraft = (draft: PipelineDraft) => ({
  id: draft.id,
  iid: draft.iid,
  name: draft.name,
  status: draft.status,
  detailedStatus: draft.detailedStatus,
  source: draft.source,
  ref: draft.ref,
  // The converter concludes from a full ref whether it is a tag.
  isTag: draft.isTag ?? isTagRef(draft.ref),
  sha: draft.sha,
  // The converter leaves out a SHA of zeros, which means that there is no earlier commit.
  beforeSha: /^0+$/.test(draft.beforeSha ?? '') ? undefined : draft.beforeSha,
  // Only the core reads the name of a user, and the author and time of a commit.
  user: unlessEmpty({ id: draft.user?.id, username: draft.user?.username }),
  commit: unlessEmpty({ id: draft.commit?.id, title: draft.commit?.title, message: draft.commit?.message }),
  upstream: draft.upstream && {
    pipelineId: draft.upstream.pipelineId,
    jobId: draft.upstream.jobId,
    isOtherProject: draft.upstream.isOtherProject,
    projectPath: draft.upstream.projectPath,
    projectId: draft.upstream.projectId,
  },
  createdAtMs: draft.createdAtMs,
  finishedAtMs: draft.finishedAtMs,
  durationSeconds: draft.durationSeconds,
  queuedSeconds: draft.queuedSeconds,
  jobs: draft.jobs.map((job) => ({
    ...job,
    createdAtMs: job.createdAtMs,
    startedAtMs: job.startedAtMs,
    finishedAtMs: job.finishedAtMs,
    user: unlessEmpty({ id: job.user?.id, username: job.user?.username }),
  })),
})

/** Returns what both readers read, from the converter's result. */
const comparableRecord = (record: PipelineRecord): ReturnType<typeof comparableDraft> => ({
  id: Number(record.id),
  iid: stored(record.iid),
  name: storedText(record.name),
  status: storedText(record.status)!,
  detailedStatus: storedText(record.detailedStatus),
  source: storedText(record.source),
  ref: storedText(record.ref),
  isTag: record.tag,
  sha: storedText(record.sha),
  beforeSha: storedText(record.beforeSha),
  user: record.user && userOf(record.user),
  commit: record.commit && {
    id: storedText(record.commit.id),
    title: storedText(record.commit.title),
    message: storedText(record.commit.message, 10_000),
  },
  upstream: record.upstream && {
    pipelineId: Number(record.upstream.pipelineId),
    jobId: stored(record.upstream.bridgeId),
    isOtherProject: record.upstream.otherProject,
    projectPath: storedText(record.upstream.projectPath),
    projectId: stored(record.upstream.projectId),
  },
  createdAtMs: storedMs(record.createdAtNs),
  finishedAtMs: storedMs(record.finishedAtNs),
  durationSeconds: storedSeconds(record.durationSeconds),
  queuedSeconds: storedSeconds(record.queuedSeconds),
  // The core orders jobs by id, the converter by creation.
  jobs: record.jobs.toSorted((a, b) => Number(a.id) - Number(b.id)).map(comparableJob),
})

const comparableJob = (job: JobRecord) => ({
  id: Number(job.id),
  isBridge: job.bridge,
  isRetried: !job.effective,
  name: storedText(job.name),
  stage: storedText(job.stage),
  status: storedText(job.status)!,
  failureReason: storedText(job.failureReason),
  when: storedText(job.when),
  isManual: job.manual,
  allowFailure: job.allowFailure,
  createdAtMs: storedMs(job.createdAtNs),
  startedAtMs: storedMs(job.startedAtNs),
  finishedAtMs: storedMs(job.finishedAtNs),
  durationSeconds: storedSeconds(job.durationSeconds),
  queuedSeconds: storedSeconds(job.queuedSeconds),
  user: job.user && userOf(job.user),
  runner: job.runner && {
    id: stored(job.runner.id),
    description: storedText(job.runner.description),
    type: storedText(job.runner.type),
    isActive: job.runner.active,
    isShared: job.runner.isShared,
    // The core stores 100 tags.
    tags: job.runner.tags.slice(0, 100).map((tag) => storedText(tag)!),
  },
  artifacts: job.artifacts && { filename: storedText(job.artifacts.filename), size: stored(job.artifacts.size) },
  environment: job.environment && {
    name: storedText(job.environment.name),
    action: storedText(job.environment.action),
    deploymentTier: storedText(job.environment.deploymentTier),
  },
})

const userOf = ({ id, username }: NonNullable<PipelineRecord['user']>) => ({
  id: stored(id),
  username: storedText(username),
})

const stored = (integer: bigint | string | undefined) => (integer === undefined ? undefined : Number(integer))

/** The core truncates texts, and replaces characters that no database can store. */
const storedText = (text: string | undefined, maxLength = 1_024): string | undefined =>
  text?.slice(0, maxLength).replaceAll(/[\0\p{Surrogate}]/gu, '\ufffd')

/** The core stores durations of up to 10^9 seconds, the converter exports up to 2^63 nanoseconds. */
const storedSeconds = (seconds: number | undefined) => (seconds !== undefined && seconds <= 1e9 ? seconds : undefined)

/** The core stores milliseconds, the converter exports nanoseconds. */
const storedMs = (ns: bigint | undefined) => (ns === undefined || ns < 1_000_000n ? undefined : Number(ns / 1_000_000n))

const isTagRef = (ref: string | undefined): boolean | undefined =>
  ref?.startsWith('refs/tags/') ? true : ref?.startsWith('refs/heads/') ? false : undefined

const unlessEmpty = <Section extends object>(section: Section): Section | undefined =>
  Object.values(section).some((member) => member !== undefined) ? section : undefined

/** Bodies with the values of which the readers could make different things. */
function bodies(): fc.Arbitrary<Body> {
  const one = (...values: unknown[]) => fc.constantFrom(...values)
  const time = one(
    '2026-02-03 04:05:06 UTC',
    '2026-02-03 04:05:06',
    '2026-02-03 04:05:06 +0230',
    '2026-02-03T04:05:06+23:59',
    '2026-02-03T04:05:06+24:00',
    '2026-02-03T04:05:06-00:60',
    '2026-02-03T04:05:06.987654321Z',
    '2026-02-03T04:05:06.9876543210Z',
    '2026-02-03t04:05:06z',
    '2026-02-03 04:05:06 utc',
    '2026-02-03 04:05:06 +00',
    '2026-02-03T04:05-01',
    '2026-02-03T04:05+24',
    '2026-02-03T04:05.5Z',
    '2026-02-03T04:05:06  Z',
    '2026-02-03T04:05Z',
    '2026-02-03T24:00:00Z',
    '2026-02-03T23:59:60Z',
    '2026-02-03',
    ' 2026-02-03T04:05:06Z',
    '2026-02-30 04:05:06 UTC',
    '1969-12-31T23:59:59Z',
    '1970-01-01T00:00:00+00:01',
    '2262-04-11T23:47:16Z',
    '2263-01-01T00:00:00Z',
    1_770_000_000,
  )
  const text = one('x', ' x ', '', ' \0', 'a\0b', '\ud83d', 'y'.repeat(1_025), 7, true, null, ['x'], {})
  const id = one(1, 0, -1, 1.5, 2 ** 53 - 1, '', 'x', true, null, [1], {})
  const flag = one(true, false, 'true', 1, null)
  const seconds = one(0, 0.5, -0.5, 1e9, 1e10, 1e300, '5', null)
  const user = fc.record({ id, username: text, name: text }, { requiredKeys: [] })
  const project = fc.record(
    { id: one(1, 2, 0, null), path_with_namespace: one('a/b', 'a/c', '') },
    { requiredKeys: [] },
  )
  const section = (content: fc.Arbitrary<unknown>) => fc.oneof({ weight: 5, arbitrary: content }, one(null, 7, 'x', []))
  const status = fc.oneof(
    { weight: 20, arbitrary: one('success', ' Failure ', 'CANCELLED', 'failed', 'Melting', 'x'.repeat(255)) },
    one('', ' \0', 7, null),
  )
  const end = one('2026-02-03 04:05:06 UTC', '2026-02-03 04:05:07 UTC')
  const job = fc.record(
    {
      id: fc.oneof({ weight: 30, arbitrary: fc.integer({ min: 1, max: 6 }) }, id),
      status,
      name: one('unit', 'lint', '', null),
      stage: one('test', 'build', 7),
      bridge: flag,
      created_at: time,
      started_at: time,
      finished_at: fc.oneof({ weight: 9, arbitrary: end }, time),
      duration: seconds,
      queued_duration: seconds,
      failure_reason: text,
      when: text,
      manual: flag,
      allow_failure: flag,
      user: section(user),
      runner: section(
        fc.record(
          {
            id,
            description: text,
            runner_type: text,
            active: flag,
            is_shared: flag,
            tags: one(['a', '', 7, 'b'], 'a'),
          },
          { requiredKeys: [] },
        ),
      ),
      artifacts_file: section(fc.record({ filename: text, size: one(0, 7, -1, 1.5, '', null) }, { requiredKeys: [] })),
      environment: section(fc.record({ name: text, action: text, deployment_tier: text }, { requiredKeys: [] })),
    },
    { requiredKeys: ['id', 'status'] },
  )
  const jobs = fc.oneof({ weight: 20, arbitrary: fc.array(job, { maxLength: 4 }) }, one(null, [null], [7], [{}]))
  const run = fc.record(
    {
      id: fc.oneof({ weight: 20, arbitrary: fc.constant(31) }, id),
      status,
      iid: id,
      name: text,
      detailed_status: one('passed', '', 7),
      source: one('push', 'pipeline', 7),
      ref: one('main', 'refs/tags/v1', 'refs/heads/main', ''),
      tag: flag,
      sha: text,
      before_sha: one('0'.repeat(40), 'f'.repeat(40), 0),
      created_at: time,
      updated_at: time,
      finished_at: time,
      duration: seconds,
      queued_duration: seconds,
    },
    { requiredKeys: ['id', 'status'] },
  )
  // Without `object_kind`, these members may make a body one of several kinds, which both readers refuse.
  const rarely = (...values: unknown[]) => fc.oneof({ weight: 9, arbitrary: fc.constant(undefined) }, one(...values))
  return fc.record(
    {
      object_kind: fc.oneof({ weight: 9, arbitrary: fc.constant('pipeline') }, one('', ' ', 7, null, 'push')),
      object_attributes: fc.oneof({ weight: 20, arbitrary: run }, one(null, [], 'x', {}, { id: 31 })),
      user: section(user),
      project: section(project),
      commit: section(fc.record({ id: text, title: text, message: text, timestamp: time }, { requiredKeys: [] })),
      source_pipeline: section(
        fc.record({ pipeline_id: one(30, 31, 0), job_id: id, bridge_id: id, project: section(project) }),
      ),
      builds: jobs,
      bridges: jobs,
      pipeline: rarely({}, { id: 31, status: 'success' }, [], null, 7),
      jobs: rarely([], null),
      id: rarely(31, null),
      workflow: rarely({}, null),
      build_id: rarely(380, null),
      build_status: rarely('success', null),
    },
    { requiredKeys: ['object_attributes'] },
  )
}

/**
 * Returns whether jobs have the same id, kind and end. Of these the core takes the last one in the list, and the converter
 * the same one in any order.
 */
function hasAmbiguousEntries({ builds, bridges }: Body): boolean {
  const entries = [builds, bridges].flatMap((list, at) =>
    (Array.isArray(list) ? list : []).map((job) => {
      const { id, bridge, finished_at } = Object(job)
      return { id, isBridge: at === 1 || bridge === true, end: storedMs(parseDate(finished_at)) ?? 0 }
    }),
  )
  const ends = new Map<string, number[]>()
  for (const { id, isBridge, end } of entries) {
    const key = `${id} ${isBridge}`
    ends.set(key, [...(ends.get(key) ?? []), end])
  }
  return [...ends.values()].some((each) => new Set(each).size < each.length || (each.length > 1 && each.includes(0)))
}

test.each([
  ['of odd values', bodies(), 1_000],
  ['of all kinds of hooks', pipelineHooks() as fc.Arbitrary<Body>, 300],
])('core and converter accept, refuse and read the same: bodies %s', (_, arbitrary, numRuns) => {
  const counts = { accepted: 0, refused: 0 }
  fc.assert(
    fc.property(arbitrary, (body) => {
      const text = JSON.stringify(body)
      const draft = readByCore(text)
      const read = readByConverter(text)
      // The core stores hooks, not answers of the REST API.
      const record = read && readPayload(JSON.parse(text)).kind === 'pipeline hook' ? read : undefined
      counts[draft === undefined ? 'refused' : 'accepted'] += 1
      fc.pre(!hasAmbiguousEntries(body))
      expect(draft && comparableDraft(draft)).toEqual(record && comparableRecord(record))
    }),
    { numRuns },
  )
  expect(counts.accepted).toBeGreaterThan(numRuns / 5)
})

const run = { id: 31, status: 'success' }
const job = { id: 380, status: 'success' }
const hook = (more: Body, ofRun: Body = {}) => ({ object_attributes: { ...run, ...ofRun }, ...more })

/** Bodies that only the converter reads. */
test.each<[string, unknown]>([
  ['the database stores ids as numbers that are exact in JSON', hook({}, { id: '31' })],
  ['the same for ids of jobs', hook({ builds: [{ ...job, id: '380' }] })],
  ['a status is a column of limited length', hook({}, { status: 'x'.repeat(256) })],
  ['unreadable jobs would delete the jobs of an earlier record', hook({ builds: { 0: job } })],
  ['the rows of one record are limited', hook({ builds: Array(20_001).fill(job) })],
  ['the core stores hooks, not answers of the REST API', { pipeline: { ...run, project_id: 1 }, jobs: [] }],
])('the core refuses a body that the converter reads: %s', (_, body) => {
  const text = JSON.stringify(body)
  expect(readByCore(text)).toBeUndefined()
  expect(readByConverter(text)).toMatchObject({ status: expect.any(String) })
})

/** Values that only the converter reads. */
test.each<[string, Body, (draft: PipelineDraft) => unknown, (record: PipelineRecord) => unknown]>([
  ['ids in text', hook({}, { iid: '7' }), ({ iid }) => iid, ({ iid }) => iid],
  [
    'sizes in text',
    hook({ builds: [{ ...job, artifacts_file: { filename: 'a', size: '7' } }] }),
    ({ jobs }) => jobs[0]?.artifacts?.size,
    ({ jobs }) => jobs[0]?.artifacts?.size,
  ],
  [
    'the status object of the REST API',
    hook({}, { detailed_status: { label: 'passed' } }),
    ({ detailedStatus }) => detailedStatus,
    ({ detailedStatus }) => detailedStatus,
  ],
  [
    'the paused flag of a runner in the REST API',
    hook({ builds: [{ ...job, runner: { id: 1, paused: true } }] }),
    ({ jobs }) => jobs[0]?.runner?.isActive,
    ({ jobs }) => jobs[0]?.runner?.active,
  ],
  [
    'the archive among the artifacts of the REST API',
    hook({ builds: [{ ...job, artifacts: [{ file_type: 'archive', filename: 'a' }] }] }),
    ({ jobs }) => jobs[0]?.artifacts,
    ({ jobs }) => jobs[0]?.artifacts,
  ],
])('only the converter reads %s', (_, body, inCore, inConverter) => {
  const text = JSON.stringify(body)
  expect(inCore(readByCore(text)!)).toBeUndefined()
  expect(inConverter(readByConverter(text)!)).toBeDefined()
})

test('only the converter compares URLs of projects without .git and slashes at the end', () => {
  const text = JSON.stringify(
    hook({
      project: { web_url: 'https://ci.example.com/a/b' },
      source_pipeline: { pipeline_id: 30, project: { web_url: 'https://ci.example.com/a/b.git/' } },
    }),
  )
  expect(readByCore(text)?.upstream?.isOtherProject).toBe(true)
  expect(readByConverter(text)?.upstream?.otherProject).toBe(false)
})

const ended = { updated_at: '2026-02-03T04:05:06Z' }
test.each<[string, Body]>([
  [
    'a duration above 10^9 s says that the pipeline ended, so its last update is not its end',
    hook({}, { ...ended, duration: 2e9 }),
  ],
  ['a duration above 2^63 ns is left out', hook({}, { ...ended, duration: 1e10 })],
  ['a pipeline that names itself as its upstream', hook({ source_pipeline: { pipeline_id: 31 } })],
  ['the same with the id in digits', hook({ source_pipeline: { pipeline_id: '31' } })],
  ['an upstream with the ids in digits', hook({ source_pipeline: { pipeline_id: '30', job_id: '7' } })],
])('both readers agree on this: %s', (_, body) => {
  const text = JSON.stringify(body)
  const [draft, record] = [readByCore(text)!, readByConverter(text)!]
  expect(comparableDraft(draft)).toEqual(comparableRecord(record))
  expect(draft.passedOn?.rootPipelineId).toBe(record.rootPipelineId && Number(record.rootPipelineId))
})
