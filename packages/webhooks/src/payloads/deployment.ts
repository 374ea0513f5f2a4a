import type { DeploymentFacts, ProjectFacts } from '@penstock/core'
import { recordedUserJson } from './pipeline.ts'
import { commitUrl, type Json, projectJson, userJson } from './shared-objects.ts'

interface DeploymentEventFacts extends DeploymentFacts {
  readonly facts: ProjectFacts
  readonly atMs: number
}

/** The statuses that hooks get. A deployment that has not started, or was skipped, has no event. */
export const reportedStatuses: readonly unknown[] = ['running', 'success', 'failed', 'canceled']

const SHORT_SHA = 8

/** Returns the payload. The title of the commit is added when it is sent, if the record of the job did not have it. */
export function deploymentPayload(event: DeploymentEventFacts, externalUrl: string): Json {
  const { facts, deployment, environment, job, user, atMs } = event
  const { project } = facts
  const { sha } = deployment
  const recorded = job?.user ?? job?.pipeline.user
  const username = user?.username ?? recorded?.username
  return {
    object_kind: 'deployment',
    status: deployment.status,
    status_changed_at: `${new Date(atMs).toISOString().slice(0, 19).replace('T', ' ')} +0000`,
    deployment_id: deployment.id,
    deployable_id: job?.id ?? null,
    deployable_url: job === undefined ? null : `${externalUrl}/${project.fullPath}/-/jobs/${job.id}`,
    environment: environment.name,
    environment_tier: environment.tier,
    environment_slug: environment.slug,
    environment_external_url: environment.externalUrl ?? null,
    project: projectJson(facts, externalUrl),
    ref: deployment.ref ?? null,
    short_sha: sha?.slice(0, SHORT_SHA) ?? null,
    user: job === undefined ? userJson(user, externalUrl) : recordedUserJson(recorded),
    user_url: username === undefined ? null : `${externalUrl}/${encodeURIComponent(username)}`,
    commit_url: sha === undefined ? null : commitUrl(project, sha, externalUrl),
    commit_title: job?.pipeline.commit?.title ?? null,
  }
}
