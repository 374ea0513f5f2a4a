import { z } from 'zod'
import { requirePermission } from '../../base/access/subject.ts'
import { DomainError, invalid, notFound } from '../../base/kit/domain-error.ts'
import { errorTexts } from '../../base/kit/error-texts.ts'
import { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import type { Project } from '../../base/model/project.ts'
import type { OperationContext, Tx } from '../../base/operations/context.ts'
import { steps } from '../../base/operations/operation.ts'
import { changesBetween, comparedMembers } from '../../base/operations/record-change.ts'
import { requireCommitter, revision } from '../../code/repositories/commit-operations.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import type { CommitStatus } from './commit-status-operations.ts'
import type { Job, Pipeline, RecordedUser } from './pipeline.ts'
import { insertPipeline, updatePipeline } from './pipeline-store.ts'
import { type CommitTarget, commitToPostTo } from './posted-commit.ts'
import { hookOfPosted } from './posted-pipeline-hook.ts'
import {
  jobInState,
  openStates,
  POSTED_STAGE,
  type PostedState,
  postedStates,
  progressOf,
  requireTransition,
} from './posted-status.ts'
import {
  claimPostedId,
  findPipelineOfStatus,
  hasRecordedJob,
  insertStatus,
  markPosted,
  type PipelineOfStatus,
  postedStatuses,
  type StatusKey,
  type StoredStatus,
  updateStatus,
} from './posted-status-store.ts'
import type { PipelineHead } from './prepared-record.ts'
import { chargeRecord } from './record-size-store.ts'

const MAX_LENGTH = 255
const MAX_STATUSES = 1_000
const DEFAULT_NAME = 'default'
const text = z.string().max(1_024).nullish()

const postStatusInput = z.object({
  project: namespaceRef,
  sha: revision,
  state: z.enum(postedStates),
  ref: text,
  name: text,
  /** Another name of `name`. */
  context: text,
  targetUrl: z.string().max(10_000).nullish(),
  description: z.string().max(10_000).nullish(),
  coverage: z.number().nullish(),
  pipelineId: z.int().nullish(),
})
type StatusInput = z.output<typeof postStatusInput>

/**
 * Posts the status of a commit. It belongs to a pipeline of the commit; if there is none, one is created. A status that is
 * pending or running changes; one that is finished is superseded by a new one.
 */
export const postCommitStatus = steps(
  {
    name: 'postCommitStatus',
    input: postStatusInput,
    subject: (context, { project }) => getProject(context, project),
    permission: 'create_pipeline_record',
  },
  async (context, input): Promise<CommitStatus> => {
    validateStatus(input)
    const { id, name } = await requireCommitter(context)
    const poster = { id, username: context.actor!.username, name }
    const target = await commitToPostTo(context, context.subject, input)
    return context.write(async (tx) => {
      const project = await getProject(tx, context.subject.id)
      await requirePermission(tx, project, 'create_pipeline_record')
      return post(tx, project, { ...input, poster }, target)
    })
  },
)

function validateStatus({ name, context, targetUrl, description }: StatusInput): void {
  const errors: Record<string, string[]> = {}
  const tooLong = (value: string | null | undefined) => (value ?? '').length > MAX_LENGTH
  if (tooLong(name || context)) errors.name = [errorTexts.tooLong(MAX_LENGTH)]
  if (tooLong(description)) errors.description = [errorTexts.tooLong(MAX_LENGTH)]
  if (tooLong(targetUrl)) errors.targetUrl = [errorTexts.tooLong(MAX_LENGTH)]
  else if (targetUrl && !/^https?:\/\//i.test(targetUrl))
    errors.targetUrl = ['is blocked: Only allowed schemes are http, https']
  else if (targetUrl && !URL.canParse(targetUrl)) errors.targetUrl = ['is blocked: URI is invalid']
  if (Object.keys(errors).length > 0) throw invalid(errors)
}

type Poster = RecordedUser & { readonly id: number }

const comparedStatus = comparedMembers<{ readonly status: string }>()('status')

async function post(
  tx: OperationContext & Tx,
  project: Project,
  { poster, ...input }: StatusInput & { readonly poster: Poster },
  target: CommitTarget,
): Promise<CommitStatus> {
  const key: StatusKey = {
    sha: target.sha,
    ref: input.ref || undefined,
    pipelineId: input.pipelineId ?? undefined,
    name: input.name || input.context || DEFAULT_NAME,
    userId: poster.id,
  }
  const found = await findPipelineOfStatus(tx, project, key)
  if (found === undefined && key.pipelineId !== undefined) throw notFound('Pipeline for pipeline_id, sha and ref')
  if (found === undefined && target.commit === undefined) throw notFound('Commit')
  if (found !== undefined && (await hasRecordedJob(tx, found.pipeline.key, key.name)))
    throw invalid({ name: ['has already been taken'] })
  const statuses = found === undefined ? [] : await postedStatuses(tx, found.pipeline.key)
  const former = statuses.find(({ job }) => isOpen(job) && job.name === key.name && job.user?.id === poster.id)
  const job = await nextJob(tx, project, former?.job, { ...input, name: key.name, poster })
  const superseded = statuses.filter((each) => each !== former && each.job.name === key.name && !each.job.isRetried)
  if (former === undefined && statuses.length >= MAX_STATUSES)
    throw new DomainError({ code: 'refused', message: `A pipeline can have at most ${MAX_STATUSES} posted statuses` })

  const jobs = [
    ...statuses.map((each) => {
      if (each === former) return job
      return superseded.includes(each) ? { ...each.job, isRetried: true } : each.job
    }),
    ...(former === undefined ? [job] : []),
  ]
  const { pipeline, payload, formerStatus } = await pipelineWith(tx, project, found, { ...target, poster }, jobs)
  for (const { rowId, job: old } of superseded)
    await updateStatus(tx, rowId, withoutNumber({ ...old, isRetried: true }))
  if (former === undefined) await insertStatus(tx, pipeline, job)
  else await updateStatus(tx, former.rowId, job)
  await chargeRecord(tx, pipeline)
  await recordStatus(tx, pipeline, { job, former, formerStatus, isNew: found === undefined, payload })
  return { ...job, globalNumber: job.id, pipeline, sha: target.sha }
}

const isOpen = ({ status, isRetried }: Job): boolean => !isRetried && (openStates as readonly string[]).includes(status)

const withoutNumber = <Some extends Job>({ globalNumber: _, ...job }: Some & { globalNumber?: number }): Job => job

/** Returns the former status with the new state, or a new one. @throws DomainError `refused` */
async function nextJob(
  tx: OperationContext & Tx,
  project: Project,
  former: Job | undefined,
  {
    state,
    name,
    targetUrl,
    description,
    coverage,
    poster,
  }: StatusInput & { readonly name: string; readonly poster: Poster },
): Promise<Job> {
  if (former !== undefined) requireTransition(former.status, state)
  const base: Job =
    former === undefined
      ? {
          ...noDetails,
          id: await claimPostedId(tx, 'job_numbers', project.id),
          name,
          user: poster,
        }
      : withoutNumber(former)
  const posted = {
    targetUrl: targetUrl === undefined ? base.posted?.targetUrl : targetUrl || undefined,
    description: description === undefined ? base.posted?.description : description || undefined,
    coverage: coverage === undefined ? base.posted?.coverage : (coverage ?? undefined),
  }
  return jobInState({ ...base, posted }, state satisfies PostedState, tx.nowMs)
}

/** A job about which nothing is known yet. */
const noDetails = {
  isBridge: false,
  isRetried: false,
  stage: POSTED_STAGE,
  status: 'created',
  failureReason: undefined,
  when: undefined,
  isManual: undefined,
  allowFailure: false,
  createdAtMs: undefined,
  startedAtMs: undefined,
  finishedAtMs: undefined,
  durationSeconds: undefined,
  queuedSeconds: undefined,
  runner: undefined,
  artifacts: undefined,
  environment: undefined,
}

interface ChangedPipeline {
  readonly pipeline: Pipeline
  readonly formerStatus: string | undefined
  /** The hook from which the pipeline is exported; a recorded pipeline is exported from its record only. */
  readonly payload: string | undefined
}

/** Creates the pipeline, or gives it the status that follows from its jobs. That of a recorded pipeline stays as it is. */
async function pipelineWith(
  tx: OperationContext & Tx,
  project: Project,
  found: PipelineOfStatus | undefined,
  { sha, commit, ref, isTag, poster }: CommitTarget & { readonly poster: Poster },
  jobs: readonly Job[],
): Promise<ChangedPipeline> {
  if (found !== undefined && !found.isPosted) {
    return { pipeline: found.pipeline, formerStatus: found.pipeline.status, payload: undefined }
  }
  const createdAtMs = found?.pipeline.createdAtMs ?? tx.nowMs
  const progress = progressOf(jobs, createdAtMs)
  const version = { status: progress.status, asOfMs: tx.nowMs, digest: 'posted' }
  if (found !== undefined) {
    const head: PipelineHead = { ...found.pipeline, ...progress }
    const pipeline = await updatePipeline(tx, project, found.pipeline.key, head, version)
    return { pipeline, formerStatus: found.pipeline.status, payload: hookOfPosted(head, jobs) }
  }
  if (ref === undefined) throw notFound('References for commit')
  const head: PipelineHead = {
    id: await claimPostedId(tx, 'pipeline_numbers', project.id),
    iid: undefined,
    name: undefined,
    detailedStatus: undefined,
    source: POSTED_STAGE,
    ref,
    isTag,
    sha,
    beforeSha: undefined,
    user: poster,
    commit,
    upstream: undefined,
    mergeRequestIid: undefined,
    createdAtMs,
    ...progress,
  }
  const pipeline = await insertPipeline(tx, project, head, version)
  await markPosted(tx, pipeline.key)
  return { pipeline, formerStatus: undefined, payload: hookOfPosted(head, jobs) }
}

async function recordStatus(
  tx: OperationContext & Tx,
  pipeline: Pipeline,
  {
    job,
    former,
    formerStatus,
    isNew,
    payload,
  }: {
    readonly job: Job
    readonly former: StoredStatus | undefined
    readonly formerStatus: string | undefined
    readonly isNew: boolean
    readonly payload: string | undefined
  },
): Promise<void> {
  await tx.recordEvent({
    type: isNew ? 'pipeline.created' : 'pipeline.updated',
    objectId: pipeline.key,
    projectId: pipeline.projectId,
    details: { pipelineId: pipeline.id, status: pipeline.status, formerStatus },
    changes: {
      ...changesBetween(comparedStatus, formerStatus === undefined ? undefined : { status: formerStatus }, pipeline),
      jobStatuses: {
        previous: former === undefined ? {} : { [job.id]: former.job.status },
        current: { [job.id]: job.status },
      },
    },
    ...(payload !== undefined && { payload }),
  })
}
