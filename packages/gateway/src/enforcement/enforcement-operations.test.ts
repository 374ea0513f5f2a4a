import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { listAudit } from '../accounts/audit-log.ts'
import type { OperationContext } from '../operations/operation-context.ts'
import { publishEpoch } from '../store/instances.ts'
import { START_MS, TemporaryGateway } from '../store/temporary-gateway.harness.ts'
import { createToken } from '../tokens/token-operations.ts'
import { getState, setState, stateETag } from './enforcement-operations.ts'

let gateway: TemporaryGateway
let editor: OperationContext

beforeEach(async () => {
  gateway = await TemporaryGateway.open()
  editor = gateway.as('Editor')
})
afterEach(() => gateway.close())

const put = (body: unknown) => setState(editor, { body })

test('getState returns the initial state', async () => {
  expect(await getState(editor)).toEqual({
    enabled: false,
    mode: 'off',
    grace_until: null,
    epoch: 1,
    changed_at: null,
    changed_by: null,
    valid_tokens: 0,
    next_expiry: null,
    propagation: { instances: 0, applied: 0 },
    warnings: [],
  })
})

test('setState switches enforcement on and off', async () => {
  await createToken(editor, { name: 'a', expires_at: '2027-01-01T00:00:00Z' })
  await createToken(editor, { name: 'b', expires_at: '2026-12-01T00:00:00Z' })
  expect(await put({ enabled: true })).toEqual({
    enabled: true,
    mode: 'enforce',
    grace_until: null,
    epoch: 4,
    changed_at: '2026-11-21T07:00:00Z',
    changed_by: { id: 'key-Editor' },
    valid_tokens: 2,
    next_expiry: '2026-12-01T00:00:00Z',
    propagation: { instances: 1, applied: 1 },
    warnings: [],
  })
  expect(await put({ enabled: false })).toMatchObject({ enabled: false, mode: 'off', epoch: 5 })
})

test('enforcement can be enabled without a valid token, with a warning', async () => {
  expect((await put({ enabled: true })).warnings).toEqual(['no_valid_token'])
  expect((await getState(editor)).warnings).toEqual(['no_valid_token'])
})

test('setting the current state keeps the epoch and is neither audited nor propagated', async () => {
  await put({ enabled: false })
  await put({ enabled: false, mode: 'off', grace_seconds: 60 })
  expect(await put({ enabled: true, grace_seconds: 60 })).toMatchObject({ epoch: 2 })
  expect(await put({ enabled: true })).toMatchObject({ epoch: 2, grace_until: '2026-11-21T07:01:00Z' })
  await put({ enabled: false, mode: 'report' })
  expect(await put({ enabled: false })).toMatchObject({ mode: 'report', epoch: 3 })
  expect(gateway.propagations).toBe(2)
  expect((await listAudit(gateway.as('Admin'), {})).events).toHaveLength(2)
})

test('E-6: the grace period starts with enforcement, ends by itself, and can be ended early', async () => {
  expect((await put({ enabled: true, grace_seconds: 600 })).grace_until).toBe('2026-11-21T07:10:00Z')
  expect(await put({ enabled: true, grace_seconds: 0 })).toMatchObject({ grace_until: null, epoch: 3 })
  await put({ enabled: true, grace_seconds: 60 })
  await gateway.clock.advance(60_000)
  expect((await getState(editor)).grace_until).toBeNull()
  expect((await put({ enabled: true, grace_seconds: 0 })).epoch).toBe(4)
  expect((await put({ enabled: false })).grace_until).toBeNull()
})

test.each([
  [{}, { field: 'enabled', problem: 'required' }],
  [{ enabled: 'true' }, { field: 'enabled', problem: 'wrong_type', expected: 'boolean' }],
  [{ enabled: 1 }, { field: 'enabled', problem: 'wrong_type', expected: 'boolean' }],
  [{ enabled: null }, { field: 'enabled', problem: 'wrong_type', expected: 'boolean' }],
  [
    { enabled: true, mode: 'report' },
    { field: 'mode', problem: 'contradicts_enabled' },
  ],
  [
    { enabled: false, mode: 'enforce' },
    { field: 'mode', problem: 'contradicts_enabled' },
  ],
  [
    { enabled: true, grace_seconds: 86_401 },
    { field: 'grace_seconds', problem: 'too_big', max: 86_400 },
  ],
  [
    { enabled: true, grace_seconds: 1.5 },
    { field: 'grace_seconds', problem: 'wrong_type', expected: 'int' },
  ],
])('refuses %j', async (body, problem) => {
  await expect(put(body)).rejects.toMatchObject({ code: 'invalid_field', details: [problem] })
})

describe('If-Match', () => {
  test('refuses a change of a state that has changed since it was read', async () => {
    const ifMatch = stateETag(await getState(editor))
    expect(ifMatch).toBe('"1"')
    await setState(editor, { body: { enabled: true }, ifMatch })
    await expect(setState(editor, { body: { enabled: false }, ifMatch })).rejects.toMatchObject({
      code: 'precondition_failed',
    })
    await setState(editor, { body: { enabled: false }, ifMatch: '"7", "2"' })
    await setState(editor, { body: { enabled: true }, ifMatch: '*' })
  })
})

describe('require_ready', () => {
  const report = { ready: false, requests: 1, blockers: ['no_valid_token'] }
  const readiness = async () => report

  test('refuses to enable with not_ready and the report, and changes nothing', async () => {
    await expect(setState(editor, { body: { enabled: true }, readiness })).rejects.toMatchObject({
      code: 'not_ready',
      details: report,
    })
    expect((await getState(editor)).enabled).toBe(false)
  })

  test('requires no report if enforcement is disabled or already on', async () => {
    await setState(editor, { body: { enabled: false, mode: 'warn' }, readiness })
    await put({ enabled: true })
    await setState(editor, { body: { enabled: true }, readiness })
  })
})

test('A-6: a Viewer may read the state, without who changed it, but not change it', async () => {
  await put({ enabled: true })
  const viewer = gateway.as('Viewer')
  expect(await getState(viewer)).not.toHaveProperty('changed_by')
  await expect(setState(viewer, { body: { bad: 1 } })).rejects.toMatchObject({ code: 'forbidden' })
})

test('O-14: a change is audited with its reason', async () => {
  await setState(editor, { body: { enabled: true, grace_seconds: 60, reason: 'rollout done' } })
  const { events } = await listAudit(gateway.as('Admin'), {})
  expect(events).toMatchObject([
    {
      event: 'state.changed',
      before: { mode: 'off', grace_until: null },
      after: { mode: 'enforce', grace_until: '2026-11-21T07:01:00Z', reason: 'rollout done' },
    },
  ])
})

test('T-13: getState returns how many live processes run the current epoch', async () => {
  await put({ enabled: true })
  await publishEpoch(gateway.db, 'a', 2, START_MS)
  await publishEpoch(gateway.db, 'b', 1, START_MS)
  expect((await getState(editor)).propagation).toEqual({ instances: 2, applied: 1 })
})
