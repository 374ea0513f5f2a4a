import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { listAudit } from '../accounts/audit-log.ts'
import type { OperationContext } from '../operations/operation-context.ts'
import { START_MS, TemporaryGateway } from '../store/temporary-gateway.harness.ts'
import { currentEpoch, loadSnapshot } from './load-snapshot.ts'
import {
  createToken,
  getToken,
  importToken,
  listTokens,
  revokeToken,
  rotateToken,
  tokenETag,
  updateToken,
  verifyToken,
} from './token-operations.ts'

let gateway: TemporaryGateway
let editor: OperationContext

beforeEach(async () => {
  gateway = await TemporaryGateway.open()
  editor = gateway.as('Editor')
})
afterEach(() => gateway.close())

const names = async (query: Record<string, string> = {}) =>
  (await listTokens(editor, query)).tokens.map((token) => token.name)
const events = async () => (await listAudit(gateway.as('Admin'), {})).events.map(({ event }) => event)

describe('createToken', () => {
  test('returns the whole token, including the secret', async () => {
    const created = await createToken(editor, { name: ' ci-runners ' })
    expect(created).toEqual({
      id: expect.stringMatching(/^[0-9A-Za-z]{12}$/),
      name: 'ci-runners',
      description: null,
      token: expect.stringMatching(new RegExp(`^psin_${created.id}_[0-9A-Za-z]{49}$`)),
      service_account: 'otel-ingest',
      status: 'valid',
      signals: ['traces', 'metrics', 'logs', 'profiles'],
      tags: {},
      tenant: null,
      allowed_origins: [],
      client_certificate_sans: [],
      allow_query: false,
      limits: null,
      imported: false,
      created_at: '2026-11-21T07:00:00Z',
      created_by: { id: 'key-Editor', role: 'Editor' },
      expires_at: null,
      last_used_at: null,
      supersedes: null,
      warnings: [],
    })
  })

  test('accepts every field of a token', async () => {
    const body = {
      name: 'all',
      expires_at: '2026-11-22T08:00:00.250+01:00',
      signals: ['logs', 'traces', 'logs'],
      tags: { team: 'build' },
      tenant: 'acme.eu',
      allowed_origins: ['https://App.example.com', 'https://*.xn--bcher-kva.example:8443'],
      client_certificate_sans: ['DNS:Agent-1.Example.com', 'URI:spiffe://example.com/Agent', 'email:Ops@example.com'],
      allow_query: true,
      limits: { traces: { second: { requests: 5, bytes: null }, day: { bytes: 1_000 } }, logs: null, all: { day: {} } },
      description: '',
    }
    const { id } = await createToken(editor, body)
    expect(await getToken(editor, { id })).toMatchObject({
      expires_at: '2026-11-22T07:00:00.250Z',
      expires_in_seconds: 86_400,
      expires_soon: true,
      signals: ['traces', 'logs'],
      tags: { team: 'build' },
      tenant: 'acme.eu',
      allowed_origins: ['https://app.example.com', 'https://*.xn--bcher-kva.example:8443'],
      client_certificate_sans: ['DNS:agent-1.example.com', 'URI:spiffe://example.com/Agent', 'email:Ops@example.com'],
      allow_query: true,
      limits: { traces: { second: { requests: 5 }, day: { bytes: 1_000 } } },
    })
  })

  test.each([
    [undefined, 'invalid_field', [{ field: '', problem: 'wrong_type', expected: 'object' }]],
    [[], 'invalid_field', [{ field: '', problem: 'wrong_type', expected: 'object' }]],
    [{}, 'invalid_field', [{ field: 'name', problem: 'required' }]],
    [{ name: 7 }, 'invalid_field', [{ field: 'name', problem: 'wrong_type', expected: 'string' }]],
    [{ name: '  ' }, 'invalid_field', [{ field: 'name', problem: 'too_short', min: 1 }]],
    [{ name: 'x'.repeat(81) }, 'invalid_field', [{ field: 'name', problem: 'too_long', max: 80 }]],
    [{ name: 'a\u0007b' }, 'invalid_field', [{ field: 'name', problem: 'control_character' }]],
    [{ name: 'a', colour: 'red' }, 'unknown_field', [{ field: 'colour', problem: 'unknown' }]],
    [
      { name: 'a', allow_query: 'yes' },
      'invalid_field',
      [{ field: 'allow_query', problem: 'wrong_type', expected: 'boolean' }],
    ],
    [
      { name: 'a', client_certificate_sans: ['agent.example.com'] },
      'invalid_field',
      [{ field: 'client_certificate_sans.0', problem: 'malformed' }],
    ],
    [
      { name: 'a', client_certificate_sans: Array.from({ length: 11 }, (_, index) => `DNS:a${index}.example`) },
      'invalid_field',
      [{ field: 'client_certificate_sans', problem: 'too_long', max: 10 }],
    ],
    [{ name: 'a', signals: [] }, 'invalid_field', [{ field: 'signals', problem: 'too_short', min: 1 }]],
    [
      { name: 'a', signals: ['spans'] },
      'invalid_field',
      [{ field: 'signals.0', problem: 'not_one_of', allowed: ['traces', 'metrics', 'logs', 'profiles'] }],
    ],
    [{ name: 'a', expires_at: '2026-11-21' }, 'invalid_field', [{ field: 'expires_at', problem: 'malformed' }]],
    [
      { name: 'a', expires_at: '2027-02-30T00:00:00Z' },
      'invalid_field',
      [{ field: 'expires_at', problem: 'malformed' }],
    ],
    [
      { name: 'a', expires_at: '2027-02-03T00:00:00' },
      'invalid_field',
      [{ field: 'expires_at', problem: 'malformed' }],
    ],
    [
      { name: 'a', expires_at: '2026-11-21T07:00:00Z' },
      'invalid_field',
      [{ field: 'expires_at', problem: 'not_in_the_future' }],
    ],
    [{ name: 'a', tenant: 'a b' }, 'invalid_field', [{ field: 'tenant', problem: 'malformed' }]],
    [
      { name: 'a', allowed_origins: ['https://a.example/'] },
      'invalid_field',
      [{ field: 'allowed_origins.0', problem: 'malformed' }],
    ],
    [
      { name: 'a', limits: { all: { day: { bytes: 0 } } } },
      'invalid_field',
      [{ field: 'limits.all.day.bytes', problem: 'too_small', min: 1 }],
    ],
    [{ name: 'a', limits: { spans: {} } }, 'unknown_field', [{ field: 'limits.spans', problem: 'unknown' }]],
    [{ name: 'a', limits: { all: { hour: {} } } }, 'unknown_field', [{ field: 'limits.all.hour', problem: 'unknown' }]],
  ])('refuses %j', async (body, code, details) => {
    await expect(createToken(editor, body)).rejects.toMatchObject({ code, details })
    expect(await names()).toEqual([])
  })

  test('counts characters of a name, not UTF-16 units', async () => {
    expect((await createToken(editor, { name: '🚰'.repeat(80) })).name).toBe('🚰'.repeat(80))
  })

  test('accepts a name in use with a warning, and refuses it where names must be unique', async () => {
    await createToken(editor, { name: 'ci' })
    expect((await createToken(editor, { name: 'ci' })).warnings).toEqual(['name_in_use'])
    const unique = gateway.as('Editor', { uniqueNames: true })
    await expect(createToken(unique, { name: 'ci' })).rejects.toMatchObject({ code: 'name_in_use' })
    expect(await names()).toEqual(['ci', 'ci'])
  })

  test('refuses to exceed the token limit; revoked tokens do not count', async () => {
    const two = gateway.as('Editor', { tokenLimit: 2 })
    const { id } = await createToken(two, { name: 'a' })
    await createToken(two, { name: 'b' })
    await expect(createToken(two, { name: 'c' })).rejects.toMatchObject({
      code: 'token_limit_reached',
      details: { limit: 2 },
    })
    await revokeToken(two, { id })
    await createToken(two, { name: 'c' })
    expect(await names()).toEqual(['c', 'b'])
  })

  test('T-13: returns after the data paths run the change', async () => {
    await createToken(editor, { name: 'ci' })
    expect(gateway.propagations).toBe(1)
    expect(await currentEpoch(gateway.db)).toBe(2)
  })
})

describe('A-4: the secret', () => {
  test('is in one answer only, and in no column', async () => {
    const { id, token } = await createToken(editor, { name: 'ci' })
    const rotated = await rotateToken(editor, { id, body: {} })
    await updateToken(editor, { id, body: { description: 'later' } })
    const outputs = [
      await listTokens(editor, { status: 'all' }),
      await getToken(editor, { id }),
      await verifyToken(editor, { token }),
      await listAudit(gateway.as('Admin'), {}),
      await gateway.db.read.selectFrom('ingest_tokens').selectAll().execute(),
      await loadSnapshot(gateway.db, START_MS),
    ]
    for (const text of [token, rotated.token]) {
      expect(JSON.stringify(outputs, (_, value) => (value instanceof Map ? [...value] : value))).not.toContain(
        text.slice(18, 61),
      )
    }
  })
})

describe('roles', () => {
  test.each([
    ['create', (context: OperationContext) => createToken(context, { bad: 1 })],
    ['import', (context: OperationContext) => importToken(context, { bad: 1 })],
    ['update', (context: OperationContext) => updateToken(context, { id: 'x', body: { bad: 1 } })],
    ['rotate', (context: OperationContext) => rotateToken(context, { id: 'x', body: { bad: 1 } })],
    ['revoke', (context: OperationContext) => revokeToken(context, { id: 'x' })],
    ['verify', (context: OperationContext) => verifyToken(context, { bad: 1 })],
  ])('A-6: a Viewer may not %s tokens, and learns nothing else', async (_, operation) => {
    await expect(operation(gateway.as('Viewer'))).rejects.toMatchObject({
      code: 'forbidden',
      details: { role: 'Viewer', needed: ['Editor', 'Admin'] },
    })
  })

  test('a Viewer does not see who created a token', async () => {
    const { id } = await createToken(editor, { name: 'ci' })
    expect(await getToken(gateway.as('Viewer'), { id })).not.toHaveProperty('created_by')
    expect((await listTokens(gateway.as('Viewer'), {})).tokens[0]).not.toHaveProperty('created_by')
    expect(await getToken(gateway.as('Admin'), { id })).toHaveProperty('created_by')
  })
})

test('T-15: an imported token is valid, is not shown, and cannot be imported twice', async () => {
  const token = 'static-token-of-a-collector-12345678'
  const imported = await importToken(editor, { name: 'old collector', token })
  expect(imported).toMatchObject({ imported: true, status: 'valid' })
  expect(imported).not.toHaveProperty('token')
  expect(await verifyToken(editor, { token })).toEqual({ valid: true, reason: null, id: imported.id })
  await revokeToken(editor, { id: imported.id })
  expect(await verifyToken(editor, { token })).toEqual({ valid: false, reason: 'revoked', id: imported.id })
  await expect(importToken(editor, { name: 'again', token })).rejects.toMatchObject({
    details: [{ field: 'token', problem: 'already_known' }],
  })
})

test.each([
  ['x'.repeat(31), { problem: 'too_short', min: 32 }],
  ['x'.repeat(257), { problem: 'too_long', max: 256 }],
  [`${'x'.repeat(40)} y`, { problem: 'malformed' }],
  [`psin_${'x'.repeat(40)}`, { problem: 'own_form' }],
])('T-15: refuses to import %s', async (token, problem) => {
  await expect(importToken(editor, { name: 'a', token })).rejects.toMatchObject({
    code: 'invalid_field',
    details: [{ field: 'token', ...problem }],
  })
})

test('verifyToken returns the verdict that the gate would reach', async () => {
  const { id, token } = await createToken(editor, {
    name: 'ci',
    signals: ['logs'],
    allowed_origins: ['https://a.example'],
  })
  expect(await verifyToken(editor, { token })).toEqual({ valid: true, reason: null, id })
  expect(await verifyToken(editor, { token, signal: 'traces' })).toEqual({ valid: false, reason: 'signal', id })
  expect(await verifyToken(editor, { token, origin: 'https://b.example' })).toEqual({
    valid: false,
    reason: 'origin',
    id,
  })
  expect(await verifyToken(editor, { token: `${token}x` })).toEqual({ valid: false, reason: 'malformed', id: null })
  await updateToken(editor, { id, body: { disabled: true } })
  expect(await verifyToken(editor, { token })).toEqual({ valid: false, reason: 'disabled', id })
})

test('O-14: every change is audited with its actor and source', async () => {
  const { id } = await createToken(editor, { name: 'ci' })
  await updateToken(editor, { id, body: { tenant: 'acme' } })
  await rotateToken(editor, { id, body: {} })
  await revokeToken(editor, { id })
  expect(await events()).toEqual(['token.revoked', 'token.rotated', 'token.updated', 'token.created'])
  const [, , updated] = (await listAudit(gateway.as('Admin'), {})).events
  expect(updated).toMatchObject({
    at: '2026-11-21T07:00:00Z',
    actor: { id: 'key-Editor', role: 'Editor' },
    source: '192.0.2.7',
    request_id: 'request-1',
    subject_id: id,
    before: { tenant: null },
    after: { tenant: 'acme' },
  })
})

describe('updateToken', () => {
  test('changes only the fields in the body', async () => {
    const { id } = await createToken(editor, { name: 'ci', tenant: 'acme', tags: { a: '1' } })
    const changed = await updateToken(editor, {
      id,
      body: { name: 'cd', tenant: null, limits: { all: { day: { bytes: 9 } } } },
    })
    expect(changed).toMatchObject({
      name: 'cd',
      tenant: null,
      tags: { a: '1' },
      limits: { all: { day: { bytes: 9 } } },
    })
    expect(changed).not.toHaveProperty('token')
  })

  test('T-9, X-13: changes of query use and certificates apply from the next request', async () => {
    const created = await createToken(editor, { name: 'ci', client_certificate_sans: ['DNS:a.example'] })
    const { id } = created
    const body = { allow_query: true, client_certificate_sans: ['DNS:b.example'] }
    const changed = await updateToken(editor, { id, body, ifMatch: tokenETag(created) })
    expect(changed).toMatchObject(body)
    expect(tokenETag(changed)).not.toBe(tokenETag(created))
    expect((await loadSnapshot(gateway.db, START_MS)).byId.get(id)).toMatchObject({
      allowQuery: true,
      certificateNames: ['DNS:b.example'],
    })
    expect(gateway.propagations).toBe(2)
    expect(await rotateToken(editor, { id, body: {} })).toMatchObject(body)
    const { events } = await listAudit(gateway.as('Admin'), {})
    expect(events.find(({ event }) => event === 'token.updated')).toMatchObject({
      before: { allow_query: false, client_certificate_sans: ['DNS:a.example'] },
      after: body,
    })
  })

  test('an update that changes nothing is not audited and keeps the epoch', async () => {
    const { id } = await createToken(editor, { name: 'ci' })
    await updateToken(editor, { id, body: {} })
    await updateToken(editor, {
      id,
      body: { name: 'ci', signals: ['logs', 'traces', 'metrics', 'profiles'], tags: {}, limits: {} },
    })
    expect(await events()).toEqual(['token.created'])
    expect(await currentEpoch(gateway.db)).toBe(2)
  })

  test('T-13: only changes that affect the data path increase the epoch', async () => {
    const { id } = await createToken(editor, { name: 'ci' })
    await updateToken(editor, { id, body: { description: 'x', tags: { a: 'b' } } })
    expect(await currentEpoch(gateway.db)).toBe(2)
    await updateToken(editor, { id, body: { disabled: true } })
    expect(await currentEpoch(gateway.db)).toBe(3)
    expect(gateway.propagations).toBe(2)
  })

  test('If-Match: the second of two updates of the same version fails', async () => {
    const created = await createToken(editor, { name: 'ci' })
    const ifMatch = tokenETag(created)
    const { id } = created
    const first = await updateToken(editor, { id, body: { description: 'mine' }, ifMatch })
    await expect(updateToken(editor, { id, body: { description: 'his' }, ifMatch })).rejects.toMatchObject({
      code: 'precondition_failed',
    })
    await updateToken(editor, { id, body: { description: 'his' }, ifMatch: tokenETag(first) })
    await updateToken(editor, { id, body: { description: 'hers' }, ifMatch: '*' })
  })

  test('a new expiry resets the expiry warnings', async () => {
    const { id } = await createToken(editor, { name: 'ci', expires_at: '2026-11-22T00:00:00Z' })
    await gateway.db.write((tx) => tx.updateTable('ingest_tokens').set({ expiry_warned_ms: 3_600_000 }).execute())
    await updateToken(editor, { id, body: { expires_at: '2026-12-22T00:00:00Z' } })
    expect(await gateway.db.read.selectFrom('ingest_tokens').select('expiry_warned_ms').execute()).toEqual([
      { expiry_warned_ms: null },
    ])
  })
})
