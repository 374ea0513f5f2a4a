import { randomUUID } from 'node:crypto'
import { createIssue } from '@penstock/core'
import { DeliveryQueue } from '@penstock/delivery'
import { silentLog } from '@penstock/runtime'
import { expect, test } from 'vitest'
import { HookDeliverer } from './deliver.ts'
import { RequestSender } from './request-sender.ts'
import { HookWorld } from './webhooks.harness.ts'

type QueueDb = ConstructorParameters<typeof DeliveryQueue>[0]
type QueueTransaction = Parameters<DeliveryQueue['enqueue']>[0]

test('an event that a process released before it ended still reaches its other hooks', async () => {
  const hooks = await HookWorld.open(undefined, { starts: false })
  const { id: first } = await hooks.hook({ issuesEvents: true })
  await hooks.hook({ issuesEvents: true })
  await hooks.perform(createIssue, { title: 'shared' })
  const { core } = hooks
  const queue = new DeliveryQueue(core.db as unknown as QueueDb, 'webhooks')
  const sender = new RequestSender(core)
  const deliverer = new HookDeliverer({
    ...{ core, sender, log: silentLog, onUnavailable: () => {} },
    reach: (db, delivery, progress) => queue.reach(db as unknown as QueueTransaction, delivery, progress),
  })
  // Claimed again each time, because the process ends before it settles the delivery.
  for (let leaseEndMs = 0; leaseEndMs < 3; leaseEndMs += 1) {
    const nowMs = core.clock.nowMs() + leaseEndMs
    const claimed = await queue.claim(String(first), { claim: randomUUID(), limit: 8, leaseMs: 1 }, nowMs)
    expect(claimed).toHaveLength(1)
    await deliverer.send(claimed, new AbortController().signal)
  }
  await sender.close()
  expect(await hooks.bodies(1)).toHaveLength(1)
  hooks.webhooks.start()
  expect(await hooks.bodies(2)).toMatchObject([0, 1].map(() => ({ object_attributes: { title: 'shared' } })))
  await hooks.idle()
})

test('an event without a usable payload is an entry of the log, and does not hold up the others', async () => {
  const hooks = await HookWorld.open(undefined, { starts: false })
  const { id } = await hooks.hook({ issuesEvents: true })
  for (const title of ['broken', 'whole']) await hooks.perform(createIssue, { title })
  const first = hooks.core.db.read.selectFrom('hook_payloads').select('id').orderBy('id').limit(1)
  await hooks.core.db.write((db) =>
    db.updateTable('hook_payloads').set({ data: '{' }).where('id', 'in', first).execute(),
  )
  hooks.webhooks.start()
  expect(await hooks.bodies(1)).toMatchObject([{ object_attributes: { title: 'whole' } }])
  const calls = await hooks.calls(id, 2)
  expect(calls.map(({ internalError }) => internalError).toSorted()).toEqual([
    'The payload could not be made',
    undefined,
  ])
  await hooks.idle()
})
