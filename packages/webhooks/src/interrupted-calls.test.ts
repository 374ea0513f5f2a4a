import { createIssue, endHookCall, insertHookCall } from '@penstock/core'
import { expect, test } from 'vitest'
import { HookWorld, newWebhooks } from './webhooks.harness.ts'

const startedCall = (hookId: number) => ({
  hookId,
  trigger: 'issue_hooks',
  url: 'https://ci.example.test/in',
  urlDigest: '',
  idempotencyKey: 'k',
  requestHeaders: {},
  requestData: '{}',
})

test('a call without a stored answer becomes an internal error, and is not sent again', async () => {
  const hooks = await HookWorld.open(undefined, { starts: false })
  const { id } = await hooks.hook({ issuesEvents: true })
  await hooks.perform(createIssue, { title: 'begun' })
  await hooks.perform(createIssue, { title: 'answered' })
  await hooks.perform(createIssue, { title: 'waiting' })
  const payloads = await hooks.core.db.read.selectFrom('hook_payloads').select('id').orderBy('id').execute()
  await hooks.core.db.write(async (db) => {
    const tx = { db, nowMs: hooks.world.clock.nowMs() }
    await insertHookCall(tx, startedCall(id), payloads[0]!.id)
    const answered = await insertHookCall(tx, startedCall(id), payloads[1]!.id)
    await endHookCall(tx, answered, {
      status: 200,
      internalError: undefined,
      responseHeaders: {},
      responseBody: '',
      durationMs: 1,
    })
  })
  // As after a restart.
  const next = newWebhooks(hooks.world.core)
  next.start()
  await hooks.idle()
  await next.end()
  const bodies = await hooks.bodies(1)
  expect(bodies).toMatchObject([{ object_attributes: { title: 'waiting' } }])
  const calls = await hooks.calls(id, 3)
  expect(calls.map(({ status }) => status).toSorted()).toEqual([200, 200, undefined])
  expect(calls.find(({ status }) => status === undefined)).toMatchObject({
    internalError: 'The service stopped before the answer was stored',
  })
})
