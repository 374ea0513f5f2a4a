import {
  type JobRecord,
  type PipelineRecord,
  parseLossless,
  RecordError,
  readInput,
  readPayload,
  readPipelineHook,
} from '@penstock/forges'
import { pipelineHooks } from '@penstock/testkit'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DomainError } from '../../base/kit/domain-error.ts'
import { parseInput } from '../../base/kit/parse-input.ts'
import type { PipelineDraft } from './pipeline.ts'
import { toPipelineDraft } from './pipeline-record.ts'
import { preparedRecordInput } from './prepared-record.ts'
import { oddHooks } from './stored-hook.harness.ts'

// What is stored of a pipeline hook is what is exported of it, so that a trace shows what the API shows. The differences on purpose
// are the commented lines of `toComparable…` below, and the tables at the end.

type Body = Readonly<Record<string, unknown>>

/** Returns what is stored of a body; `undefined` if it is refused. The path of the request names the pipeline of the body. */
function toDraft(text: string): PipelineDraft | undefined {
  const { project, ...body } = withInputNames(JSON.parse(text)) as Body
  const { id } = Object(body.objectAttributes)
  try {
    parseInput(preparedRecordInput, { ...body, hookProject: project, project: 1, pipelineId: id, payload: text })
    return toPipelineDraft(readPipelineHook(parseLossless(text)))
  } catch (error) {
    if (error instanceof DomainError) return undefined
    throw error
  }
}

/** Returns what is exported of a body; `undefined` if it is refused. */
function toRecord(text: string): PipelineRecord | undefined {
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

/** Returns the members of a draft that are exported too. */
function toComparableDraft({ commit, passedOn, mergeRequestIid: _, startedAtMs: __, jobs, ...draft }: PipelineDraft) {
  return {
    ...draft,
    // The record leaves out a SHA of zeros, which means that there is no earlier commit.
    beforeSha: /^0+$/.test(draft.beforeSha ?? '') ? undefined : draft.beforeSha,
    // The names of users, and the author and time of a commit, are not exported.
    user: unlessEmpty({ id: draft.user?.id, username: draft.user?.username }),
    commit: unlessEmpty({ id: commit?.id, title: commit?.title, message: commit?.message }),
    rootPipelineId: passedOn?.rootPipelineId,
    jobs: jobs.map(({ retriesCount: _, user, ...job }) => ({
      ...job,
      user: unlessEmpty({ id: user?.id, username: user?.username }),
    })),
  }
}

/** Returns the same members of a record. */
const toComparableRecord = (record: PipelineRecord): ReturnType<typeof toComparableDraft> => ({
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
  user: record.user && toUser(record.user),
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
    projectUrl: storedText(record.upstream.projectWebUrl),
  },
  createdAtMs: storedMs(record.createdAtNs),
  finishedAtMs: storedMs(record.finishedAtNs),
  durationSeconds: storedSeconds(record.durationSeconds),
  queuedSeconds: storedSeconds(record.queuedSeconds),
  rootPipelineId: stored(record.rootPipelineId),
  // Jobs are stored by id, and exported by creation.
  jobs: record.jobs.toSorted((a, b) => Number(a.id) - Number(b.id)).map(toComparableJob),
})

const toComparableJob = (job: JobRecord) => ({
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
  user: job.user && toUser(job.user),
  runner: job.runner && {
    id: stored(job.runner.id),
    description: storedText(job.runner.description),
    type: storedText(job.runner.type),
    isActive: job.runner.active,
    isShared: job.runner.isShared,
    // 100 tags are stored.
    tags: job.runner.tags.slice(0, 100).map((tag) => storedText(tag)!),
  },
  artifacts: job.artifacts && { filename: storedText(job.artifacts.filename), size: stored(job.artifacts.size) },
  environment: job.environment && {
    name: storedText(job.environment.name),
    action: storedText(job.environment.action),
    deploymentTier: storedText(job.environment.deploymentTier),
  },
})

const toUser = ({ id, username }: NonNullable<PipelineRecord['user']>) => ({
  id: stored(id),
  username: storedText(username),
})

const stored = (integer: bigint | string | undefined) => (integer === undefined ? undefined : Number(integer))

/** Stored texts are truncated, and characters that no database can store are replaced. */
const storedText = (text: string | undefined, maxLength = 1_024): string | undefined =>
  text?.slice(0, maxLength).replaceAll(/[\0\p{Surrogate}]/gu, '\ufffd')

/** Durations of up to 10^9 seconds are stored, and up to 2^63 nanoseconds are exported. */
const storedSeconds = (seconds: number | undefined) => (seconds !== undefined && seconds <= 1e9 ? seconds : undefined)

/** Milliseconds are stored, and nanoseconds exported. */
const storedMs = (ns: bigint | undefined) => (ns === undefined || ns < 1_000_000n ? undefined : Number(ns / 1_000_000n))

const unlessEmpty = <Section extends object>(section: Section): Section | undefined =>
  Object.values(section).some((member) => member !== undefined) ? section : undefined

test.each([
  ['of odd values', oddHooks(), 1_000],
  ['of all kinds of hooks', pipelineHooks() as fc.Arbitrary<Body>, 300],
])('the same bodies are stored and exported, with the same values: bodies %s', (_, arbitrary, numRuns) => {
  const counts = { accepted: 0, refused: 0 }
  fc.assert(
    fc.property(arbitrary, (body) => {
      const text = JSON.stringify(body)
      const draft = toDraft(text)
      const read = toRecord(text)
      // Hooks are stored, but no answers of the REST API.
      const record = read && readPayload(JSON.parse(text)).kind === 'pipeline hook' ? read : undefined
      counts[draft === undefined ? 'refused' : 'accepted'] += 1
      expect(draft && toComparableDraft(draft)).toEqual(record && toComparableRecord(record))
    }),
    { numRuns },
  )
  expect(counts.accepted).toBeGreaterThan(numRuns / 5)
})

const run = { id: 31, status: 'success' }
const job = { id: 380, status: 'success' }
const hook = (more: Body, ofRun: Body = {}) => ({ object_attributes: { ...run, ...ofRun }, ...more })

/** Bodies that are only exported. */
test.each<[string, unknown]>([
  ['ids are stored as numbers that are exact in JSON', hook({}, { id: '31' })],
  ['the same for ids of jobs', hook({ builds: [{ ...job, id: '380' }] })],
  ['a status is a column of limited length', hook({}, { status: 'x'.repeat(256) })],
  ['unreadable jobs would delete the jobs of an earlier record', hook({ builds: { 0: job } })],
  ['the rows of one record are limited', hook({ builds: Array(20_001).fill(job) })],
  ['hooks are stored, but no answers of the REST API', { pipeline: { ...run, project_id: 1 }, jobs: [] }],
  ['nor answers that have members of hooks', { object_attributes: { id: 31 }, pipeline: run, jobs: [] }],
])('a body is refused that can be exported: %s', (_, body) => {
  const text = JSON.stringify(body)
  expect(toDraft(text)).toBeUndefined()
  expect(toRecord(text)).toMatchObject({ status: expect.any(String) })
})

const sameProject = {
  project: { web_url: 'https://ci.example.com/a/b' },
  source_pipeline: { pipeline_id: 30, project: { web_url: 'https://ci.example.com/a/b.git/' } },
}
test.each<[string, Body, object]>([
  ['ids in text', hook({}, { iid: '7' }), { iid: 7 }],
  [
    'sizes in text',
    hook({ builds: [{ ...job, artifacts_file: { filename: 'a', size: '7' } }] }),
    { jobs: [{ artifacts: { size: 7 } }] },
  ],
  ['an id above 2^53 of something else as absent', hook({}, { iid: '9007199254740993' }), { iid: undefined }],
  [
    'the status object of the REST API',
    hook({}, { detailed_status: { label: 'passed' } }),
    { detailedStatus: 'passed' },
  ],
  [
    'the paused flag of a runner in the REST API',
    hook({ builds: [{ ...job, runner: { id: 1, paused: true } }] }),
    { jobs: [{ runner: { isActive: false } }] },
  ],
  [
    'the archive among the artifacts of the REST API',
    hook({ builds: [{ ...job, artifacts: [{ file_type: 'archive', filename: 'a' }] }] }),
    { jobs: [{ artifacts: { filename: 'a' } }] },
  ],
  ['a full ref of a tag', hook({}, { ref: 'refs/tags/v1' }), { isTag: true }],
  ['URLs of projects without .git and slashes at the end', hook(sameProject), { upstream: { isOtherProject: false } }],
])('reads %s', (_, body, expected) => {
  const text = JSON.stringify(body)
  expect(toDraft(text)).toMatchObject(expected)
})

test('stores what is not exported', () => {
  const mergeRequest = {
    ...{ id: 70, iid: 7, title: 'Sow', source_branch: 'sow', source_project_id: 8, target_branch: 'main' },
    ...{ target_project_id: 9, state: 'opened', merge_status: 'unchecked', detailed_merge_status: 'draft_status' },
    ...{ draft: true, work_in_progress: true, url: 'https://ci.example.com/a/b/-/merge_requests/7' },
  }
  const ada = { id: 5, name: 'Ada', username: 'ada' }
  const body = hook(
    {
      user: ada,
      commit: { id: 'f', author: { name: 'Bo', email: 'bo@example.com' }, timestamp: '2026-02-03T04:05:06Z' },
      merge_request: mergeRequest,
      builds: [{ ...job, user: ada, retries_count: 2 }],
    },
    {
      before_sha: '0'.repeat(40),
      started_at: '2026-02-03T04:05:07Z',
      url: 'https://ada:key@ci.example.com/a/b/-/pipelines/31',
    },
  )
  const draft = toDraft(JSON.stringify(body))
  expect(draft).toMatchObject({
    beforeSha: '0'.repeat(40),
    startedAtMs: Date.UTC(2026, 1, 3, 4, 5, 7),
    user: ada,
    commit: { authorName: 'Bo', committedAtMs: Date.UTC(2026, 1, 3, 4, 5, 6) },
    mergeRequestIid: 7,
    passedOn: { url: 'https://ci.example.com/a/b/-/pipelines/31', mergeRequest: withInputNames(mergeRequest) },
    jobs: [{ user: ada, retriesCount: 2 }],
  })
  expect(JSON.stringify(draft)).not.toContain('bo@example.com')
})

const ended = { updated_at: '2026-02-03T04:05:06Z' }
const upstream = (from: Body) => hook({ source_pipeline: from })
test.each<[string, Body, object]>([
  [
    'a duration above 10^9 s says that the pipeline ended, so its last update is not its end',
    hook({}, { ...ended, duration: 2e9 }),
    { finishedAtMs: undefined, durationSeconds: undefined },
  ],
  [
    'a duration above 2^63 ns is left out',
    hook({}, { ...ended, duration: 1e10 }),
    { finishedAtMs: Date.UTC(2026, 1, 3, 4, 5, 6) },
  ],
  [
    'a pipeline that names itself as its upstream is its own root',
    upstream({ pipeline_id: 31 }),
    { upstream: undefined, passedOn: { rootPipelineId: 31 } },
  ],
  ['the same with the id in digits', upstream({ pipeline_id: '31' }), { passedOn: { rootPipelineId: 31 } }],
  [
    'an upstream with the ids in digits',
    upstream({ pipeline_id: '30', job_id: '7' }),
    { upstream: { pipelineId: 30, jobId: 7 } },
  ],
])('reads edge cases: %s', (_, body, expected) => {
  const text = JSON.stringify(body)
  expect(toDraft(text)).toMatchObject(expected)
  expect(toComparableDraft(toDraft(text)!)).toEqual(toComparableRecord(toRecord(text)!))
})
