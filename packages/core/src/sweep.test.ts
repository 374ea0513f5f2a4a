import { silentLog } from '@penstock/runtime'
import { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { CoreTables } from './base/kit/tables.ts'
import { insertSpamLog } from './base/spam/spam-log-store.ts'
import { createApplication } from './identity/oauth/application-operations.ts'
import { insertCode } from './identity/oauth/code-store.ts'
import { insertOAuthToken } from './identity/oauth/oauth-token-store.ts'
import { insertAttempt } from './identity/sessions/attempt-store.ts'
import { insertSession } from './identity/sessions/session-store.ts'
import { startSweeping, sweep } from './sweep.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

let world: World

beforeEach(async () => {
  world = await World.open()
})

afterEach(() => world.close())

const count = async (table: keyof CoreTables): Promise<number> => {
  const { rows } = await world.core.db.read
    .selectFrom(table)
    .select(({ fn }) => fn.countAll<number>().as('rows'))
    .executeTakeFirstOrThrow()
  return rows
}

async function addEvents(number: number): Promise<void> {
  const event = { type: 'x.y', object_id: 1, details: '{}', at_ms: world.clock.nowMs() }
  await world.core.db.write((db) => db.insertInto('events').values(Array(number).fill(event)).execute())
}

test('sweeps at the start and then every hour, and deletes all events older than the setting', async () => {
  await addEvents(2_500)
  await world.clock.advance(DAY_MS + 1)
  await addEvents(3)
  await sweep(world.core, { eventDays: 2 })
  expect(await count('events')).toBe(2_503)
  const sweeping = startSweeping(world.core, { eventDays: 1 }, silentLog)
  await world.clock.untilSleeping()
  expect(await count('events')).toBe(3)
  await world.clock.advance(DAY_MS)
  await world.clock.untilSleeping()
  expect(await count('events')).toBe(3)
  await world.clock.advance(HOUR_MS)
  await world.clock.untilSleeping()
  expect(await count('events')).toBe(0)
  await sweeping.end()
})

test('deletes expired sessions, attempts, codes, tokens and spam logs although no request comes', async () => {
  const { core } = world
  const user = await world.user('mira', { isAdministrator: true })
  const { id: applicationId } = await world.perform(user, createApplication, {
    name: 'x',
    redirectUri: 'https://x.example.test',
    scopes: 'api',
  })
  await world.core.db.write(async (db) => {
    const tx = { db, nowMs: world.clock.nowMs() }
    const draft = { applicationId, userId: user.id, scopes: ['api'] }
    await insertSession(tx, core, user.id, { idleMs: 7 * 86_400_000 })
    await insertSpamLog(tx, { userId: user.id, kind: 'issue', textHash: '' })
    await insertAttempt(tx, { login: 'mira', password: 'x', address: '192.0.2.7' }, { periodMs: 600_000 })
    await insertCode(tx, core, { ...draft, redirectUri: 'https://x.example.test', challenge: undefined })
    await insertOAuthToken(tx, core, { ...draft, isRefreshable: false })
  })
  const left = async () =>
    Promise.all((['sessions', 'password_attempts', 'oauth_codes', 'oauth_tokens', 'spam_logs'] as const).map(count))
  await sweep(core, { eventDays: 1 })
  expect(await left()).toEqual([1, 1, 1, 1, 1])
  await world.clock.advance(11 * 60_000)
  await sweep(core, { eventDays: 1 })
  expect(await left()).toEqual([1, 0, 1, 1, 1])
  await world.clock.advance(8 * DAY_MS)
  await sweep(core, { eventDays: 1 })
  expect(await left()).toEqual([0, 0, 0, 1, 0])
  await world.clock.advance(31 * DAY_MS)
  await sweep(core, { eventDays: 1 })
  expect(await left()).toEqual([0, 0, 0, 0, 0])
})
