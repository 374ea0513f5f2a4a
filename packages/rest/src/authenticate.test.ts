import {
  accessLevels,
  createImpersonationToken,
  createJobToken,
  createPersonalToken,
  createProjectToken,
  csrfTokenOf,
  getOwnToken,
  grantToken,
  revokeJobToken,
  revokePersonalToken,
  rotatePersonalToken,
  signIn,
  standingOf,
  type User,
} from '@penstock/core'
import { World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { authenticate, type CredentialRequest, type EndpointAccess } from './authenticate.ts'
import { RestError } from './rest-error.ts'

const DAY_MS = 86_400_000
let world: World
let root: User
let mira: User
/** Values by what they are. */
let values: Record<string, string>

beforeEach(async () => {
  world = await World.open()
  root = await world.user('root', { isAdministrator: true })
  mira = await world.user('mira')
  await world.core.db.write((db) => db.updateTable('users').set({ password_hash: passwordHash }).execute())
  const project = await world.project('tools', await world.group('ops'))
  await world.member(project, mira, accessLevels.developer)
  const ended = await world.perform(root, createJobToken, { project: project.id, userId: mira.id })
  await world.perform(root, revokeJobToken, { id: ended.id })
  values = {
    mira: await personal(mira, ['api']),
    root: await personal(root, ['api']),
    rootSudo: await personal(root, ['sudo']),
    reader: await personal(mira, ['read_api']),
    bot: (await world.perform(root, createProjectToken, { project: project.id, name: 'ci', scopes: ['api'] })).value,
    job: (await world.perform(root, createJobToken, { project: project.id, userId: mira.id })).value,
    rootJob: (await world.perform(root, createJobToken, { project: project.id, userId: root.id })).value,
    endedJob: ended.value,
    oauth: await oauth(root, 'api'),
    oauthSudo: await oauth(root, 'sudo'),
    session: await session(mira),
    rootSession: await session(root),
    unknown: 'svcpat-0000000000000000000000000000000000000000000',
  }
  values.csrf = csrfTokenOf(values.session!)
})

afterEach(() => world.close())

const personal = async (user: User, scopes: string[], given: object = {}) =>
  (await world.perform(root, createPersonalToken, { userId: user.id, name: 'ci', scopes, ...given })).value

const password = 'correct horse'
/** Of that password; cheap. */
const passwordHash = '$argon2id$v=19$m=1024,p=1,t=2$QUFBQUFBQUFBQUFBQUFBQQ$LthcQ44d3/9Q12bbVUAELoSTNWs0q1Rcx7tFAjyV5hU'

async function oauth({ username }: User, scope: string): Promise<string> {
  const request = { grantType: 'password', username, password, scope, address: '::1' }
  return (await grantToken(world.core, request)).accessToken
}

async function session({ username }: User): Promise<string> {
  const outcome = await signIn(world.core, { login: username, password, address: '::1' }, undefined)
  return outcome.kind === 'signed_in' ? outcome.sessionSecret : expect.unreachable()
}

type Given = Partial<CredentialRequest> & { readonly access?: Partial<EndpointAccess> }

/** `{mira}` in a header or parameter stands for the value of that name. */
const filled = (record: Readonly<Record<string, unknown>> = {}) =>
  Object.fromEntries(
    Object.entries(record).map(([name, text]) => [
      name,
      typeof text === 'string' ? text.replace(/\{(\w+)\}/g, (_, value: string) => values[value]!) : text,
    ]),
  )

const ask = ({ method = 'GET', headers, parameters, access }: Given) =>
  authenticate(
    world.core,
    { method, headers: filled(headers) as CredentialRequest['headers'], parameters: filled(parameters), source: '::1' },
    { scopes: [], takesJobTokens: false, asks: true, ...access },
  )

/** Username, or `nobody`, or the status of the refusal. */
const who = (given: Given) =>
  ask(given).then(
    ({ actor }) => actor?.username.replace(/_[0-9a-f]{32}$/, '_hex') ?? 'nobody',
    (error: RestError) => error.status,
  )
const refusalOf = (given: Given) =>
  ask(given).then(
    () => expect.unreachable(),
    (error) => {
      if (!(error instanceof RestError)) throw error
      for (const value of Object.values(values)) expect(JSON.stringify([error, error.stack])).not.toContain(value)
      return { status: error.status, body: error.body, header: error.headers['WWW-Authenticate'] }
    },
  )

const jobs = { takesJobTokens: true }

describe('where a credential is looked for (2.1)', () => {
  test.each<[string, Given, string | number]>([
    ['nothing', {}, 'nobody'],
    ['personal, in its header', { headers: { 'private-token': '{mira}' } }, 'mira'],
    ['personal, as parameter', { parameters: { private_token: '{mira}' } }, 'mira'],
    ['personal, as Bearer', { headers: { authorization: 'Bearer {mira}' } }, 'mira'],
    ['bearer in any letter case', { headers: { authorization: 'bearer {mira}' } }, 'mira'],
    ['project', { headers: { 'private-token': '{bot}' } }, 'project_1_bot_hex'],
    ['OAuth, as Bearer', { headers: { authorization: 'Bearer {oauth}' } }, 'root'],
    ['OAuth, as parameter', { parameters: { access_token: '{oauth}' } }, 'root'],
    ['OAuth, as bearer_token', { parameters: { bearer_token: '{oauth}' } }, 'root'],
    ['OAuth where only a personal one may stand', { headers: { 'private-token': '{oauth}' } }, 401],
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
      'an unknown one is an error, whatever comes later',
      { parameters: { private_token: '{unknown}' }, headers: { 'private-token': '{mira}' } },
      401,
    ],
    ['unknown, in the header', { headers: { 'private-token': '{unknown}' } }, 401],
    ['unknown, as Bearer', { headers: { authorization: 'Bearer {unknown}' } }, 401],
    ['no token at all, as Bearer', { headers: { authorization: 'Bearer {mira} {mira}' } }, 401],
    [
      'no token at all, as Bearer, gives way to a personal token',
      { headers: { authorization: 'Bearer a b', 'private-token': '{mira}' } },
      'mira',
    ],
    ['too long to be one', { headers: { 'private-token': 'x'.repeat(257) } }, 401],
    ['blank is none', { headers: { 'private-token': ' ', authorization: 'Bearer ' } }, 'nobody'],
    ['unknown, where nobody asks', { headers: { 'private-token': '{unknown}' }, access: { asks: false } }, 'nobody'],
    ['a deploy token in its header is not read', { headers: { 'deploy-token': '{mira}' } }, 'nobody'],
    ['Basic is not read', { headers: { authorization: `Basic ${btoa('mira:secret')}` } }, 'nobody'],
    ['job, in its header', { headers: { 'job-token': '{job}' }, access: jobs }, 'mira'],
    ['job, as job_token', { parameters: { job_token: '{job}' }, access: jobs }, 'mira'],
    ['job, as token', { parameters: { token: '{job}' }, access: jobs }, 'mira'],
    ['job, as Bearer', { headers: { authorization: 'Bearer {job}' }, access: jobs }, 'mira'],
    ['job, where none is taken', { headers: { 'job-token': '{job}' } }, 'nobody'],
    ['job as Bearer, where none is taken', { headers: { authorization: 'Bearer {job}' } }, 'nobody'],
    ['job in the place of a personal one', { headers: { 'private-token': '{job}' }, access: jobs }, 401],
    ['job that has ended', { headers: { 'job-token': '{endedJob}' }, access: jobs }, 401],
    ['job that has ended, as Bearer', { headers: { authorization: 'Bearer {endedJob}' }, access: jobs }, 401],
    ['job unknown', { headers: { 'job-token': '{unknown}' }, access: jobs }, 401],
    [
      'a personal token before a job’s',
      { headers: { 'private-token': '{root}', 'job-token': '{job}' }, access: jobs },
      'root',
    ],
    ['session', { headers: { cookie: 'a=b; _svc_session={session}' } }, 'mira'],
    ['session unknown', { headers: { cookie: '_svc_session={unknown}' } }, 'nobody'],
    ['session of another service', { headers: { cookie: '_other_session={session}' } }, 'nobody'],
    ['session that changes something', { method: 'POST', headers: { cookie: '_svc_session={session}' } }, 'nobody'],
    [
      'session that changes something from a page of ours',
      { method: 'POST', headers: { cookie: '_svc_session={session}', 'x-csrf-token': '{csrf}' } },
      'mira',
    ],
    [
      'session with a wrong proof',
      { method: 'DELETE', headers: { cookie: '_svc_session={session}', 'x-csrf-token': 'ab' } },
      'nobody',
    ],
    [
      'session that changes something, where the browser names another site',
      {
        method: 'POST',
        headers: { cookie: '_svc_session={session}', 'x-csrf-token': '{csrf}', 'sec-fetch-site': 'same-site' },
      },
      'nobody',
    ],
    ['a token before a session', { headers: { 'private-token': '{root}', cookie: '_svc_session={session}' } }, 'root'],
  ])('%s', async (_, given, expected) => {
    expect(await who(given)).toBe(expected)
  })

  test('one in the header and one as parameter is one too many', async () => {
    const given = { headers: { authorization: 'Bearer {oauth}' }, parameters: { access_token: '{oauth}' } }
    expect(await refusalOf(given)).toEqual({
      status: 400,
      body: {
        error: 'invalid_request',
        error_description: 'Both Authorization header and payload includes access token.',
      },
      header: undefined,
    })
  })

  test('an unknown one is answered with the text of the interface', async () => {
    const { status, body } = await refusalOf({ headers: { 'private-token': '{unknown}' } })
    expect([status, body]).toEqual([401, { message: '401 Unauthorized' }])
  })

  test('one that cannot be a token is answered as an invalid one', async () => {
    expect(await refusalOf({ headers: { authorization: 'Bearer a b' } })).toEqual({
      status: 401,
      body: { message: '401 Unauthorized', error: 'invalid_token', error_description: 'Token is malformed.' },
      header: 'Bearer realm="Protected by OAuth 2.0", error="invalid_token", error_description="Token is malformed."',
    })
  })

  test('of another project than its own a job’s token sees what nobody sees', async () => {
    const project = await world.project('other', await world.group('web'))
    const { actor } = await ask({ headers: { 'job-token': '{rootJob}' }, access: jobs })
    const standing = await standingOf({ db: world.core.db.read, nowMs: world.clock.nowMs() }, actor, project)
    expect(standing).toMatchObject({ level: 0, isSignedIn: false, isAdministrator: false })
  })

  test('what an endpoint about the shown token needs comes with the actor', async () => {
    const { actor } = await ask({ headers: { 'private-token': '{reader}' } })
    expect(await world.perform(actor, getOwnToken, {})).toMatchObject({ scopes: ['read_api'] })
  })
})

describe('a token that is known but may not be used (2.2)', () => {
  const REALM = 'Bearer realm="Protected by OAuth 2.0"'
  const invalid = (text: string) => ({
    status: 401,
    body: { message: '401 Unauthorized', error: 'invalid_token', error_description: text },
    header: `${REALM}, error="invalid_token", error_description="${text}"`,
  })
  const tooNarrow = (scope: string) => {
    const text = 'The request requires higher privileges than provided by the access token.'
    return {
      status: 403,
      body: { error: 'insufficient_scope', error_description: text, scope },
      header: `${REALM}, error="insufficient_scope", error_description="${text}", scope="${scope}"`,
    }
  }
  const EXPIRED = 'Token is expired. You can either do re-authorization or token refresh.'
  const REVOKED = 'Token was revoked. You have to re-authorize from the user.'
  const shown = (value: string): Given => ({ headers: { 'private-token': value } })

  test('expired, even when it is revoked as well', async () => {
    const token = await world.perform(mira, rotatePersonalToken, { id: 1, expiresAt: '2026-02-04' })
    await world.perform(mira, revokePersonalToken, { id: token.id })
    expect(await refusalOf(shown(token.value))).toEqual(invalid(REVOKED))
    world.clock.advance(DAY_MS)
    expect(await refusalOf(shown(token.value))).toEqual(invalid(EXPIRED))
  })

  test('OAuth, expired', async () => {
    world.clock.advance(7_200_000)
    expect(await refusalOf({ headers: { authorization: 'Bearer {oauth}' } })).toEqual(invalid(EXPIRED))
  })

  test('revoked comes before the scope; a rotated one takes its successors along', async () => {
    const { value } = await world.perform(mira, rotatePersonalToken, { id: 1 })
    expect(await who(shown(value))).toBe('mira')
    expect(await refusalOf({ ...shown('{mira}'), method: 'POST' })).toEqual(invalid(REVOKED))
    expect(await refusalOf(shown(value))).toEqual(invalid(REVOKED))
  })

  test.each<[string, Given, string]>([
    ['POST', { ...shown('{reader}'), method: 'POST' }, 'api'],
    ['GET', shown('{rootSudo}'), 'api read_api'],
    ['HEAD', { ...shown('{rootSudo}'), method: 'HEAD' }, 'api read_api'],
    ['with one of its own', { ...shown('{rootSudo}'), access: { scopes: ['read_user'] } }, 'api read_api read_user'],
  ])('lacks a scope: %s', async (_, given, scope) => {
    expect(await refusalOf(given)).toEqual(tooNarrow(scope))
  })

  test('read_api reads, and a scope of the endpoint’s own suffices', async () => {
    expect(await who(shown('{reader}'))).toBe('mira')
    expect(await who({ ...shown('{reader}'), method: 'HEAD' })).toBe('mira')
    values.user = await personal(mira, ['read_user'])
    expect(await who({ ...shown('{user}'), access: { scopes: ['read_user'] } })).toBe('mira')
  })

  test('impersonation counts while impersonation is on', async () => {
    const input = { userId: mira.id, name: 'ghost', scopes: ['api'] }
    const { value } = await world.perform(root, createImpersonationToken, input)
    expect(await who(shown(value))).toBe('mira')
    const core = { ...world.core, settings: { ...world.core.settings, impersonationEnabled: false } }
    const request = { method: 'GET', headers: { 'private-token': value }, parameters: {}, source: '::1' }
    const refused = authenticate(core, request, { scopes: [], takesJobTokens: false, asks: true })
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

describe('sudo (2.4)', () => {
  const as = (sudo: unknown, value: string): Given => ({ parameters: { sudo }, headers: { 'private-token': value } })
  const oauthAs = (sudo: string, value: string): Given => ({ headers: { authorization: `Bearer ${value}`, sudo } })

  test.each<[string, () => Given, string]>([
    ['by name', () => as('mira', '{rootSudo}'), 'mira'],
    ['in any letter case', () => as('MiRa', '{rootSudo}'), 'mira'],
    ['by id', () => as(String(mira.id), '{rootSudo}'), 'mira'],
    ['by id, as JSON has it', () => as(mira.id, '{rootSudo}'), 'mira'],
    [
      'the parameter before the header',
      () => ({ ...as('mira', ''), headers: { 'private-token': '{rootSudo}', sudo: 'root' } }),
      'mira',
    ],
    ['with OAuth, in the header', () => oauthAs('mira', '{oauthSudo}'), 'mira'],
    ['its own scope suffices for a change', () => ({ ...as('mira', '{rootSudo}'), method: 'POST' }), 'mira'],
    ['blank is none', () => as('', '{root}'), 'root'],
  ])('%s', async (_, given, expected) => {
    expect(await who(given())).toBe(expected)
  })

  test('the administrator behind it is named beside the actor', async () => {
    expect(await ask(as('mira', '{rootSudo}'))).toMatchObject({ actor: { id: mira.id }, sudoerId: root.id })
    expect(await ask(as('', '{root}'))).not.toHaveProperty('sudoerId')
  })

  test('ends with the rights of the administrator', async () => {
    expect(await who(oauthAs('mira', '{oauthSudo}'))).toBe('mira')
    await world.core.db.write((db) => db.updateTable('users').set({ is_admin: 0 }).where('id', '=', root.id).execute())
    for (const given of [as('mira', '{rootSudo}'), oauthAs('mira', '{oauthSudo}')])
      expect(await refusalOf(given)).toMatchObject({ status: 403, body: notAdmin })
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

  test.each<[string, Given, number, object]>([
    ['nobody', { parameters: { sudo: 'mira' } }, 401, { message: '401 Unauthorized' }],
    ['no administrator, before the scope', as('root', '{mira}'), 403, notAdmin],
    ['a bot', as('root', '{bot}'), 403, notAdmin],
    ['a session', { parameters: { sudo: 'mira' }, headers: { cookie: '_svc_session={rootSession}' } }, 403, wrongKind],
    ['a job', { parameters: { sudo: 'ghost' }, headers: { 'job-token': '{rootJob}' }, access: jobs }, 403, wrongKind],
    ['without the scope, before the user', as('ghost', '{root}'), 403, noScope],
    ['OAuth without the scope', oauthAs('mira', '{oauth}'), 403, noScope],
    ['a user there is not', as('ghost', '{rootSudo}'), 404, ghost],
    [
      'an id there is not',
      as('99999999999999999999', '{rootSudo}'),
      404,
      { message: '404 User with ID or username 99999999999999999999 Not Found' },
    ],
  ])('%s is refused', async (_, given, status, body) => {
    expect(await refusalOf(given)).toMatchObject({ status, body })
  })
})

describe('while admin mode is on (2.3)', () => {
  /** Whether the actor has the rights of an administrator. */
  async function isAdministrator(headers: Record<string, string>, parameters: Record<string, string> = {}) {
    const core = { ...world.core, settings: { ...world.core.settings, adminMode: true } }
    const request = { method: 'GET', headers: filled(headers) as Record<string, string>, parameters, source: '::1' }
    const access = { scopes: [], takesJobTokens: true, asks: true }
    const answer = await authenticate(core, request, access).catch((error: RestError) => error)
    return answer instanceof RestError ? answer.body : answer.actor?.isAdministrator
  }

  test.each<[string, Record<string, string>, boolean]>([
    ['a token without its scope', { 'private-token': '{root}' }, false],
    ['a token with it', { 'private-token': '{rootAdmin}' }, true],
    ['OAuth without it', { authorization: 'Bearer {oauth}' }, false],
    ['OAuth with it', { authorization: 'Bearer {oauthAdmin}' }, true],
    ['a job', { 'job-token': '{rootJob}' }, false],
    ['a session, which cannot have it', { cookie: '_svc_session={rootSession}' }, false],
  ])('%s', async (_, headers, expected) => {
    values.rootAdmin = await personal(root, ['api', 'admin_mode'])
    values.oauthAdmin = await oauth(root, 'api admin_mode')
    expect(await isAdministrator(headers)).toBe(expected)
  })

  test('sudo is a right of administrators too', async () => {
    const [without, both] = [await personal(root, ['sudo']), await personal(root, ['sudo', 'admin_mode'])]
    expect(await isAdministrator({ 'private-token': without }, { sudo: 'root' })).toEqual({
      message: '403 Forbidden - Must be admin to use sudo',
    })
    expect(await isAdministrator({ 'private-token': both }, { sudo: 'root' })).toBe(true)
  })
})
