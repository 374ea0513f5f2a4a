import { createProjectToken, sweep } from '@penstock/core'
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
