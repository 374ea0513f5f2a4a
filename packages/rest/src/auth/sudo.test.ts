import { describe, expect, test } from 'vitest'
import { RestError } from '../routing/rest-error.ts'
import { authenticate } from './authenticate.ts'
import {
  ask,
  filled,
  jobs,
  mira,
  oauth,
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

describe('sudo', () => {
  const as = (sudo: unknown, value: string): RequestParts => ({
    parameters: { sudo },
    headers: { 'private-token': value },
  })
  const oauthAs = (sudo: string, value: string): RequestParts => ({
    headers: { authorization: `Bearer ${value}`, sudo },
  })

  test.each<[string, () => RequestParts, string]>([
    ['by name', () => as('mira', '{rootSudo}'), 'mira'],
    ['in any letter case', () => as('MiRa', '{rootSudo}'), 'mira'],
    ['by id', () => as(String(mira.id), '{rootSudo}'), 'mira'],
    ['by id as a JSON number', () => as(mira.id, '{rootSudo}'), 'mira'],
    [
      'the parameter before the header',
      () => ({ ...as('mira', ''), headers: { 'private-token': '{rootSudo}', sudo: 'root' } }),
      'mira',
    ],
    ['with OAuth, in the header', () => oauthAs('mira', '{oauthSudo}'), 'mira'],
    ['only the scope sudo is needed for POST', () => ({ ...as('mira', '{rootSudo}'), method: 'POST' }), 'mira'],
    ['blank is ignored', () => as('', '{root}'), 'root'],
  ])('%s', async (_, request, expected) => {
    expect(await who(request())).toBe(expected)
  })

  test('returns the id of the administrator besides the actor', async () => {
    expect(await ask(as('mira', '{rootSudo}'))).toMatchObject({ actor: { id: mira.id }, sudoerId: root.id })
    expect(await ask(as('', '{root}'))).not.toHaveProperty('sudoerId')
  })

  test('is rejected after the user is no longer an administrator', async () => {
    expect(await who(oauthAs('mira', '{oauthSudo}'))).toBe('mira')
    await world.core.db.write((db) => db.updateTable('users').set({ is_admin: 0 }).where('id', '=', root.id).execute())
    for (const request of [as('mira', '{rootSudo}'), oauthAs('mira', '{oauthSudo}')])
      expect(await refusalOf(request)).toMatchObject({ status: 403, body: notAdmin })
  })

  const notAdmin = { message: '403 Forbidden - Must be admin to use sudo' }
  const wrongKind = {
    message: '403 Forbidden - Must be authenticated using an OAuth or personal access token to use sudo',
  }
  const noScope = {
    error: 'insufficient_scope',
    error_description: 'The request requires higher privileges than provided by the access token.',
    scope: 'sudo',
  }
  const ghost = { message: '404 User with ID or username ghost Not Found' }

  test.each<[string, RequestParts, number, object]>([
    ['anonymous', { parameters: { sudo: 'mira' } }, 401, { message: '401 Unauthorized' }],
    ['a user who is not an administrator, before the scope', as('root', '{mira}'), 403, notAdmin],
    ['a bot', as('root', '{bot}'), 403, notAdmin],
    ['a session', { parameters: { sudo: 'mira' }, headers: { cookie: '_svc_session={rootSession}' } }, 403, wrongKind],
    ['a job', { parameters: { sudo: 'ghost' }, headers: { 'job-token': '{rootJob}' }, access: jobs }, 403, wrongKind],
    ['a token without the scope, before the user', as('ghost', '{root}'), 403, noScope],
    ['OAuth without the scope', oauthAs('mira', '{oauth}'), 403, noScope],
    ['an unknown username', as('ghost', '{rootSudo}'), 404, ghost],
    [
      'an unknown id',
      as('99999999999999999999', '{rootSudo}'),
      404,
      { message: '404 User with ID or username 99999999999999999999 Not Found' },
    ],
  ])('rejects %s', async (_, request, status, body) => {
    expect(await refusalOf(request)).toMatchObject({ status, body })
  })
})

describe('with admin mode', () => {
  /** Returns whether the actor has the rights of an administrator. */
  async function isAdministrator(headers: Record<string, string>, parameters: Record<string, string> = {}) {
    const core = { ...world.core, settings: { ...world.core.settings, pinnedSettings: { admin_mode: true } } }
    const request = { method: 'GET', headers: filled(headers) as Record<string, string>, parameters, source: '::1' }
    const access = { scopes: [], takesJobTokens: true, authenticates: true }
    const answer = await authenticate(core, request, access).catch((error: RestError) => error)
    return answer instanceof RestError ? answer.body : answer.actor?.isAdministrator
  }

  test.each<[string, Record<string, string>, boolean]>([
    ['a token without the scope admin_mode does not act as an administrator', { 'private-token': '{root}' }, false],
    ['a token with the scope', { 'private-token': '{rootAdmin}' }, true],
    ['OAuth without the scope', { authorization: 'Bearer {oauth}' }, false],
    ['OAuth with the scope', { authorization: 'Bearer {oauthAdmin}' }, true],
    ['a job', { 'job-token': '{rootJob}' }, false],
    [
      'a session has no scopes, so it does not act as an administrator',
      { cookie: '_svc_session={rootSession}' },
      false,
    ],
  ])('%s', async (_, headers, expected) => {
    values.rootAdmin = await personal(root, ['api', 'admin_mode'])
    values.oauthAdmin = await oauth(root, 'api admin_mode')
    expect(await isAdministrator(headers)).toBe(expected)
  })

  test('sudo also needs the scope admin_mode', async () => {
    const [without, both] = [await personal(root, ['sudo']), await personal(root, ['sudo', 'admin_mode'])]
    expect(await isAdministrator({ 'private-token': without }, { sudo: 'root' })).toEqual({
      message: '403 Forbidden - Must be admin to use sudo',
    })
    expect(await isAdministrator({ 'private-token': both }, { sudo: 'root' })).toBe(true)
  })
})
