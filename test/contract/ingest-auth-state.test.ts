import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Called, IngestAuthWorld } from './ingest-auth-world.ts'

let world: IngestAuthWorld
beforeEach(async () => {
  world = await IngestAuthWorld.open()
})
afterEach(() => world.close())

const refusal = ({ status, json }: Called) => [status, json?.error?.code]
const set = (json: unknown, query = '') => world.call('PUT', `/state${query}`, { as: 'Editor', json })

describe('enforcement', () => {
  test('is off at first, and can be enabled and disabled', async () => {
    await world.createToken()
    const initial = (await world.call('GET', '/state')).json
    expect(initial).toMatchObject({
      enabled: false,
      mode: 'off',
      changed_at: null,
      changed_by: null,
      grace_until: null,
    })

    const on = await set({ enabled: true })
    expect(on.json).toMatchObject({
      enabled: true,
      mode: 'enforce',
      changed_at: '2026-11-21T07:03:00Z',
      changed_by: { id: world.keyIds.Editor },
      valid_tokens: 1,
      propagation: { instances: 2, applied: 2 },
      warnings: [],
    })
    expect(on.json.epoch).toBeGreaterThan(initial.epoch)
    expect(on.headers.etag).toBe(`"${on.json.epoch}"`)

    const off = await set({ enabled: false })
    expect(off.json).toMatchObject({ enabled: false, mode: 'off' })
    const { json } = await world.call('GET', '/audit?event=state.changed')
    expect(json.map(({ after }: { after: { mode: string } }) => after.mode)).toEqual(['off', 'enforce'])
  })

  test('does not change if the value is the same', async () => {
    await world.createToken()
    const { epoch } = (await set({ enabled: true })).json
    const again = await set({ enabled: true })
    expect([again.status, again.json.epoch]).toEqual([200, epoch])
  })

  test('a Viewer cannot see who changed it', async () => {
    await set({ enabled: true })
    expect(Object.keys((await world.call('GET', '/state', { as: 'Viewer' })).json)).not.toContain('changed_by')
  })

  test.each([
    [{ enabled: 'true' }, 'invalid_field', 'enabled'],
    [{ enabled: 1 }, 'invalid_field', 'enabled'],
    [{ enabled: null }, 'invalid_field', 'enabled'],
    [{}, 'invalid_field', 'enabled'],
    [{ enabled: true, mode: 'warn' }, 'invalid_field', 'mode'],
    [{ enabled: false, mode: 'enforce' }, 'invalid_field', 'mode'],
    [{ enabled: true, grace_seconds: 86_401 }, 'invalid_field', 'grace_seconds'],
    [{ enabled: true, grace_seconds: 0.5 }, 'invalid_field', 'grace_seconds'],
    [{ enabled: true, force: true }, 'unknown_field', 'force'],
  ])('rejects %j with %s for %s', async (json, code, field) => {
    const answer = await set(json)
    expect(refusal(answer)).toEqual([400, code])
    expect(answer.json.error.details[0].field).toBe(field)
    expect((await world.call('GET', '/state')).json.enabled).toBe(false)
  })

  test('can be enabled without a valid token, with a warning', async () => {
    expect((await set({ enabled: true })).json).toMatchObject({ valid_tokens: 0, warnings: ['no_valid_token'] })
  })

  test('shows the end of a grace period', async () => {
    expect((await set({ enabled: true, grace_seconds: 300 })).json.grace_until).toBe('2026-11-21T07:08:00Z')
    await world.clock.advance(300_000)
    expect((await world.call('GET', '/state')).json.grace_until).toBeNull()
  })

  test('answers 412 to the second of two changes based on the same state', async () => {
    const etag = String((await world.call('GET', '/state')).headers.etag)
    const change = (json: object) => world.call('PUT', '/state', { json, headers: { 'if-match': etag } })
    const answers = await Promise.all([change({ enabled: true }), change({ enabled: false, mode: 'report' })])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412])
  })
})

const client = {
  network: '192.0.2.0/24',
  user_agent: 'otel-collector',
  signal: 'traces',
  transport: 'grpc',
  service_name: 'svc-ci',
  service_names: ['svc-ci'],
  reason: 'missing',
  token_id: null,
  first_seen: '2026-11-21T06:00:00Z',
  last_seen: '2026-11-21T07:00:00Z',
  count: 7,
}

describe('readiness', () => {
  const notReady = { ready: false, requests: 9, would_reject: 7, clients: [client] }

  test('require_ready answers 409 with the report, or proceeds if the report is empty', async () => {
    const ready = world.readiness
    world.readiness = { ...ready, ...notReady }
    const refused = await set({ enabled: true }, '?require_ready=true')
    expect(refusal(refused)).toEqual([409, 'not_ready'])
    expect(refused.json.error.details).toMatchObject(notReady)
    expect((await set({ enabled: true }, '?require_ready=false')).status).toBe(200)
    await set({ enabled: false })
    expect((await set({ enabled: false }, '?require_ready=true')).status).toBe(200)
    world.readiness = ready
    expect((await set({ enabled: true }, '?require_ready=true')).json.enabled).toBe(true)
  })

  test.each(['require_ready=yes', 'require_ready=', 'require_redy=true'])(
    'rejects %s instead of ignoring it',
    async (query) => {
      expect((await set({ enabled: true }, `?${query}`)).status).toBe(400)
    },
  )

  test('a Viewer cannot see network addresses', async () => {
    world.readiness = { ...world.readiness, ...notReady }
    const networks = async (as: string) => (await world.call('GET', '/readiness', { as })).json.clients[0].network
    expect([await networks('Editor'), await networks('Viewer')]).toEqual(['192.0.2.0/24', undefined])
  })

  test('the window is a day by default', async () => {
    for (const query of ['', '?window=90m', '?window=24h']) await world.call('GET', `/readiness${query}`)
    expect(world.windowsMs).toEqual([86_400_000, 5_400_000, 86_400_000])
  })

  test.each(['25h', '0h', '1d', '1.5h', ''])('rejects a window of %j', async (window) => {
    const answer = await world.call('GET', `/readiness?window=${window}`)
    expect([...refusal(answer), answer.json.error.details[0].field]).toEqual([400, 'invalid_field', 'window'])
  })
})

describe('the audit log', () => {
  test('records the actor, action, source and request', async () => {
    const { id } = await world.createToken()
    const { headers } = await world.call('DELETE', `/tokens/${id}`, {
      as: 'Editor',
      headers: { 'x-request-id': 'build-17' },
    })
    expect(headers['x-request-id']).toBe('build-17')
    const { json } = await world.call('GET', '/audit?limit=1')
    expect(json).toMatchObject([
      {
        at: '2026-11-21T07:03:00Z',
        event: 'token.revoked',
        actor: { id: world.keyIds.Editor, role: 'Editor' },
        source: '127.0.0.1',
        request_id: 'build-17',
        subject_id: id,
      },
    ])
  })

  test('has pages', async () => {
    for (let index = 0; index < 3; index += 1) await world.createToken()
    const first = await world.call('GET', '/audit?limit=2&event=token.created')
    expect(first.json).toHaveLength(2)
    const second = await world.call('GET', /<(.*)>/.exec(String(first.headers.link))?.[1] ?? '')
    expect([second.json.length, second.headers.link]).toEqual([1, undefined])
  })

  test('records rejected calls without a valid key or a sufficient role', async () => {
    await world.call('POST', '/tokens', { as: null, json: { name: 'x' } })
    await world.call('PUT', '/state', { as: 'Viewer', json: { enabled: true } })
    const { json } = await world.call('GET', '/audit?event=api.denied')
    expect(json).toMatchObject([
      { actor: { id: world.keyIds.Viewer, role: 'Viewer' }, after: { operation: 'setState', code: 'forbidden' } },
      { actor: null, source: '127.0.0.1', after: { operation: 'createToken', code: 'unauthenticated' } },
    ])
  })
})
