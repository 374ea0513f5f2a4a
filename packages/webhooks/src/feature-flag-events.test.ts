import { createFeatureFlag, createUserList, removeFeatureFlag, updateFeatureFlag } from '@penstock/core'
import { expect, test } from 'vitest'
import { HookWorld } from './webhooks.harness.ts'

test('switching a feature flag on or off fires the switch, and nothing else does', async () => {
  const hooks = await HookWorld.open()
  await hooks.hook({ featureFlagEvents: true })
  const flag = { featureFlagName: 'beta' }
  await hooks.perform(createFeatureFlag, { name: 'beta', description: 'New field' })
  await hooks.perform(createUserList, { name: 'Testers', userXids: '1,2' })
  await hooks.perform(updateFeatureFlag, { ...flag, strategies: [{ name: 'default', parameters: {} }] })
  await hooks.perform(updateFeatureFlag, { ...flag, active: true })
  const { id } = await hooks.perform(updateFeatureFlag, { ...flag, active: false })
  await hooks.perform(updateFeatureFlag, { ...flag, active: true, name: 'gamma' })
  const bodies = await hooks.bodies(2)
  await hooks.perform(removeFeatureFlag, { featureFlagName: 'gamma' })
  await hooks.idle()
  expect(hooks.receiver.requests.map(({ headers }) => headers['x-svc-event'])).toEqual(
    Array(2).fill('Feature Flag Hook'),
  )
  expect(bodies.find(({ object_attributes }) => (object_attributes as { active: boolean }).active === false)).toEqual({
    object_kind: 'feature_flag',
    project: expect.objectContaining({ id: hooks.project.id, homepage: 'https://svc.example.test/ops/tools' }),
    user: expect.objectContaining({ id: hooks.mira.id, username: 'mira', email: '[REDACTED]' }),
    user_url: 'https://svc.example.test/mira',
    object_attributes: { id, name: 'beta', description: 'New field', active: false },
  })
})
