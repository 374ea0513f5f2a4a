import { createProjectToken, groupDeployTokens, projectDeployTokens, sweep } from '@penstock/core'
import { expect, test } from 'vitest'
import { HookWorld } from './webhooks.harness.ts'

test('a project access token is announced once, seven days before it expires', async () => {
  const hooks = await HookWorld.open()
  await hooks.hook({ resourceAccessTokenEvents: true })
  const draft = { name: 'ci', scopes: ['api'], accessLevel: 30 }
  await hooks.perform(createProjectToken, { ...draft, expiresAt: '2026-02-10' })
  await hooks.perform(createProjectToken, { ...draft, expiresAt: '2026-02-11' })
  const pass = () => sweep(hooks.core, { eventDays: 30 })
  await pass()
  await pass()
  const [body] = await hooks.bodies(1)
  expect(body).toMatchObject({
    object_kind: 'access_token',
    event_name: 'expiring_access_token',
    object_attributes: { name: 'ci', expires_at: '2026-02-10', last_used_at: null },
  })
  await hooks.idle()
  expect(hooks.receiver.requests).toHaveLength(1)
})

test('a deploy token of the project is announced once, seven days before it expires', async () => {
  const hooks = await HookWorld.open()
  await hooks.hook({ resourceDeployTokenEvents: true })
  const draft = { name: 'registry', scopes: ['read_registry'], expiresAt: '2026-02-09T12:00:00Z' }
  const { id } = await hooks.perform(projectDeployTokens.create, { parent: hooks.project.id, ...draft })
  await hooks.perform(
    groupDeployTokens.create,
    { parent: 'ops', ...draft },
    { actor: { ...hooks.mira, isAdministrator: true } },
  )
  const pass = () => sweep(hooks.core, { eventDays: 30 })
  await pass()
  await pass()
  const [body] = await hooks.bodies(1)
  expect(body).toEqual({
    object_kind: 'deploy_token',
    project: expect.objectContaining({ path_with_namespace: 'ops/tools' }),
    object_attributes: {
      id,
      name: 'registry',
      created_at: expect.stringMatching(/^2026-02-03 \d\d:\d\d:\d\d UTC$/),
      expires_at: '2026-02-09 12:00:00 UTC',
      revoked: false,
      deploy_token_type: 'project_type',
    },
    event_name: 'expiring_deploy_token',
  })
  await hooks.idle()
  expect(hooks.receiver.requests).toHaveLength(1)
})
