import { can } from '../../base/access/can.ts'
import { standingOf } from '../../base/access/subject.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { User } from '../../base/model/user.ts'
import type { InProject } from '../../base/operations/context.ts'
import { findUsers } from '../../identity/users/user-store.ts'
import type { DeploymentRecord } from '../environments/deployment.ts'
import type { Environment } from '../environments/environment.ts'
import { environmentsById } from '../environments/environment-store.ts'
import { type JobWithCommit, withCommits } from '../pipelines/job-commits.ts'
import { jobsOf } from '../pipelines/job-store.ts'
import type { JobOfPipeline } from '../pipelines/pipeline.ts'

/** A deployment as answers show it. */
export interface Deployment extends DeploymentRecord {
  readonly environment: Environment
  /** The job that deployed; missing if it is unknown, or the caller may not read jobs. */
  readonly job: JobWithCommit | undefined
  /** The user who reported the deployment; missing for a recorded job. */
  readonly user: User | undefined
}

/** Returns deployments of a project as the actor sees them. Reads the repository, so never call it in a transaction. */
export async function shownDeployments(
  context: InProject,
  records: readonly DeploymentRecord[],
): Promise<Deployment[]> {
  const standing = await standingOf(context, context.actor, context.subject)
  const jobs = can(standing, 'read_pipeline') ? await jobsByKey(context, records) : new Map<number, JobOfPipeline>()
  const withCommit = await withCommits(context, context.subject, [...jobs.values()])
  const jobOf = new Map<number, JobWithCommit>([...jobs.keys()].map((key, index) => [key, withCommit[index]!]))
  const environments = await environmentsById(
    context,
    records.map(({ environmentId }) => environmentId),
  )
  const users = await findUsers(
    context,
    records.flatMap(({ userId }) => userId ?? []),
  )
  return records.flatMap((record) => {
    const environment = environments.get(record.environmentId)
    // The environment was deleted in between, and its deployments with it.
    if (environment === undefined) return []
    const job = record.jobKey === undefined ? undefined : jobOf.get(record.jobKey)
    const user = record.userId === undefined ? undefined : users.get(record.userId)
    return [{ ...record, environment, job, user }]
  })
}

/** Returns the recorded jobs of deployments, by row. */
export async function jobsByKey(
  context: ReadContext,
  records: readonly DeploymentRecord[],
): Promise<Map<number, JobOfPipeline>> {
  const keys = records.flatMap(({ jobKey }) => jobKey ?? [])
  if (keys.length === 0) return new Map()
  const rows = await context.db.selectFrom('pipeline_jobs').selectAll().where('id', 'in', keys).execute()
  const jobs = await jobsOf(context, rows)
  return new Map(rows.flatMap(({ id }, index) => (jobs[index] === undefined ? [] : [[id, jobs[index]] as const])))
}
