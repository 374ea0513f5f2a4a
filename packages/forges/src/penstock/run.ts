import { type Fields, refuse } from '../body/fields.ts'
import { canonicalStatus } from '../gitlab/status-words.ts'
import { absentJobFields, absentRunFields, absentRunnerFields } from '../record/absent-fields.ts'
import { sortJobs, withReplacedAttempts } from '../record/arrange-jobs.ts'
import type {
  EnvironmentRecord,
  JobRecord,
  MergeRequestRecord,
  PipelineRecord,
  UpstreamPipeline,
} from '../record/pipeline-record.ts'
import type { RunId } from '../record/run-id.ts'
import { type MemberValues, readMembers } from './members.ts'
import { RECORD_VERSION, recordMembers } from './record-members.ts'

type GivenRecord = MemberValues<typeof recordMembers>
type GivenJob = NonNullable<GivenRecord['jobs']>[number]

/** Reads a record of our own format. */
export function readPenstockRecord(body: Fields, receivedAtNs: bigint | undefined): PipelineRecord {
  const { penstockRecord, run, project, change, parent, commit, jobs, user, previousAttempt } = readMembers(
    body,
    recordMembers,
  )
  if (penstockRecord !== RECORD_VERSION) refuse(body, 'penstockRecord', `must be ${RECORD_VERSION}`)
  requireKnownIds(body, jobs ?? [])
  const status = canonicalStatus(run.status)
  return {
    ...absentRunFields,
    forge: 'penstock',
    id: run.id,
    attempt: run.attempt,
    previousAttempt,
    iid: run.number,
    name: run.name,
    status,
    ref: run.ref,
    tag: run.tag,
    sha: run.sha,
    beforeSha: run.beforeSha,
    source: run.trigger,
    stages: run.stages,
    createdAtNs: run.createdAt,
    startedAtNs: run.startedAt,
    updatedAtNs: run.updatedAt,
    finishedAtNs: run.finishedAt,
    durationSeconds: run.durationSeconds,
    queuedSeconds: run.queuedSeconds,
    url: run.url,
    failureReason: status === 'failed' ? run.failureReason : undefined,
    coverage: run.coverage,
    upstream: parent && toUpstream(parent),
    mergeRequest: change && toMergeRequest(change),
    user,
    commit,
    project: {
      id: project?.id,
      name: project?.name,
      webUrl: project?.url,
      path: project?.path,
      server: project?.server,
    },
    jobs: withReplacedAttempts(sortJobs((jobs ?? []).map(toJob))),
    jobsUnknown: jobs === undefined || undefined,
    bridgesListed: (jobs ?? []).some(({ startsRun }) => startsRun === true),
    receivedAtNs,
  }
}

/** @throws {RecordError} if two jobs have the same id, or if an attempt before another one is not listed */
function requireKnownIds(body: Fields, jobs: readonly GivenJob[]): void {
  const ids = new Set<RunId>()
  for (const [index, { id }] of jobs.entries()) {
    if (ids.has(id)) refuse(body, `jobs[${index}].id`, 'is the id of another job')
    ids.add(id)
  }
  for (const [index, { id, previousAttemptId: previous }] of jobs.entries()) {
    if (previous === undefined || (previous !== id && ids.has(previous))) continue
    refuse(body, `jobs[${index}].previousAttemptId`, 'must be the id of another job of the list')
  }
}

const toUpstream = (parent: NonNullable<GivenRecord['parent']>): UpstreamPipeline => ({
  pipelineId: parent.runId,
  attempt: parent.attempt,
  bridgeId: parent.jobId,
  otherProject: parent.otherProject ?? false,
  projectWebUrl: parent.projectUrl,
  bridgeListed: parent.jobId === undefined ? undefined : true,
})

const toMergeRequest = ({ number, draft, ...change }: NonNullable<GivenRecord['change']>): MergeRequestRecord => ({
  ...change,
  iid: number,
  draft: draft ?? false,
})

function toJob(job: GivenJob): JobRecord {
  const status = canonicalStatus(job.status)
  return {
    ...absentJobFields,
    id: job.id,
    bridge: job.startsRun ?? false,
    name: job.name,
    stage: job.stage,
    status,
    createdAtNs: job.createdAt,
    startedAtNs: job.startedAt,
    finishedAtNs: job.finishedAt,
    durationSeconds: job.durationSeconds,
    queuedSeconds: job.queuedSeconds,
    failureReason: status === 'failed' ? job.failureReason : undefined,
    manual: job.manual,
    allowFailure: job.allowFailure ?? false,
    url: job.url,
    user: job.user,
    runner: job.runner && { ...absentRunnerFields, ...job.runner },
    environment: job.environment && toEnvironment(job.environment),
    attempt: job.attempt,
    previousAttemptId: job.previousAttemptId,
    effective: true,
    group: job.group,
    steps: job.steps?.map((step) => ({
      name: step.name,
      status: canonicalStatus(step.status),
      startedAtNs: step.startedAt,
      finishedAtNs: step.finishedAt,
    })),
  }
}

function toEnvironment(given: NonNullable<GivenJob['environment']>): EnvironmentRecord {
  const { name, action, tier, deploymentId, deploymentName } = given
  const hasDeployment = deploymentId !== undefined || deploymentName !== undefined
  return {
    name,
    action,
    deploymentTier: tier,
    ...(hasDeployment && { deployment: { id: deploymentId, name: deploymentName } }),
  }
}
