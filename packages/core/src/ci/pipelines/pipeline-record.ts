import {
  type JobDetails,
  type JobRecord,
  type PipelineDetails,
  type PipelineRecord,
  parseLossless,
  RecordError,
  readPipelineHook,
  type UserRecord,
} from '@penstock/forges'
import { z } from 'zod'
import { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import { problem } from '../../base/kit/parse-input.ts'
import { toPassedOn } from './passed-on.ts'
import type { Job, PipelineDraft, RecordedUser, RecordedVariable } from './pipeline.ts'
import { mergeRequestIid } from './pipeline-merge-request.ts'
import { isComplete } from './pipeline-status.ts'
import {
  replaceInvalid,
  storedInteger,
  storedMs,
  storedSeconds,
  storedText,
  storedTexts,
  unlessEmpty,
} from './stored-values.ts'

/** The limit of builds and bridges together. */
export const MAX_JOBS = 20_000
const MAX_MESSAGE_LENGTH = 10_000
const MAX_TAGS = 100
/** Variables beyond these limits are left out. */
const MAX_VARIABLES = 100
const MAX_VARIABLE_LENGTH = 10_000

const id = z.int().min(1)
const status = z
  .string()
  .max(255)
  .refine((word) => /[^\s\0]/.test(word))
/** Rejects anything but a list: if it were read as no jobs, it would delete the jobs of earlier records. */
const jobs = z.preprocess((list) => list ?? undefined, z.array(z.object({ id, status })).max(MAX_JOBS).optional())
/** A part of the hook that is read from its text; its unusable values are ignored. */
const part = z.unknown().optional()

/** A pipeline hook: the fields that must be valid, and the text that is read. */
export const putRecordInput = z
  .object({
    project: namespaceRef,
    pipelineId: id,
    objectKind: z.preprocess(
      (kind) => (typeof kind === 'string' && kind.trim() !== '' ? kind : undefined),
      z.literal('pipeline').optional(),
    ),
    objectAttributes: z.object({ id, status }),
    mergeRequest: part,
    user: part,
    /** The project as the sender names it. */
    hookProject: part,
    commit: part,
    sourcePipeline: part,
    builds: jobs,
    bridges: jobs,
    /** The complete hook as the received text. */
    payload: z.string(),
  })
  .superRefine(({ pipelineId, objectAttributes, builds = [], bridges = [] }, context) => {
    if (objectAttributes.id !== pipelineId) {
      context.addIssue(problem('mismatch', { path: ['objectAttributes', 'id'] }))
    }
    if (builds.length + bridges.length > MAX_JOBS) context.addIssue(problem('invalid', { path: ['builds'] }))
  })

export type PutRecord = z.output<typeof putRecordInput>

/** The contents of a pipeline hook, as the reader of the forge returns them. */
export type PipelineHook = ReturnType<typeof readPipelineHook>

/**
 * Reads the text of a hook. A body without `object_kind` may also have the form of another kind of record, which is a problem.
 *
 * @returns `undefined` with an issue in `context`
 */
export function readHook({ payload }: PutRecord, context: z.RefinementCtx): PipelineHook | undefined {
  try {
    return readPipelineHook(parseLossless(payload))
  } catch (error) {
    if (!(error instanceof RecordError)) throw error
    context.addIssue(problem('invalid', { path: ['objectKind'] }))
    return undefined
  }
}

const isStorable = ({ key, value }: RecordedVariable): boolean =>
  /^\w{1,255}$/.test(key) && value.length <= MAX_VARIABLE_LENGTH && replaceInvalid(value) === value

/**
 * Returns the variables, which are not part of the draft because they may contain secrets. A variable is stored unchanged or not at
 * all: a truncated value would be a wrong one.
 */
export const storedVariables = ({ variables }: PipelineDetails): RecordedVariable[] =>
  variables.filter(isStorable).slice(0, MAX_VARIABLES)

/** Returns the pipeline to store. The record contains whether its upstream pipeline belongs to another project. */
export function toPipelineDraft({ record, details }: PipelineHook): PipelineDraft {
  const { commit } = record
  const ref = storedText(record.ref)
  const passedOn = toPassedOn(record, details)
  const listed = record.jobs.map((job) => toJob(job, details.jobs.get(job.id))).toSorted((a, b) => a.id - b.id)
  const starts = listed.flatMap(({ startedAtMs }) => startedAtMs ?? [])
  return {
    id: Number(record.id),
    iid: storedInteger(record.iid),
    name: storedText(record.name),
    status: replaceInvalid(record.status),
    detailedStatus: storedText(record.detailedStatus),
    source: storedText(record.source),
    ref,
    isTag: record.tag,
    sha: storedText(record.sha),
    beforeSha: storedText(details.beforeSha),
    user: toUser(record.user, details.userName),
    commit: unlessEmpty({
      id: storedText(commit?.id),
      title: storedText(commit?.title),
      message: storedText(commit?.message, MAX_MESSAGE_LENGTH),
      authorName: storedText(details.authorName),
      committedAtMs: storedMs(details.committedAtNs),
    }),
    upstream: toUpstream(record),
    mergeRequestIid: mergeRequestIid(ref, passedOn.mergeRequest, storedInteger(record.project.id)),
    createdAtMs: storedMs(record.createdAtNs),
    startedAtMs:
      storedMs(details.startedAtNs) ?? (starts.length > 0 ? starts.reduce((a, b) => Math.min(a, b)) : undefined),
    finishedAtMs: storedMs(record.finishedAtNs),
    durationSeconds: storedSeconds(record.durationSeconds),
    queuedSeconds: storedSeconds(record.queuedSeconds),
    passedOn,
    jobs: listed,
  }
}

/** Returns the time that a record describes: the end of a complete pipeline, else the latest time in the record. */
export function asOf({ status: word, jobs: all, ...run }: PipelineDraft): number | undefined {
  if (isComplete(word) && run.finishedAtMs !== undefined) return run.finishedAtMs
  const times = [run, ...all].flatMap((each) => [each.createdAtMs, each.startedAtMs, each.finishedAtMs])
  return times.reduce((latest, time) => (time === undefined || time < (latest ?? 0) ? latest : time), undefined)
}

function toJob(job: JobRecord, details: JobDetails | undefined): Job {
  const { runner, artifacts, environment } = job
  return {
    id: Number(job.id),
    isBridge: job.bridge,
    isRetried: !job.effective,
    name: storedText(job.name),
    stage: storedText(job.stage),
    status: replaceInvalid(job.status),
    failureReason: storedText(job.failureReason),
    when: storedText(job.when),
    isManual: job.manual,
    allowFailure: job.allowFailure,
    createdAtMs: storedMs(job.createdAtNs),
    startedAtMs: storedMs(job.startedAtNs),
    finishedAtMs: storedMs(job.finishedAtNs),
    durationSeconds: storedSeconds(job.durationSeconds),
    queuedSeconds: storedSeconds(job.queuedSeconds),
    retriesCount: details?.retriesCount,
    user: toUser(job.user, details?.userName),
    runner: runner && {
      id: storedInteger(runner.id),
      description: storedText(runner.description),
      type: storedText(runner.type),
      isActive: runner.active,
      isShared: runner.isShared,
      tags: storedTexts(runner.tags, MAX_TAGS),
    },
    artifacts: artifacts && { filename: storedText(artifacts.filename), size: storedInteger(artifacts.size) },
    environment: environment && {
      name: storedText(environment.name),
      action: storedText(environment.action),
      deploymentTier: storedText(environment.deploymentTier),
    },
  }
}

const toUser = (user: UserRecord | undefined, name: string | undefined): RecordedUser | undefined =>
  unlessEmpty({ id: storedInteger(user?.id), username: storedText(user?.username), name: storedText(name) })

function toUpstream({ upstream }: PipelineRecord): PipelineDraft['upstream'] {
  const pipelineId = storedInteger(upstream?.pipelineId)
  if (upstream === undefined || pipelineId === undefined) return undefined
  return {
    pipelineId,
    jobId: storedInteger(upstream.bridgeId),
    isOtherProject: upstream.otherProject,
    projectPath: storedText(upstream.projectPath),
    projectId: storedInteger(upstream.projectId),
    projectUrl: storedText(upstream.projectWebUrl),
  }
}
