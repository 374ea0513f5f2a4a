import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Called, IngestAuthWorld } from './ingest-auth-world.ts'

let world: IngestAuthWorld
beforeEach(async () => {
  world = await IngestAuthWorld.open()
})
afterEach(() => world.close())

const refusal = ({ status, json }: Called) => [status, json?.error?.code]
const remove = (id: string) => world.call('DELETE', `/tokens/${id}`)

describe('creating', () => {
  test('returns the token with its path and version', async () => {
    const answer = await world.call('POST', '/tokens', { as: 'Editor', json: { name: ' ci-runners ' } })
    expect(answer.status).toBe(201)
    const { id, token } = answer.json
    expect(token).toMatch(new RegExp(`^psin_${id}_[0-9A-Za-z]{49}$`))
    expect(answer.json).toEqual({
      id,
      name: 'ci-runners',
      description: null,
      token,
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
      created_at: '2026-11-21T07:03:00Z',
      created_by: { id: world.keyIds.Editor, role: 'Editor' },
      expires_at: null,
      last_used_at: null,
      supersedes: null,
      warnings: [],
    })
    expect(answer.headers).toMatchObject({
      location: `/api/v1/ingest_auth/tokens/${id}`,
      'cache-control': 'no-store',
      etag: (await world.call('GET', `/tokens/${id}`)).headers.etag,
    })
  })

  test.each([
    [{}, 'invalid_field', [{ field: 'name', problem: 'required' }]],
    [{ name: '  ' }, 'invalid_field', [{ field: 'name', problem: 'too_short', min: 1 }]],
    [{ name: 'x'.repeat(81) }, 'invalid_field', [{ field: 'name', problem: 'too_long', max: 80 }]],
    [{ name: 'x', colour: 1 }, 'unknown_field', [{ field: 'colour', problem: 'unknown' }]],
    [
      { name: 'x', expires_at: '2026-11-21T07:03:00Z' },
      'invalid_field',
      [{ field: 'expires_at', problem: 'not_in_the_future' }],
    ],
    [{ name: 'x', signals: [] }, 'invalid_field', [{ field: 'signals', problem: 'too_short', min: 1 }]],
    [[], 'invalid_field', [{ field: '', problem: 'wrong_type', expected: 'object' }]],
  ])('rejects %j with %s', async (json, code, details) => {
    const answer = await world.call('POST', '/tokens', { json })
    expect(refusal(answer)).toEqual([400, code])
    expect(answer.json.error.details).toEqual(details)
  })

  test('warns if a name is in use, or rejects it if names must be unique', async () => {
    await world.createToken({ name: 'twin' })
    expect((await world.call('POST', '/tokens', { json: { name: 'twin' } })).json.warnings).toEqual(['name_in_use'])

    const strict = await IngestAuthWorld.open({ uniqueNames: true, tokenLimit: 2 })
    const { id } = await strict.createToken({ name: 'twin' })
    expect(refusal(await strict.call('POST', '/tokens', { json: { name: 'twin' } }))).toEqual([409, 'name_in_use'])
    const imported = { name: 'twin', token: 'a-token-of-the-old-collector-12345' }
    expect(refusal(await strict.call('POST', '/tokens/import', { json: imported }))).toEqual([409, 'name_in_use'])
    await strict.createToken({ name: 'second' })
    expect(refusal(await strict.call('POST', '/tokens', { json: { name: 'third' } }))).toEqual([
      409,
      'token_limit_reached',
    ])
    expect(refusal(await strict.call('POST', `/tokens/${id}/rotate`))).toEqual([409, 'token_limit_reached'])
    await strict.close()
  })

  test('T-16: rotating without a body lets the old token expire after a day', async () => {
    const { id } = await world.createToken()
    const { status, json } = await world.call('POST', `/tokens/${id}/rotate`)
    expect([status, json.supersedes]).toEqual([201, id])
    expect(json.superseded).toEqual({ id, expires_at: '2026-11-22T07:03:00Z', last_used_at: null })
  })
})

describe('listing', () => {
  test('a Viewer cannot see creators and tokens', async () => {
    const { id } = await world.createToken({ name: 'seen' })
    const { json } = await world.call('GET', '/tokens', { as: 'Viewer' })
    expect(json).toHaveLength(1)
    expect(Object.keys(json[0])).not.toContain('created_by')
    expect(Object.keys(json[0])).not.toContain('token')
    expect(json[0]).toMatchObject({ id, expires_in_seconds: null, expires_soon: false })
  })

  test('returns all tokens if there is no limit parameter', async () => {
    for (let index = 0; index < 60; index += 1) await world.createToken({ name: `t${index}` })
    const { headers, json } = await world.call('GET', '/tokens')
    expect(json.map(({ name }: { name: string }) => name)).toEqual(
      Array.from({ length: 60 }, (_, index) => `t${59 - index}`),
    )
    expect([headers['x-total-count'], headers.link]).toEqual(['60', undefined])
  })

  test('links to the next page with the same filter', async () => {
    for (const name of ['a1', 'b1', 'a2', 'a3']) await world.createToken({ name })
    const first = await world.call('GET', '/tokens?name=a&limit=2&status=valid')
    expect(first.json.map(({ name }: { name: string }) => name)).toEqual(['a3', 'a2'])
    expect(first.headers['x-total-count']).toBe('3')
    const next = /^<(\/api\/v1\/ingest_auth\/tokens\?name=a&limit=2&status=valid&cursor=[\w-]+)>; rel="next"$/.exec(
      String(first.headers.link),
    )
    const second = await world.call('GET', next?.[1] ?? '')
    expect(second.json.map(({ name }: { name: string }) => name)).toEqual(['a1'])
    expect(second.headers.link).toBeUndefined()
  })

  test('pages show each token once while others are created and revoked', async () => {
    const ids: string[] = []
    for (let index = 0; index < 12; index += 1) ids.push((await world.createToken({ name: `t${index}` })).id)
    const removed = new Set<string>()
    const seen: string[] = []
    let path: string | undefined = '/tokens?limit=3'
    while (path !== undefined) {
      const page: Called = await world.call('GET', path)
      seen.push(...page.json.map(({ id }: { id: string }) => id))
      await world.createToken({ name: 'late' })
      const last = seen.at(-1)!
      const below = ids[ids.indexOf(last) - 2]
      for (const id of [last, below]) {
        if (id === undefined) continue
        await remove(id)
        removed.add(id)
      }
      path = /<(.*)>/.exec(String(page.headers.link))?.[1]
    }
    expect(seen).toHaveLength(new Set(seen).size)
    expect(ids.toReversed().filter((id) => seen.includes(id))).toEqual(seen)
    expect(ids.filter((id) => !seen.includes(id) && !removed.has(id))).toEqual([])
  })

  test.each([
    ['limit=0', 'invalid_field', 'limit'],
    ['limit=101', 'invalid_field', 'limit'],
    ['limit=1&limit=2', 'invalid_field', 'limit'],
    ['limit=ten', 'invalid_field', 'limit'],
    ['status=gone', 'invalid_field', 'status'],
    ['page=2', 'unknown_field', 'page'],
  ])('rejects %s with %s', async (query, code, field) => {
    const answer = await world.call('GET', `/tokens?${query}`)
    expect(refusal(answer)).toEqual([400, code])
    expect(answer.json.error.details[0].field).toBe(field)
  })

  test.each(['cursor=x', 'cursor=MTIz4', 'cursor='])('rejects %s as a cursor', async (query) => {
    expect(refusal(await world.call('GET', `/tokens?limit=1&${query}`))).toEqual([400, 'invalid_cursor'])
  })

  test('shows revoked tokens only on request', async () => {
    await world.createToken({ name: 'kept' })
    await remove((await world.createToken({ name: 'gone' })).id)
    const names = async (query: string) =>
      (await world.call('GET', `/tokens${query}`)).json.map(({ name }: { name: string }) => name)
    expect(await names('')).toEqual(['kept'])
    expect(await names('?status=revoked')).toEqual(['gone'])
    expect(await names('?status=all')).toEqual(['gone', 'kept'])
  })
})

test('texts that no token has are not found, or refused, on every database', async () => {
  expect((await world.call('GET', '/tokens/%00')).status).toBe(404)
  expect((await world.call('DELETE', '/api/v1/api_keys/%00')).status).toBe(404)
  expect((await world.call('GET', '/tokens?name=%00')).json.error.code).toBe('invalid_field')
})

describe('revoking', () => {
  test('A-1: rejects revoking the last valid token while enforcement is on, with remedies', async () => {
    const { id } = await world.createToken()
    await world.enforce(true)
    const answer = await remove(id)
    expect(refusal(answer)).toEqual([409, 'last_valid_token'])
    expect(answer.json.error.details).toEqual({
      token_id: id,
      valid_tokens: 1,
      enforcement: 'enabled',
      remedies: ['create_token', 'disable_enforcement'],
    })
    expect((await world.call('GET', `/tokens/${id}`)).json.status).toBe('valid')
    const { json } = await world.call('GET', '/audit')
    expect(json[0]).toMatchObject({ event: 'token.revoke_refused', subject_id: id, source: '127.0.0.1' })
  })

  test('A-1: expired and disabled tokens are not treated as valid, and can always be revoked', async () => {
    const { id: ended } = await world.createToken({ expires_at: '2026-11-21T07:04:00Z' })
    const { id: disabled } = await world.createToken()
    const { id: last } = await world.createToken()
    await world.call('PATCH', `/tokens/${disabled}`, { json: { disabled: true } })
    await world.clock.advance(60_000)
    await world.enforce(true)
    expect((await remove(last)).status).toBe(409)
    expect([(await remove(ended)).status, (await remove(disabled)).status]).toEqual([204, 204])
    expect((await remove(last)).status).toBe(409)
  })

  test('A-2: exactly one of two parallel DELETEs of the last two tokens succeeds', async () => {
    await world.enforce(true)
    let kept: string | undefined
    for (let round = 0; round < 10; round += 1) {
      const pair = [kept ?? (await world.createToken()).id, (await world.createToken()).id]
      const answers = await Promise.all(pair.map(remove))
      expect(answers.map(({ status }) => status).sort()).toEqual([204, 409])
      kept = pair[answers.findIndex(({ status }) => status === 409)]
      expect((await world.call('GET', '/state')).json.valid_tokens).toBe(1)
    }
  })

  test('A-2: the last valid token cannot be disabled either, even in parallel with a DELETE', async () => {
    const [one, other] = [await world.createToken(), await world.createToken()]
    await world.enforce(true)
    const answers = await Promise.all([
      world.call('PATCH', `/tokens/${one.id}`, { json: { disabled: true } }),
      remove(other.id),
    ])
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(1)
  })

  test('A-3: the last token can be revoked once if enforcement is off', async () => {
    const { id } = await world.createToken()
    const gone = await remove(id)
    expect([gone.status, gone.text, gone.headers['content-type']]).toEqual([204, '', undefined])
    expect(refusal(await remove(id))).toEqual([404, 'token_not_found'])
  })
})

describe('changing', () => {
  test('If-Match lets only one of two parallel changes succeed', async () => {
    const { id } = await world.createToken()
    const etag = String((await world.call('GET', `/tokens/${id}`)).headers.etag)
    const change = (tenant: string) =>
      world.call('PATCH', `/tokens/${id}`, { json: { tenant }, headers: { 'if-match': etag } })
    const answers = await Promise.all([change('blue'), change('green')])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412])
    const winner = answers.find(({ status }) => status === 200)!
    expect(winner.headers.etag).not.toBe(etag)
    expect((await world.call('GET', `/tokens/${id}`)).headers.etag).toBe(winner.headers.etag)
  })

  test('the secret can be neither changed nor read', async () => {
    const { id, token } = await world.createToken()
    expect(refusal(await world.call('PATCH', `/tokens/${id}`, { json: { token } }))).toEqual([400, 'unknown_field'])
    const { json } = await world.call('PATCH', `/tokens/${id}`, { json: { name: 'renamed' } })
    expect([json.name, json.token]).toEqual(['renamed', undefined])
  })
})

describe('verifying', () => {
  test('returns the reason, and the id only for a right secret', async () => {
    const { id, token } = await world.createToken({ signals: ['traces'] })
    const check = async (json: object) => (await world.call('POST', '/tokens/verify', { json })).json
    expect(await check({ token })).toEqual({ valid: true, reason: null, id })
    expect(await check({ token, signal: 'logs' })).toEqual({ valid: false, reason: 'signal', id })
    expect(await check({ token: `${token}x` })).toEqual({ valid: false, reason: 'malformed', id: null })
    await remove(id)
    expect(await check({ token })).toEqual({ valid: false, reason: 'revoked', id })
  })
})
