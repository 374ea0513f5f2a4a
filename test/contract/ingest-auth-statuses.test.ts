import { Validator } from '@seriousme/openapi-schema-validator'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Called, type CallOptions, IngestAuthWorld } from './ingest-auth-world.ts'

let world: IngestAuthWorld
beforeEach(async () => {
  world = await IngestAuthWorld.open()
})
afterEach(() => world.close())

interface Example {
  readonly method: string
  /** The path, in which `:id` matches an existing token or API key. */
  readonly path: string
  readonly json?: unknown
  readonly success: number
  readonly roles: readonly ('Viewer' | 'Editor' | 'Admin')[]
}

const any = ['Viewer', 'Editor', 'Admin'] as const
const editors = ['Editor', 'Admin'] as const
const admins = ['Admin'] as const

const examples: Record<string, Example> = {
  createToken: { method: 'POST', path: '/tokens', json: { name: 'ci' }, success: 201, roles: editors },
  listTokens: { method: 'GET', path: '/tokens', success: 200, roles: any },
  getToken: { method: 'GET', path: '/tokens/:id', success: 200, roles: any },
  updateToken: { method: 'PATCH', path: '/tokens/:id', json: { tenant: 'blue' }, success: 200, roles: editors },
  rotateToken: { method: 'POST', path: '/tokens/:id/rotate', json: {}, success: 201, roles: editors },
  revokeToken: { method: 'DELETE', path: '/tokens/:id', success: 204, roles: editors },
  verifyToken: { method: 'POST', path: '/tokens/verify', json: { token: 'x' }, success: 200, roles: editors },
  importToken: {
    method: 'POST',
    path: '/tokens/import',
    json: { name: 'from elsewhere', token: 'a-token-of-the-old-collector-12345' },
    success: 201,
    roles: editors,
  },
  getState: { method: 'GET', path: '/state', success: 200, roles: any },
  setState: { method: 'PUT', path: '/state', json: { enabled: false }, success: 200, roles: editors },
  getReadiness: { method: 'GET', path: '/readiness', success: 200, roles: any },
  listProcesses: { method: 'GET', path: '/processes', success: 200, roles: editors },
  listAudit: { method: 'GET', path: '/audit', success: 200, roles: admins },
  createApiKey: {
    method: 'POST',
    path: '/api/v1/api_keys',
    json: { name: 'bot', role: 'Editor' },
    success: 201,
    roles: admins,
  },
  listApiKeys: { method: 'GET', path: '/api/v1/api_keys', success: 200, roles: admins },
  revokeApiKey: { method: 'DELETE', path: '/api/v1/api_keys/:id', success: 204, roles: admins },
}
const rows = Object.entries(examples).map(([name, example]) => ({ name, ...example }))
type Row = (typeof rows)[number]

/** Makes the call of the row, with `changes`. */
async function call({ method, path, json }: Row, changes: CallOptions = {}, id?: string): Promise<Called> {
  const sent = json === undefined || 'body' in changes ? {} : { json }
  return await world.call(method, path.replace(':id', id ?? 'no-such-id00'), { ...sent, ...changes })
}

async function freshId({ path }: Row): Promise<string> {
  if (!path.startsWith('/api/')) return (await world.createToken()).id
  const { json } = await world.call('POST', path.replace('/:id', ''), { json: { name: 'spare', role: 'Viewer' } })
  return json.id
}

const errorText = (code: string) => JSON.stringify({ error: { code, message: '', details: null, request_id: '' } })
const refusal = ({ status, json }: Called) => [status, json?.error?.code]

describe('every call', () => {
  test.each(rows)('$method $path: $success for $roles, 403 for others', async (row) => {
    for (const role of any) {
      const answer = await call(row, { as: role }, await freshId(row))
      if (row.roles.includes(role)) {
        expect(answer.status).toBe(row.success)
        // A token can be imported only once.
        if (row.name === 'importToken') break
      } else {
        expect(refusal(answer)).toEqual([403, 'forbidden'])
        expect(answer.json.error.details).toEqual({ role, needed: row.roles })
      }
    }
  })

  test.each(rows)('$method $path: 401 without exactly one valid key', async (row) => {
    const { id, token } = await world.createToken()
    const { json: ended } = await world.call('POST', '/api/v1/api_keys', {
      json: { name: 'ended', role: 'Admin', expires_at: '2026-11-21T07:04:00Z' },
    })
    await world.clock.advance(60_000)
    const wrong: CallOptions[] = [
      { as: null },
      { as: '' },
      { as: 'psak_7Hq2mK9sT4bZ_0000000000000000000000000000000000000000000000000' },
      { as: token },
      { as: ended.key },
      { as: null, headers: { 'obs-api-key': [world.keys.Admin, world.keys.Admin] } },
      { as: null, headers: { authorization: `Bearer ${world.keys.Admin}` } },
    ]
    for (const options of wrong) expect(refusal(await call(row, options, id))).toEqual([401, 'unauthenticated'])
  })

  test('every described answer occurs, and no other', async () => {
    const spare = await world.createToken({ name: 'spare' })
    for (const row of rows) {
      const { name, roles, success } = row
      const documents = (status: number) => world.check.documented.includes(`${name} ${status}`)
      await call(row, {}, await freshId(row))
      await call(row, { as: null })
      if (documents(403)) await call(row, { as: roles.includes('Editor') ? 'Viewer' : 'Editor' })
      if (documents(404)) await call(row)
      if (documents(400))
        await (row.json === undefined
          ? call({ ...row, path: `${row.path}?x=1` })
          : call(row, { body: '{', headers: { 'content-type': 'application/json' } }))
      if (documents(415)) await call(row, { body: 'x=1', headers: { 'content-type': 'text/plain' } })
      if (documents(413)) await call(row, { json: { name: 'x'.repeat(70_000) } })
      if (documents(200) && success === 201) {
        const id = row.path.includes(':id') ? await freshId(row) : undefined
        const changes = {
          headers: { 'idempotency-key': name },
          ...(name === 'importToken' && { json: { name: 'b', token: 'another-token-of-the-old-collector' } }),
        }
        await call(row, changes, id)
        await call(row, changes, id)
      }
    }
    await world.call('PATCH', `/tokens/${spare.id}`, { json: { name: 'x' }, headers: { 'if-match': '"old"' } })
    await world.call('PUT', '/state', { json: { enabled: true }, headers: { 'if-match': '"0"' } })
    world.readiness = { ...world.readiness, ready: false }
    await world.call('PUT', '/state?require_ready=true', { json: { enabled: true } })

    const { json: tokens } = await world.call('GET', '/tokens')
    for (const { id } of tokens) if (id !== spare.id) await world.call('DELETE', `/tokens/${id}`)
    await world.enforce(true)
    await world.call('DELETE', `/tokens/${spare.id}`)
    await world.call('PATCH', `/tokens/${spare.id}`, { json: { disabled: true } })
    await world.call('DELETE', `/api/v1/api_keys/${world.keyIds.Admin}`)

    for (let attempt = 0; attempt < 30; attempt += 1) await call(rows[0]!, { as: null })
    for (const row of rows) await call(row, { as: null })

    await world.damage('api_keys')
    for (const row of rows) await call(row)

    // Other tests cover these, with other rules, a full store, large rows or a session. Unexpected errors (500) cannot be provoked.
    const elsewhere =
      /^(createToken|importToken|rotateToken|createApiKey) 409$|^(listTokens|listAudit|getReadiness) 413$|^\w+Session /
    const unseen = world.check.documented.filter((answer) => !world.check.seen.has(answer) && !answer.endsWith(' 500'))
    expect(unseen.filter((answer) => !elsewhere.test(answer))).toEqual([])
  })
})

describe('A-6: the order of checks', () => {
  const everythingWrong: CallOptions = { as: null, body: 'x'.repeat(70_000), headers: { 'content-type': 'text/plain' } }

  test('checks the method before the key', async () => {
    const answer = await world.call('PUT', '/tokens', everythingWrong)
    expect([...refusal(answer), answer.headers.allow]).toEqual([405, 'method_not_allowed', 'GET, HEAD, POST'])
  })

  test('checks key, role, media type, size, JSON, fields, existence and state in this order', async () => {
    const { id } = await world.createToken()
    const unknown = '/tokens/no-such-id00'
    const type = { 'content-type': 'application/json' }
    const stale = { 'if-match': '"old"' }
    const answers = [
      await world.call('PATCH', unknown, everythingWrong),
      await world.call('PATCH', unknown, { ...everythingWrong, as: 'Viewer' }),
      await world.call('PATCH', unknown, { ...everythingWrong, as: 'Editor' }),
      await world.call('PATCH', unknown, { body: 'x'.repeat(70_000), headers: { ...type, ...stale } }),
      await world.call('PATCH', unknown, { body: '{"nam', headers: { ...type, ...stale } }),
      await world.call('PATCH', unknown, { json: { name: 7 }, headers: stale }),
      await world.call('PATCH', unknown, { json: { name: 'x' }, headers: stale }),
      await world.call('PATCH', `/tokens/${id}`, { json: { name: 'x' }, headers: stale }),
      await world.call('PATCH', `/tokens/${id}`, { json: { name: 'x' } }),
    ]
    expect(answers.map(refusal)).toEqual([
      [401, 'unauthenticated'],
      [403, 'forbidden'],
      [415, 'unsupported_media_type'],
      [413, 'body_too_large'],
      [400, 'invalid_json'],
      [400, 'invalid_field'],
      [404, 'token_not_found'],
      [412, 'precondition_failed'],
      [200, undefined],
    ])
  })

  test('rejects JSON beyond a limit, with the limit in the message', async () => {
    const type = { 'content-type': 'application/json' }
    const answer = await world.call('POST', '/tokens', { body: '['.repeat(60_000), headers: type })
    expect(refusal(answer)).toEqual([400, 'invalid_json'])
    expect(JSON.stringify(answer)).toContain('The body is nested deeper than 64.')
  })

  test('does not report field errors to a Viewer', async () => {
    const sent = [{ json: { name: 7 } }, { json: { name: 'x' } }, { body: '{' }]
    const answers = await Promise.all(
      sent.map((options) => world.call('POST', '/tokens', { ...options, as: 'Viewer' })),
    )
    expect(new Set(answers.map(({ json }) => JSON.stringify({ ...json.error, request_id: '' }))).size).toBe(1)
  })
})

describe('the OpenAPI document', () => {
  test.each([
    ['an unknown status', { status: 418, text: '{}' }, ['getState does not describe 418']],
    ['a missing field', { text: '{"enabled":true}' }, [expect.stringContaining("must have required property 'mode'")]],
    [
      'an error code of another call',
      { status: 401, text: errorText('not_ready') },
      [
        'GET /api/v1/ingest_auth/state: 401 has no www-authenticate',
        expect.stringContaining('must be equal to one of the allowed values'),
      ],
    ],
    [
      'another type',
      { headers: { 'content-type': 'text/html' }, text: '{}' },
      [expect.stringContaining('is text/html')],
    ],
    [
      'an unknown call',
      { path: '/api/v1/ingest_auth/nothing', text: '' },
      [expect.stringContaining('is not described')],
    ],
  ])('does not allow %s', (_case, wrong, problems) => {
    const answer = {
      method: 'GET',
      path: '/api/v1/ingest_auth/state',
      status: 200,
      headers: { 'content-type': 'application/json; charset=utf-8' },
      ...wrong,
    }
    expect(world.check.validate(answer)).toEqual(problems)
  })

  test('is served without a key, and is valid OpenAPI 3.1', async () => {
    const { status, json } = await world.call('GET', '/api/v1/openapi.json', { as: null })
    expect([status, json.openapi]).toEqual([200, '3.1.0'])
    const result = await new Validator().validate(json)
    expect(result).toMatchObject({ valid: true })
  })

  test('describes every call', async () => {
    const { json } = await world.call('GET', '/api/v1/openapi.json')
    const calls = Object.entries(json.paths as Record<string, object>).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path.replace('/api/v1', '')}`),
    )
    expect(calls.sort()).toEqual([
      'DELETE /api_keys/{id}',
      'DELETE /ingest_auth/tokens/{id}',
      'DELETE /session',
      'GET /api_keys',
      'GET /ingest_auth/audit',
      'GET /ingest_auth/processes',
      'GET /ingest_auth/readiness',
      'GET /ingest_auth/state',
      'GET /ingest_auth/tokens',
      'GET /ingest_auth/tokens/{id}',
      'GET /session',
      'PATCH /ingest_auth/tokens/{id}',
      'POST /api_keys',
      'POST /ingest_auth/tokens',
      'POST /ingest_auth/tokens/import',
      'POST /ingest_auth/tokens/verify',
      'POST /ingest_auth/tokens/{id}/rotate',
      'POST /session',
      'PUT /ingest_auth/state',
    ])
    const sessions = ['createSession', 'getSession', 'endSession']
    expect([...Object.keys(examples), ...sessions].sort()).toEqual(
      Object.values(json.paths as Record<string, Record<string, { operationId: string }>>)
        .flatMap((item) => Object.values(item).map(({ operationId }) => operationId))
        .sort(),
    )
  })
})
