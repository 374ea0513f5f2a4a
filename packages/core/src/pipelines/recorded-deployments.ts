import { setImmediate } from 'node:timers/promises'
import { addEnvironment, startEnvironment, stopEnvironmentNow } from '../environments/change-environment.ts'
import { type DeploymentRecord, deploymentEvents, isFinished } from '../environments/deployment.ts'
import { deploymentsOfJobs, insertDeployment, setDeploymentStatus } from '../environments/deployment-store.ts'
import type { Environment } from '../environments/environment.ts'
import { environmentsByName, hasRoom } from '../environments/environment-store.ts'
import type { Project } from '../model/project.ts'
import type { OperationContext, Tx } from '../operations/context.ts'
import { recordChange } from '../operations/record-change.ts'
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
  for (const [index, job] of jobs.entries()) {
    if (index > 0 && index % JOBS_PER_TURN === 0) await setImmediate()
    const former = environments.get(job.environment) ?? (await newEnvironment(tx, project, job))
    if (former === undefined) continue
    const key = keys.get(job.jobId)!
    const environment =
      job.action === 'deploy'
        ? await deploy(tx, pipeline, { job, key, environment: former, before: deployments.get(key) })
        : job.action === 'stop' && job.status === 'success' && changed[job.jobId] !== undefined
          ? await stopEnvironmentNow(tx, former)
          : former
    environments.set(job.environment, environment)
  }
}

/** Returns the rows of jobs by id. */
async function keysOfJobs({ db }: Tx, { key }: Pipeline, jobs: readonly DeployingJob[]): Promise<Map<number, number>> {
  const ids = jobs.map(({ jobId }) => jobId)
  const query = db.selectFrom('pipeline_jobs').select(['id', 'job_id']).where('pipeline_key', '=', key)
  const rows = await query.where('job_id', 'in', ids).execute()
  return new Map(rows.map((row) => [row.job_id, row.id]))
}

/** Returns a new environment; `undefined` if the project has as many as it may, because its pipelines are recorded all the same. */
const newEnvironment = async (
  tx: Tx,
  project: Project,
  { environment: name, tier }: DeployingJob,
): Promise<Environment | undefined> =>
  (await hasRoom(tx, project)) ? addEnvironment(tx, project, { name, tier }) : undefined

interface DeploymentOfJob {
  readonly job: DeployingJob
  readonly key: number
  readonly environment: Environment
  readonly before: DeploymentRecord | undefined
}

/** Gives the deployment of a job the status that follows from the job. Returns the environment as it is afterwards. */
async function deploy(
  tx: Tx,
  pipeline: Pipeline,
  { job, key, environment, before }: DeploymentOfJob,
): Promise<Environment> {
  const status = deploymentStatusOf(job.status)
  if (before?.status === status) return environment
  const finishedAtMs = isFinished(status) ? (job.finishedAtMs ?? tx.nowMs) : undefined
  const after =
    before === undefined
      ? await insertDeployment(tx, {
          projectId: pipeline.projectId,
          environmentId: environment.id,
          jobKey: key,
          userId: undefined,
          ref: pipeline.ref,
          sha: pipeline.sha,
          isTag: pipeline.isTag ?? false,
          status,
          finishedAtMs,
          createdAtMs: job.createdAtMs ?? tx.nowMs,
        })
      : await setDeploymentStatus(tx, { id: before.id, status, finishedAtMs })
  const what = before === undefined ? 'created' : 'updated'
  const started = status === 'success' ? await startEnvironment(tx, environment, job.tier) : environment
  await recordChange(tx, deploymentEvents, what, { ...(before && { before }), after, projectId: pipeline.projectId })
  return started
}
