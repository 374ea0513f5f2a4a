import { setImmediate } from 'node:timers/promises'
import { Lookup } from '@penstock/db'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project } from '../../base/model/project.ts'
import type { OperationContext, Tx } from '../../base/operations/context.ts'
import type { DomainEvent } from '../../base/operations/event.ts'
import { changeEvent, recordChange } from '../../base/operations/record-change.ts'
import {
  addEnvironment,
  isChangedByStart,
  startEnvironment,
  stopEnvironmentNow,
} from '../environments/change-environment.ts'
import { type DeploymentRecord, deploymentEvents, isFinished } from '../environments/deployment.ts'
import { deploymentsOfJobs, insertDeployments, setDeploymentStatus } from '../environments/deployment-store.ts'
import type { Environment } from '../environments/environment.ts'
import { environmentsByName, hasRoom } from '../environments/environment-store.ts'
import { type DeployingJob, deploymentStatusOf } from './deploying-jobs.ts'
import type { Pipeline } from './pipeline.ts'

/** The number of jobs after which the event loop gets a turn. */
const JOBS_PER_TURN = 32

interface RecordedRun {
  readonly pipeline: Pipeline
  readonly jobs: readonly DeployingJob[]
  /** The ids of the jobs that are new in the record or have another status. */
  readonly changed: Readonly<Record<number, string>>
}

/** Creates and changes the environments and deployments of the jobs of a record, which are stored already. */
export async function recordDeployments(
  tx: OperationContext & Tx,
  project: Project,
  { pipeline, jobs, changed }: RecordedRun,
): Promise<void> {
  if (jobs.length === 0) return
  const environments = await environmentsByName(
    tx,
    project,
    jobs.map(({ environment }) => environment),
  )
  const keys = await keysOfJobs(tx, pipeline, jobs)
  const deployments = await deploymentsOfJobs(tx, [...keys.values()])
  await addMissing(tx, project, environments, jobs)
  const created = await createDeployments(
    tx,
    pipeline,
    jobs.flatMap((job) => {
      const key = keys.get(job.jobId)!
      const environment = environments.get(job.environment)
      return job.action === 'deploy' && environment !== undefined && !deployments.has(key)
        ? { job, key, environment }
        : []
    }),
  )
  const recording = new CreatedEvents(tx)
  for (const [index, job] of jobs.entries()) {
    if (index > 0 && index % JOBS_PER_TURN === 0) {
      await recording.flush()
      await setImmediate()
    }
    const former = environments.get(job.environment)
    if (former === undefined) continue
    const key = keys.get(job.jobId)!
    const environment =
      job.action === 'deploy'
        ? await deploy(tx, recording, {
            job,
            environment: former,
            before: deployments.get(key),
            created: created.get(key),
          })
        : job.action === 'stop' && job.status === 'success' && changed[job.jobId] !== undefined
          ? await stop(tx, recording, former)
          : former
    environments.set(job.environment, environment)
  }
  await recording.flush()
}

/** The events of created deployments. They are recorded together, before anything else changes that their listeners read. */
class CreatedEvents {
  readonly #tx: Tx
  #waiting: DomainEvent[] = []

  constructor(tx: Tx) {
    this.#tx = tx
  }

  add(after: DeploymentRecord): void {
    this.#waiting.push(changeEvent(deploymentEvents, 'created', { after, projectId: after.projectId }))
  }

  async flush(): Promise<void> {
    const events = this.#waiting
    this.#waiting = []
    if (events.length > 0) await this.#tx.recordEvents(events)
  }
}

/** Creates the environments that jobs name and the project lacks, as many as it may have, because its pipelines are recorded all the same. */
async function addMissing(
  tx: Tx,
  project: Project,
  environments: Map<string, Environment>,
  jobs: readonly DeployingJob[],
): Promise<void> {
  for (const { environment: name, tier } of jobs) {
    if (environments.has(name)) continue
    if (!(await hasRoom(tx, project))) return
    environments.set(name, await addEnvironment(tx, project, { name, tier }))
  }
}

/** Returns the rows of jobs by id. */
async function keysOfJobs({ db }: Tx, { key }: Pipeline, jobs: readonly DeployingJob[]): Promise<Map<number, number>> {
  const rows = await keysById.all(db, key, ...jobs.map(({ jobId }) => jobId))
  return new Map(rows.map((row) => [row.job_id, row.id]))
}

const keysById = new Lookup((db: ReadContext['db'], pipelineKey: number, ...ids: number[]) =>
  db
    .selectFrom('pipeline_jobs')
    .select(['id', 'job_id'])
    .where('pipeline_key', '=', pipelineKey)
    .where('job_id', 'in', ids),
)

interface NewDeploymentOfJob {
  readonly job: DeployingJob
  /** The row of the job. */
  readonly key: number
  readonly environment: Environment
}

/** Returns new deployments by the row of their job. */
async function createDeployments(
  tx: Tx,
  { projectId, ref, sha, isTag }: Pipeline,
  jobs: readonly NewDeploymentOfJob[],
): Promise<ReadonlyMap<number, DeploymentRecord>> {
  const drafts = jobs.map(({ job, key, environment }) => ({
    environmentId: environment.id,
    jobKey: key,
    userId: undefined,
    ref,
    sha,
    isTag: isTag ?? false,
    ...stateOf(tx, job),
    createdAtMs: job.createdAtMs ?? tx.nowMs,
  }))
  const created = await insertDeployments(tx, projectId, drafts)
  return new Map(created.map((deployment) => [deployment.jobKey!, deployment]))
}

function stateOf({ nowMs }: Tx, { status: ofJob, finishedAtMs }: DeployingJob) {
  const status = deploymentStatusOf(ofJob)
  return { status, finishedAtMs: isFinished(status) ? (finishedAtMs ?? nowMs) : undefined }
}

interface DeploymentOfJob {
  readonly job: DeployingJob
  readonly environment: Environment
  readonly before: DeploymentRecord | undefined
  readonly created: DeploymentRecord | undefined
}

/**
 * Gives the deployment of a job the status that follows from the job, unless it was created with it. Returns the environment as it is
 * afterwards.
 */
async function deploy(
  tx: Tx,
  recording: CreatedEvents,
  { job, environment, before, created }: DeploymentOfJob,
): Promise<Environment> {
  const state = stateOf(tx, job)
  if (before?.status === state.status) return environment
  const isStarted = state.status === 'success' && isChangedByStart(environment, job.tier)
  if (created === undefined || isStarted) await recording.flush()
  const after = created ?? (await setDeploymentStatus(tx, { id: before!.id, ...state }))
  const started = isStarted ? await startEnvironment(tx, environment, job.tier) : environment
  if (before === undefined) recording.add(after)
  else await recordChange(tx, deploymentEvents, 'updated', { before, after, projectId: after.projectId })
  return started
}

async function stop(tx: Tx, recording: CreatedEvents, environment: Environment): Promise<Environment> {
  await recording.flush()
  return stopEnvironmentNow(tx, environment)
}
