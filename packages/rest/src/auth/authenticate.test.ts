import {
  createImpersonationToken,
  getOwnToken,
  revokePersonalToken,
  rotatePersonalToken,
  standingOf,
} from '@penstock/core'
import { describe, expect, test } from 'vitest'
import type { RestError } from '../routing/rest-error.ts'
import { authenticate } from './authenticate.ts'
import {
  ask,
  DAY_MS,
  jobs,
  mira,
  personal,
  type RequestParts,
  refusalOf,
  root,
  values,
  who,
  withCredentials,
  world,
} from './credentials.harness.ts'

withCredentials()

describe('places of a credential', () => {
  test.each<[string, RequestParts, string | number]>([
    ['nothing', {}, 'anonymous'],
    ['personal, in its header', { headers: { 'private-token': '{mira}' } }, 'mira'],
    ['personal, as parameter', { parameters: { private_token: '{mira}' } }, 'mira'],
    ['personal, as Bearer', { headers: { authorization: 'Bearer {mira}' } }, 'mira'],
    ['bearer in any letter case', { headers: { authorization: 'bearer {mira}' } }, 'mira'],
    ['project', { headers: { 'private-token': '{bot}' } }, 'project_1_bot_hex'],
    ['OAuth, as Bearer', { headers: { authorization: 'Bearer {oauth}' } }, 'root'],
    ['OAuth, as parameter', { parameters: { access_token: '{oauth}' } }, 'root'],
    ['OAuth, as bearer_token', { parameters: { bearer_token: '{oauth}' } }, 'root'],
    ['OAuth in the header for personal tokens', { headers: { 'private-token': '{oauth}' } }, 401],
    [
      'a known OAuth token before a personal one',
      { headers: { authorization: 'Bearer {oauth}', 'private-token': '{mira}' } },
      'root',
    ],
    [
      'an unknown Bearer gives way to a personal token',
      { headers: { authorization: 'Bearer {unknown}', 'private-token': '{mira}' } },
      'mira',
    ],
    [
      'the parameter before the header',
      { parameters: { private_token: '{root}' }, headers: { 'private-token': '{mira}' } },
      'root',
    ],
    [
      'an unknown one is an error even if a valid one follows',
      { parameters: { private_token: '{unknown}' }, headers: { 'private-token': '{mira}' } },
      401,
    ],
    ['unknown, in the header', { headers: { 'private-token': '{unknown}' } }, 401],
    ['unknown, as Bearer', { headers: { authorization: 'Bearer {unknown}' } }, 401],
    ['malformed, as Bearer', { headers: { authorization: 'Bearer {mira} {mira}' } }, 401],
    [
      'malformed, as Bearer, gives way to a personal token',
      { headers: { authorization: 'Bearer a b', 'private-token': '{mira}' } },
      'mira',
    ],
    ['too long', { headers: { 'private-token': 'x'.repeat(257) } }, 401],
    ['blank is ignored', { headers: { 'private-token': ' ', authorization: 'Bearer ' } }, 'anonymous'],
    [
      'unknown, on an endpoint that ignores credentials',
      { headers: { 'private-token': '{unknown}' }, access: { authenticates: false } },
      'anonymous',
    ],
    ['a deploy token in its header is ignored', { headers: { 'deploy-token': '{mira}' } }, 'anonymous'],
    ['Basic is ignored', { headers: { authorization: `Basic ${btoa('mira:secret')}` } }, 'anonymous'],
    ['job, in its header', { headers: { 'job-token': '{job}' }, access: jobs }, 'mira'],
    ['job, as job_token', { parameters: { job_token: '{job}' }, access: jobs }, 'mira'],
    ['job, as token', { parameters: { token: '{job}' }, access: jobs }, 'mira'],
    ['job, as Bearer', { headers: { authorization: 'Bearer {job}' }, access: jobs }, 'mira'],
    ['job, on an endpoint without job tokens', { headers: { 'job-token': '{job}' } }, 'anonymous'],
    ['job as Bearer, on an endpoint without job tokens', { headers: { authorization: 'Bearer {job}' } }, 'anonymous'],
    ['job in the header for personal tokens', { headers: { 'private-token': '{job}' }, access: jobs }, 401],
    ['job that has ended', { headers: { 'job-token': '{endedJob}' }, access: jobs }, 401],
    ['job that has ended, as Bearer', { headers: { authorization: 'Bearer {endedJob}' }, access: jobs }, 401],
    ['job unknown', { headers: { 'job-token': '{unknown}' }, access: jobs }, 401],
    [
      'a personal token before a job’s',
      { headers: { 'private-token': '{root}', 'job-token': '{job}' }, access: jobs },
      'root',
    ],
    ['session', { headers: { cookie: 'a=b; _svc_session={session}' } }, 'mira'],
    ['session unknown', { headers: { cookie: '_svc_session={unknown}' } }, 'anonymous'],
    ['session of another service', { headers: { cookie: '_other_session={session}' } }, 'anonymous'],
    [
      'session without a CSRF token for POST',
      { method: 'POST', headers: { cookie: '_svc_session={session}' } },
      'anonymous',
    ],
    [
      'session with its CSRF token for POST',
      { method: 'POST', headers: { cookie: '_svc_session={session}', 'x-csrf-token': '{csrf}' } },
      'mira',
    ],
    [
      'session with a wrong CSRF token',
      { method: 'DELETE', headers: { cookie: '_svc_session={session}', 'x-csrf-token': 'ab' } },
      'anonymous',
    ],
    [
      'ignores a session in a POST from another site, even with its CSRF token',
      {
        method: 'POST',
        headers: { cookie: '_svc_session={session}', 'x-csrf-token': '{csrf}', 'sec-fetch-site': 'same-site' },
      },
      'anonymous',
    ],
    ['a token before a session', { headers: { 'private-token': '{root}', cookie: '_svc_session={session}' } }, 'root'],
  ])('%s', async (_, request, expected) => {
    expect(await who(request)).toBe(expected)
  })

  test('rejects a request with tokens in both the header and a parameter', async () => {
    const request = { headers: { authorization: 'Bearer {oauth}' }, parameters: { access_token: '{oauth}' } }
    expect(await refusalOf(request)).toEqual({
      status: 400,
      body: {
        error: 'invalid_request',
        error_description: 'Both Authorization header and payload includes access token.',
      },
      header: undefined,
    })
  })

  test('answers an unknown token with 401 Unauthorized', async () => {
    const { status, body } = await refusalOf({ headers: { 'private-token': '{unknown}' } })
    expect([status, body]).toEqual([401, { message: '401 Unauthorized' }])
  })

  test('answers a malformed Bearer token with invalid_token', async () => {
    expect(await refusalOf({ headers: { authorization: 'Bearer a b' } })).toEqual({
      status: 401,
      body: { message: '401 Unauthorized', error: 'invalid_token', error_description: 'Token is malformed.' },
      header: 'Bearer realm="Protected by OAuth 2.0", error="invalid_token", error_description="Token is malformed."',
    })
  })

  test('a job token has no rights in other projects, even if its user is an administrator', async () => {
    const project = await world.project('other', await world.group('web'))
    const { actor } = await ask({ headers: { 'job-token': '{rootJob}' }, access: jobs })
    const standing = await standingOf({ db: world.core.db.read, nowMs: world.clock.nowMs() }, actor, project)
    expect(standing).toMatchObject({ level: 0, isSignedIn: false, isAdministrator: false })
  })

  test('the actor has the id of its token, for endpoints about that token', async () => {
    const { actor } = await ask({ headers: { 'private-token': '{reader}' } })
    expect(await world.perform(actor, getOwnToken, {})).toMatchObject({ scopes: ['read_api'] })
  })
})

describe('a known token that is rejected', () => {
  const REALM = 'Bearer realm="Protected by OAuth 2.0"'
  const invalid = (text: string) => ({
    status: 401,
    body: { message: '401 Unauthorized', error: 'invalid_token', error_description: text },
    header: `${REALM}, error="invalid_token", error_description="${text}"`,
  })
  const insufficientScope = (scope: string) => {
    const text = 'The request requires higher privileges than provided by the access token.'
    return {
      status: 403,
      body: { error: 'insufficient_scope', error_description: text, scope },
      header: `${REALM}, error="insufficient_scope", error_description="${text}", scope="${scope}"`,
    }
  }
  const EXPIRED = 'Token is expired. You can either do re-authorization or token refresh.'
  const REVOKED = 'Token was revoked. You have to re-authorize from the user.'
  const shown = (value: string): RequestParts => ({ headers: { 'private-token': value } })

  test('expired, even if it is revoked as well', async () => {
    const token = await world.perform(mira, rotatePersonalToken, { id: 1, expiresAt: '2026-02-04' })
    await world.perform(mira, revokePersonalToken, { id: token.id })
    expect(await refusalOf(shown(token.value))).toEqual(invalid(REVOKED))
    world.clock.advance(DAY_MS)
    expect(await refusalOf(shown(token.value))).toEqual(invalid(EXPIRED))
  })

  test('an expired OAuth token', async () => {
    world.clock.advance(7_200_000)
    expect(await refusalOf({ headers: { authorization: 'Bearer {oauth}' } })).toEqual(invalid(EXPIRED))
  })

  test('revoked, before its scope is checked; using a rotated token revokes its successors', async () => {
    const { value } = await world.perform(mira, rotatePersonalToken, { id: 1 })
    expect(await who(shown(value))).toBe('mira')
    expect(await refusalOf({ ...shown('{mira}'), method: 'POST' })).toEqual(invalid(REVOKED))
    expect(await refusalOf(shown(value))).toEqual(invalid(REVOKED))
  })

  test.each<[string, RequestParts, string]>([
    ['POST', { ...shown('{reader}'), method: 'POST' }, 'api'],
    ['GET', shown('{rootSudo}'), 'api read_api'],
    ['HEAD', { ...shown('{rootSudo}'), method: 'HEAD' }, 'api read_api'],
    [
      'an endpoint with another scope',
      { ...shown('{rootSudo}'), access: { scopes: ['read_user'] } },
      'api read_api read_user',
    ],
  ])('lacks a scope: %s', async (_, request, scope) => {
    expect(await refusalOf(request)).toEqual(insufficientScope(scope))
  })

  test('accepts read_api for reading, and the scope of an endpoint for that endpoint', async () => {
    expect(await who(shown('{reader}'))).toBe('mira')
    expect(await who({ ...shown('{reader}'), method: 'HEAD' })).toBe('mira')
    values.user = await personal(mira, ['read_user'])
    expect(await who({ ...shown('{user}'), access: { scopes: ['read_user'] } })).toBe('mira')
  })

  test('an impersonation token after impersonation was disabled', async () => {
    const input = { userId: mira.id, name: 'ghost', scopes: ['api'] }
    const { value } = await world.perform(root, createImpersonationToken, input)
    expect(await who(shown(value))).toBe('mira')
    const core = { ...world.core, settings: { ...world.core.settings, impersonationEnabled: false } }
    const request = { method: 'GET', headers: { 'private-token': value }, parameters: {}, source: '::1' }
    const refused = authenticate(core, request, { scopes: [], takesJobTokens: false, authenticates: true })
    expect(await refused.catch(({ body }: RestError) => body)).toMatchObject({
      error_description: 'Token is an impersonation token but impersonation was disabled.',
    })
  })

  test.each([
    ['blocked', 'Your account has been blocked.'],
    ['banned', 'Your account has been blocked.'],
    [
      'deactivated',
      'Your account has been deactivated by your administrator. Please log back in from a web browser to reactivate your account at https://svc.example.test',
    ],
  ] as const)('its user is %s', async (state, reason) => {
    await world.core.db.write((db) => db.updateTable('users').set({ state }).where('id', '=', mira.id).execute())
    const expected = { status: 403, body: { message: `403 Forbidden - ${reason}` }, header: undefined }
    expect(await refusalOf(shown('{mira}'))).toEqual(expected)
    expect(await refusalOf({ headers: { 'job-token': '{job}' }, access: jobs })).toEqual(expected)
  })
})
