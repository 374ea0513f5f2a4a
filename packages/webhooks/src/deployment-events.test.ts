import {
  createCommit,
  createDeployment,
  createEnvironment,
  putPipelineRecord,
  removeDeployment,
  removePipeline,
  stopEnvironment,
  updateDeployment,
  updateEnvironment,
} from '@penstock/core'
import { recordInput } from '@penstock/testkit'
import { expect, test } from 'vitest'
import { HookWorld } from './webhooks.harness.ts'

const sha = '3'.repeat(40)
const report = { environment: 'staging', ref: 'main', tag: false }

test('reported deployments fire the switch with each new status', async () => {
  const hooks = await HookWorld.open()
  await hooks.hook({ deploymentEvents: true })
  const actions = [{ action: 'create', filePath: 'a.txt', content: 'a' }]
  const commit = await hooks.perform(createCommit, { branch: 'main', commitMessage: 'Sow\n\nEarly', actions })
  await hooks.perform(createEnvironment, { name: 'staging', externalUrl: 'https://staging.example.test' })
  const { id } = await hooks.perform(createDeployment, { ...report, sha: commit.sha, status: 'running' })
  const [running] = await hooks.bodies(1)
  expect(hooks.receiver.requests[0]!.headers['x-svc-event']).toBe('Deployment Hook')
  expect(running).toEqual({
    object_kind: 'deployment',
    status: 'running',
    status_changed_at: '2026-02-03 04:05:06 +0000',
    deployment_id: id,
    deployable_id: null,
    deployable_url: null,
    environment: 'staging',
    environment_tier: 'staging',
    environment_slug: 'staging',
    environment_external_url: 'https://staging.example.test',
    project: expect.objectContaining({
      id: hooks.project.id,
      path_with_namespace: 'ops/tools',
      homepage: expect.any(String),
    }),
    ref: 'main',
    short_sha: commit.sha.slice(0, 8),
    user: expect.objectContaining({ id: hooks.mira.id, username: 'mira' }),
    user_url: 'https://svc.example.test/mira',
    commit_url: `https://svc.example.test/ops/tools/-/commit/${commit.sha}`,
    commit_title: 'Sow',
  })
  await hooks.perform(updateDeployment, { deploymentId: id, status: 'success' })
  expect((await hooks.bodies(2)).map(({ status }) => status).sort()).toEqual(['running', 'success'])
})

test('changes that are no new status of a deployment fire nothing', async () => {
  const hooks = await HookWorld.open()
  const { id, environmentId } = await hooks.perform(createDeployment, { ...report, sha, status: 'failed' })
  await hooks.perform(createDeployment, { ...report, sha, status: 'success' })
  await hooks.hook({ deploymentEvents: true })
  await hooks.perform(createDeployment, { ...report, sha, status: 'success' })
  await hooks.perform(updateEnvironment, { environmentId, tier: 'other' })
  await hooks.perform(stopEnvironment, { environmentId })
  await hooks.perform(removeDeployment, { deploymentId: id })
  await hooks.idle()
  expect(hooks.receiver.requests).toEqual([])
})

test('recorded jobs with an environment fire the switch when their deployment starts and ends', async () => {
  const hooks = await HookWorld.open()
  await hooks.hook({ deploymentEvents: true })
  const record = (status: string, finishedAt?: string) =>
    hooks.perform(
      putPipelineRecord,
      recordInput({
        pipelineId: 7,
        objectAttributes: { id: 7, status, ref: 'main', sha, finishedAt },
        commit: { id: sha, title: 'Sow' },
        user: { id: 5, name: 'Ada', username: 'ada' },
        builds: [
          { id: 70, name: 'unit', status },
          { id: 71, name: 'deploy', status, environment: { name: 'production' } },
          { id: 72, name: 'check', status, environment: { name: 'production', action: 'verify' } },
        ],
      }),
    )
  await record('created')
  await record('running', '2026-02-03 04:00:00 UTC')
  await record('success', '2026-02-03 04:01:00 UTC')
  const bodies = await hooks.bodies(2)
  await hooks.perform(removePipeline, { pipelineId: 7 }, { actor: { ...hooks.mira, isAdministrator: true } })
  await hooks.idle()
  expect(hooks.receiver.requests.length).toBe(2)
  const ended = bodies.find(({ status }) => status === 'success')
  expect(bodies.map(({ status }) => status).sort()).toEqual(['running', 'success'])
  expect(ended).toMatchObject({
    deployable_id: 71,
    deployable_url: 'https://svc.example.test/ops/tools/-/jobs/71',
    environment: 'production',
    environment_tier: 'production',
    user: { id: 5, username: 'ada', email: '[REDACTED]' },
    user_url: 'https://svc.example.test/ada',
    commit_title: 'Sow',
  })
})
