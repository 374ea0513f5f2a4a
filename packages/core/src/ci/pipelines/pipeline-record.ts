import { z } from 'zod'
import { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import { problem } from '../../base/kit/parse-input.ts'
import { hasOtherKind } from './other-kinds.ts'
import { passedOnMembers, toPassedOn } from './passed-on.ts'
import type { Job, PipelineDraft, RecordedVariable, Upstream } from './pipeline.ts'
import { mergeRequestIid } from './pipeline-merge-request.ts'
import { canonicalStatus, isComplete } from './pipeline-status.ts'
import {
  cleanText,
  count,
  flag,
  id,
  lenient,
  moment,
  replaceInvalid,
  seconds,
  someId,
  someIdOrDigits,
  storedSeconds,
  text,
  textsUpTo,
  textUpTo,
  unlessEmpty,
} from './record-fields.ts'

/** The limit of builds and bridges together. */
export const MAX_JOBS = 20_000
const MAX_MESSAGE_LENGTH = 10_000
const MAX_TAGS = 100
/** Variables beyond these limits are left out. */
const MAX_VARIABLES = 100
const MAX_VARIABLE_LENGTH = 10_000

const status = z
  .string()
  .max(255)
  .refine((word) => cleanText(word) !== undefined)
  .transform((word) => canonicalStatus(replaceInvalid(word)))

const user = lenient(z.object({ id: someId, username: text, name: text }))
const projectOf = lenient(z.object({ id: someId, pathWithNamespace: text, webUrl: text }))

const job = z.object({
  id,
  status,
  bridge: flag,
  name: text,
  stage: text,
  createdAt: moment,
  startedAt: moment,
  finishedAt: moment,
  duration: seconds,
  queuedDuration: seconds,
  failureReason: text,
  when: text,
  manual: flag,
  allowFailure: flag,
  retriesCount: count,
  user,
  runner: lenient(
    z.object({
      id: someId,
      description: text,
      runnerType: text,
      active: flag,
      isShared: flag,
      tags: textsUpTo(MAX_TAGS),
    }),
  ),
  artifactsFile: lenient(z.object({ filename: text, size: lenient(z.int().min(0)) })),
  environment: lenient(z.object({ name: text, action: text, deploymentTier: text })),
})
/** Rejects anything but a list: if it were read as no jobs, it would delete the jobs of earlier records. */
const jobs = z.preprocess((list) => list ?? undefined, z.array(job).max(MAX_JOBS).optional())

/** A variable is stored unchanged or not at all: a truncated value would be a wrong one. */
const variable = lenient(
  z.object({
    key: z.string().regex(/^\w{1,255}$/),
    value: z
      .string()
      .max(MAX_VARIABLE_LENGTH)
      .refine((value) => replaceInvalid(value) === value),
  }),
)

/** The stored parts of a pipeline hook. */
export const putRecordInput = z
  .object({
    project: namespaceRef,
    pipelineId: id,
    objectKind: z.preprocess(
      (kind) => (typeof kind === 'string' && kind.trim() !== '' ? kind : undefined),
      z.literal('pipeline').optional(),
    ),
    objectAttributes: z.object({
      id,
      status,
      iid: someId,
      name: text,
      detailedStatus: text,
      source: text,
      ref: text,
      tag: flag,
      sha: text,
      beforeSha: text,
      createdAt: moment,
      startedAt: moment,
      finishedAt: moment,
      duration: seconds,
      queuedDuration: seconds,
      variables: lenient(z.array(variable)),
      ...passedOnMembers.objectAttributes,
    }),
    mergeRequest: passedOnMembers.mergeRequest,
    user,
    /** The project as the sender names it. */
    hookProject: projectOf,
    commit: lenient(
      z.object({
        id: text,
        title: text,
        message: textUpTo(MAX_MESSAGE_LENGTH),
        timestamp: moment,
        author: lenient(z.object({ name: text })),
      }),
    ),
    sourcePipeline: lenient(
      z.object({
        pipelineId: someIdOrDigits,
        jobId: someIdOrDigits,
        bridgeId: someIdOrDigits,
        project: projectOf,
      }),
    ),
    builds: jobs,
    bridges: jobs,
    /** The complete hook as the received text. */
    payload: z.string(),
  })
  .superRefine(({ pipelineId, objectKind, objectAttributes, builds = [], bridges = [], payload }, context) => {
    if (objectKind === undefined && hasOtherKind(payload)) {
      context.addIssue(problem('invalid', { path: ['objectKind'] }))
    }
    if (objectAttributes.id !== pipelineId) {
      context.addIssue(problem('mismatch', { path: ['objectAttributes', 'id'] }))
    }
    if (builds.length + bridges.length > MAX_JOBS) context.addIssue(problem('invalid', { path: ['builds'] }))
  })

/** Returns the variables, which are not part of the draft because they may contain secrets. */
export const variablesOf = ({ objectAttributes }: PutRecord): RecordedVariable[] =>
  (objectAttributes.variables ?? []).filter((each) => each !== undefined).slice(0, MAX_VARIABLES)
export type PutRecord = z.output<typeof putRecordInput>
export type ProjectNames = z.output<typeof projectOf>

/**
 * Returns the pipeline of a record. The order of builds and bridges makes no difference.
 *
 * @param own the project in which the pipeline is recorded
 */
export function pipelineDraftOf(input: PutRecord, own: ProjectNames): PipelineDraft {
  const { objectAttributes: run, commit } = input
  const listed = jobsOf(input)
  const starts = listed.flatMap(({ startedAtMs }) => startedAtMs ?? [])
  return {
    id: run.id,
    iid: run.iid,
    name: run.name,
    status: run.status,
    detailedStatus: run.detailedStatus,
    source: run.source,
    ref: run.ref,
    isTag: run.tag,
    sha: run.sha,
    beforeSha: run.beforeSha,
    user: unlessEmpty(input.user),
    commit: unlessEmpty(
      commit && {
        id: commit.id,
        title: commit.title,
        message: commit.message,
        authorName: commit.author?.name,
        committedAtMs: commit.timestamp,
      },
    ),
    upstream: upstreamOf(input, own),
    mergeRequestIid: mergeRequestIid(run.ref, input.mergeRequest, input.hookProject?.id),
    createdAtMs: run.createdAt,
    startedAtMs: run.startedAt ?? (starts.length > 0 ? starts.reduce((a, b) => Math.min(a, b)) : undefined),
    finishedAtMs: run.finishedAt ?? lastUpdateAsEnd(input),
    durationSeconds: storedSeconds(run.duration),
    queuedSeconds: storedSeconds(run.queuedDuration),
    passedOn: toPassedOn(input),
    jobs: listed,
  }
}

/**
 * Returns the last update of a complete pipeline that ran, if neither a duration nor a job says when it ended. The converter
 * takes the same time as the end.
 */
function lastUpdateAsEnd({ objectAttributes: run, builds = [] }: PutRecord): number | undefined {
  const hasEnd = run.duration !== undefined || builds.some(({ finishedAt }) => finishedAt !== undefined)
  return hasEnd || !isComplete(run.status) || run.status === 'skipped' ? undefined : run.updatedAt
}

/** Returns the time that a record describes: the end of a complete pipeline, else the latest time in the record. */
export function asOf({ status: word, jobs: all, ...run }: PipelineDraft): number | undefined {
  if (isComplete(word) && run.finishedAtMs !== undefined) return run.finishedAtMs
  const times = [run, ...all].flatMap((each) => [each.createdAtMs, each.startedAtMs, each.finishedAtMs])
  return times.reduce((latest, time) => (time === undefined || time < (latest ?? 0) ? latest : time), undefined)
}

/**
 * Returns the jobs ordered by id. If several have the same id, a bridge is preferred, then the one with the later end,
 * then the one later in the list.
 */
function jobsOf({ builds = [], bridges = [] }: PutRecord): Job[] {
  const byId = new Map<number, Job>()
  for (const one of [...builds.map((build) => jobOf(build, false)), ...bridges.map((bridge) => jobOf(bridge, true))]) {
    const other = byId.get(one.id)
    if (other === undefined || takesPrecedence(one, other)) byId.set(one.id, one)
  }
  const ordered = [...byId.values()].toSorted((a, b) => a.id - b.id)
  const effective = new Map(ordered.map((each) => [attemptKey(each), each.id]))
  return ordered.map((each) => ({
    ...each,
    isRetried: each.name !== undefined && effective.get(attemptKey(each)) !== each.id,
  }))
}

const attemptKey = ({ isBridge, stage, name }: Job): string => JSON.stringify([isBridge, stage, name])

function takesPrecedence(one: Job, other: Job): boolean {
  if (one.isBridge !== other.isBridge) return one.isBridge
  return (one.finishedAtMs ?? 0) >= (other.finishedAtMs ?? 0)
}

function jobOf(input: z.output<typeof job>, isListedAsBridge: boolean): Job {
  const { runner } = input
  return {
    id: input.id,
    isBridge: isListedAsBridge || input.bridge === true,
    isRetried: false,
    name: input.name,
    stage: input.stage,
    status: input.status,
    // Some sources set it for any status.
    failureReason: input.status === 'failed' ? input.failureReason : undefined,
    when: input.when,
    isManual: input.manual,
    allowFailure: input.allowFailure ?? false,
    createdAtMs: input.createdAt,
    startedAtMs: input.startedAt,
    finishedAtMs: input.finishedAt,
    durationSeconds: storedSeconds(input.duration),
    queuedSeconds: storedSeconds(input.queuedDuration),
    retriesCount: input.retriesCount,
    user: unlessEmpty(input.user),
    // Some relays send an empty object if there is no runner: `{ id: 0, description: "" }`.
    runner:
      (runner?.id ?? runner?.description) === undefined
        ? undefined
        : runner && {
            id: runner.id,
            description: runner.description,
            type: runner.runnerType,
            isActive: runner.active,
            isShared: runner.isShared,
            tags: runner.tags ?? [],
          },
    artifacts: artifactsOf(input.artifactsFile),
    environment: unlessEmpty(input.environment),
  }
}

/** Returns the artifacts. Without a name there are none: some versions of GitLab report a size for such a job. */
const artifactsOf = (file: z.output<typeof job>['artifactsFile']): Job['artifacts'] =>
  file?.filename === undefined ? undefined : file

/** The names of the upstream pipeline's project, as the record has them. */
export interface UpstreamNames {
  readonly upstreamProject: ProjectNames
  readonly hookProject: ProjectNames
  readonly source: string | undefined
}

export const upstreamNamesOf = ({ sourcePipeline, hookProject, objectAttributes }: PutRecord): UpstreamNames => ({
  upstreamProject: sourcePipeline?.project,
  hookProject,
  source: objectAttributes.source,
})

/**
 * Returns whether the upstream pipeline belongs to another project. It belongs to the same project if it has the names
 * of the record's project, or of the project in which the record is stored.
 */
export const isUpstreamElsewhere = (
  { upstreamProject, hookProject, source }: UpstreamNames,
  own: ProjectNames,
): boolean =>
  areDifferent(upstreamProject, hookProject) !== false && (areDifferent(upstreamProject, own) ?? source === 'pipeline')

function upstreamOf(input: PutRecord, own: ProjectNames): Upstream | undefined {
  const { pipelineId, sourcePipeline: from } = input
  if (from?.pipelineId === undefined || from.pipelineId === pipelineId) return undefined
  return {
    pipelineId: from.pipelineId,
    jobId: from.bridgeId ?? from.jobId,
    isOtherProject: isUpstreamElsewhere(upstreamNamesOf(input), own),
    projectPath: from.project?.pathWithNamespace,
    projectId: from.project?.id,
    projectUrl: from.project?.webUrl,
  }
}

const areDifferent = (one: ProjectNames, other: ProjectNames): boolean | undefined =>
  differ(one?.id, other?.id) ??
  differ(one?.pathWithNamespace, other?.pathWithNamespace) ??
  differ(one?.webUrl, other?.webUrl)

const differ = <Value>(one: Value | undefined, other: Value | undefined): boolean | undefined =>
  one === undefined || other === undefined ? undefined : one !== other
