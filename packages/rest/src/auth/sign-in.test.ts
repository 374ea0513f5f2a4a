import { createHash } from 'node:crypto'
import { type ApplicationWithSecret, type Core, newVisitorSecret } from '@penstock/core'
import { type ServedRoute, unguarded } from '@penstock/http'
import { beforeEach, describe, expect, test } from 'vitest'
import { authenticate } from './authenticate.ts'
import { oauthRoutes } from './oauth.ts'
import { browser, HOME, newApplication, newBrowser, serve, server, withPages, world } from './pages.harness.ts'
import { signInRoutes } from './sign-in.ts'

const CALLBACK = 'https://board.example.test/cb'
const SIGN_IN = '/users/sign_in'

let board: ApplicationWithSecret

/** Returns the path of a URL, because in tests the server has another address than the external URL. */
const pathOf = (url: string | undefined) => url!.replace(HOME, '')

withPages((core) => [...signInRoutes(core, '/-/explorer'), ...oauthRoutes(core), ...whoAmIRoutes(core)])

beforeEach(async () => {
  board = await newApplication({ name: '<b>Board</b>', redirectUri: CALLBACK, scopes: 'api read_user' })
})

/** Returns routes that authenticate like those of the API. */
function whoAmIRoutes(core: Core): ServedRoute[] {
  return unguarded(
    (['GET', 'POST'] as const).map((method) => ({
      method,
      path: '/api/v4/who',
      access: undefined,
      async handle({ raw, source, query }) {
        const request = { method, headers: raw.headers, parameters: query, source }
        const { actor } = await authenticate(core, request, { scopes: [], takesJobTokens: false, authenticates: true })
        return { status: 200, json: { username: actor?.username ?? null } }
      },
    })),
  )
}

describe('signing in', () => {
  test('sets a cookie that scripts and other sites cannot use, and redirects back', async () => {
    const shown = await browser.signIn()
    expect([shown.status, shown.location]).toEqual([303, `${HOME}/`])
    expect(shown.setCookie).toMatch(/^_svc_session=[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Lax; Secure$/)
    expect((await browser.get('/api/v4/who')).text).toBe('{"username":"mira"}')
    expect((await browser.get(SIGN_IN)).location).toBe(`${HOME}/`)
  })

  test('redirects to the start page, which shows the user and signs out', async () => {
    const before = await browser.get('/')
    expect([before.status, before.location]).toEqual([303, HOME + SIGN_IN])
    expect((await browser.signIn()).location).toBe(`${HOME}/`)
    const start = await browser.get('/')
    expect(start.status).toBe(200)
    expect(start.text).toContain('You are signed in as mira.')
    expect(start.text).toContain(`<a href="${HOME}/-/explorer">`)
    expect(start.headers.get('content-security-policy')).toContain(`form-action ${HOME};`)
    expect((await browser.submit(start, '/users/sign_out', {})).location).toBe(HOME + SIGN_IN)
    expect((await browser.get('/')).location).toBe(HOME + SIGN_IN)
  })

  test('the cookie of a plain HTTP site is not Secure, and is limited to the path of the site', async () => {
    await server.close()
    const core = { ...world.core, settings: { ...world.core.settings, externalUrl: 'http://svc.example.test/forge' } }
    await serve(signInRoutes(core))
    const shown = await browser.signIn()
    expect(shown.location).toBe('http://svc.example.test/forge/')
    expect(shown.setCookie).toMatch(/^_svc_session=[0-9a-f]{64}; Path=\/forge; HttpOnly; SameSite=Lax$/)
  })

  test('signing in replaces a session cookie that was set before', async () => {
    const planted = `_svc_session=${newVisitorSecret(world.core)}`
    browser.cookie = planted
    await browser.signIn()
    expect(browser.cookie).not.toBe(planted)
    const attacker = newBrowser()
    attacker.cookie = planted
    expect((await attacker.get('/api/v4/who')).text).toBe('{"username":null}')
  })

  test('answers wrong passwords and unknown logins alike, and does not repeat the input', async () => {
    const wrong = await browser.signIn({ password: 'wrong one' })
    const unknown = await browser.signIn({ login: '<script>', password: 'wrong one' })
    expect([wrong.status, unknown.status]).toEqual([422, 422])
    expect(wrong.text).toBe(unknown.text)
    expect(wrong.text).toContain('Invalid login or password.')
    expect(wrong.text).not.toContain('wrong one')
  })

  test('rejects a form without the CSRF token of the same browser', async () => {
    const other = newBrowser()
    const theirs = (await other.get(SIGN_IN)).hidden
    await browser.get(SIGN_IN)
    const attempt = { login: 'mira', password: 'correct horse 1' }
    for (const fields of [attempt, { ...attempt, csrf_token: 'x' }, { ...attempt, ...theirs }]) {
      expect((await browser.post(SIGN_IN, fields)).status).toBe(403)
    }
    expect((await newBrowser().post(SIGN_IN, { ...attempt, ...theirs })).status).toBe(403)
  })

  test.each(['cross-site', 'same-site'])(
    'rejects a form that the browser marks as %s, even with the right token',
    async (site) => {
      const { hidden } = await browser.get(SIGN_IN)
      const fields = { ...hidden, login: 'mira', password: 'correct horse 1' }
      expect((await browser.post(SIGN_IN, fields, { 'Sec-Fetch-Site': site })).status).toBe(403)
    },
  )

  test('after ten failures, rejects the right password too, with Retry-After', async () => {
    for (let count = 0; count < 10; count += 1) await browser.signIn({ password: 'no' })
    const refused = await browser.signIn()
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '600'])
    await world.clock.advance(600_000)
    expect((await browser.signIn()).status).toBe(303)
  })

  test.each(['https://evil.example.test/', '@evil.example.test', '.evil.example.test', '/a\r\nX: y', '', '/ a', '/字'])(
    'does not redirect to another site: %j',
    async (returnTo) => {
      const shown = await browser.signIn({ return_to: returnTo })
      expect(shown.location).toBe(`${HOME}/`)
    },
  )

  test.each(['//evil.example.test', '/\\evil.example.test', '/groups/ops?x=1'])(
    'redirects to a path of this service: %j',
    async (returnTo) => {
      const { location } = await browser.signIn({ return_to: returnTo })
      expect(location).toBe(`${HOME}${returnTo}`)
      expect(new URL(location!).origin).toBe(HOME)
    },
  )

  test('pages cannot run scripts, be framed or be cached', async () => {
    const { headers } = await browser.get(SIGN_IN)
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-security-policy': expect.stringMatching(
        /^default-src 'none'; base-uri 'none'; form-action https:\/\/svc\.example\.test; frame-ancestors 'none'; style-src 'sha256-[\w+/]{43}='$/,
      ),
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    })
  })
})

describe('a session', () => {
  const csrf = async () => {
    const page = await browser.get(`/oauth/authorize?${authorization()}`)
    return page.hidden.csrf_token!
  }

  test('does not authenticate a POST to the API without its CSRF token', async () => {
    await browser.signIn()
    const token = await csrf()
    const who = async (headers: Record<string, string>) => (await browser.post('/api/v4/who', {}, headers)).text
    expect(await who({})).toBe('{"username":null}')
    expect(await who({ 'X-CSRF-Token': '0'.repeat(64) })).toBe('{"username":null}')
    expect(await who({ 'X-CSRF-Token': token })).toBe('{"username":"mira"}')
  })

  test('is ignored if the browser sends two cookies of its name', async () => {
    const attacker = newBrowser()
    await attacker.signIn()
    await browser.signIn()
    const [mine, planted] = [browser.cookie, attacker.cookie]
    for (const cookies of [`${planted}; ${mine}`, `${mine}; ${planted}`]) {
      browser.cookie = cookies
      expect((await browser.get('/api/v4/who')).text).toBe('{"username":null}')
    }
  })

  test('does not accept the CSRF token from before signing in', async () => {
    const before = (await browser.get(SIGN_IN)).hidden.csrf_token!
    await browser.signIn()
    expect((await browser.post('/api/v4/who', {}, { 'X-CSRF-Token': before })).text).toBe('{"username":null}')
  })

  test('ends on signing out, which needs the CSRF token', async () => {
    await browser.signIn()
    const { cookie } = browser
    const csrf_token = await csrf()
    expect((await browser.post('/users/sign_out', {})).status).toBe(403)
    const shown = await browser.post('/users/sign_out', { csrf_token })
    expect([shown.status, shown.location]).toEqual([303, HOME + SIGN_IN])
    expect(shown.setCookie).toContain('_svc_session=; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=0')
    browser.cookie = cookie
    expect((await browser.get('/api/v4/who')).text).toBe('{"username":null}')
  })
})

const authorization = (changes: Record<string, string> = {}) =>
  new URLSearchParams({
    client_id: board.uid,
    redirect_uri: CALLBACK,
    response_type: 'code',
    state: 'a&b"<c>',
    ...changes,
  })

describe('/oauth/authorize', () => {
  const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
  const parametersOf = (location: string | undefined) => Object.fromEntries(new URL(location!).searchParams)
  const open = (changes: Record<string, string> = {}) => browser.get(`/oauth/authorize?${authorization(changes)}`)

  test('lets the user sign in, asks for consent, and redirects back with a code', async () => {
    const challenge = createHash('sha256').update(VERIFIER).digest('base64url')
    const sent = await open({ code_challenge: challenge, code_challenge_method: 'S256', scope: 'read_user' })
    expect(sent.status).toBe(303)
    const form = await browser.get(pathOf(sent.location))
    const back = await browser.submit(form, SIGN_IN, { login: 'mira', password: 'correct horse 1' })
    const consent = await browser.get(pathOf(back.location))
    expect(consent.status).toBe(200)
    expect(consent.text).toContain('You are signed in as mira.')
    expect(consent.text).toContain('<li>read_user</li>')
    expect(consent.headers.get('content-security-policy')).toContain(`form-action ${HOME} https://board.example.test;`)

    const { status, location } = await browser.submit(consent, '/oauth/authorize', { decision: 'allow' })
    expect(status).toBe(303)
    expect(location!.startsWith(`${CALLBACK}?`)).toBe(true)
    const { code, state } = parametersOf(location)
    expect(state).toBe('a&b"<c>')

    const parameters = {
      grant_type: 'authorization_code',
      redirect_uri: CALLBACK,
      code: code!,
      code_verifier: VERIFIER,
    }
    const client = { client_id: board.uid, client_secret: board.secret }
    const { text } = await newBrowser().post('/oauth/token', { ...parameters, ...client })
    const { access_token, scope } = JSON.parse(text)
    expect(scope).toBe('read_user')
    const who = await newBrowser().get(`/oauth/token/info?access_token=${access_token}`)
    expect(JSON.parse(who.text)).toMatchObject({ scope: ['read_user'], application: { uid: board.uid } })
  })

  test('redirects back without a code if the user denies', async () => {
    await browser.signIn()
    const shown = await browser.submit(await open(), '/oauth/authorize', { decision: 'deny' })
    expect(parametersOf(shown.location)).toEqual({
      error: 'access_denied',
      error_description: 'The resource owner or authorization server denied the request.',
      state: 'a&b"<c>',
    })
  })

  test('rejects scopes that the user does not have', async () => {
    const { uid } = await newApplication({ name: 'Mighty', redirectUri: CALLBACK, scopes: 'api sudo' })
    const asked = { client_id: uid, scope: 'api sudo' }
    // Before signing in, the user is not known.
    expect((await open(asked)).location).toMatch(/sign_in/)
    await browser.signIn()
    expect(parametersOf((await open(asked)).location)).toMatchObject({ error: 'invalid_scope', state: 'a&b"<c>' })
    const { hidden } = await open({ ...asked, scope: 'api' })
    const forced = await browser.post('/oauth/authorize', { ...hidden, ...asked, decision: 'allow' })
    expect(parametersOf(forced.location)).toMatchObject({ error: 'invalid_scope' })
  })

  test('escapes the names of applications', async () => {
    await browser.signIn()
    const { text } = await open()
    expect(text).toContain('&#60;b&#62;Board&#60;/b&#62;')
    expect(text).not.toMatch(/<b>|<c>|<script/)
  })

  test.each([
    [{ scope: 'sudo' }, 'invalid_scope'],
    [{ response_type: 'token' }, 'unsupported_response_type'],
    [{ response_type: '' }, 'invalid_request'],
    [{ code_challenge: 'short' }, 'invalid_request'],
  ])('%j: redirects to the application with %s before the user signs in', async (changes, error) => {
    const { status, location } = await open(changes)
    expect(status).toBe(303)
    expect(location!.startsWith(CALLBACK)).toBe(true)
    expect(parametersOf(location)).toMatchObject({ error, state: 'a&b"<c>' })
  })

  test.each([
    [{ client_id: 'unknown' }, 401],
    [{ client_id: '' }, 400],
    [{ redirect_uri: 'https://evil.example.test/cb' }, 400],
    [{ redirect_uri: `${CALLBACK}?x=1` }, 400],
    [{ redirect_uri: '' }, 400],
  ])('%j: does not redirect', async (changes, status) => {
    await browser.signIn()
    const shown = await open(changes)
    expect([shown.status, shown.location]).toEqual([status, undefined])
  })

  test('another site can neither allow nor deny', async () => {
    await browser.signIn()
    const fields = { ...Object.fromEntries(authorization()), decision: 'allow' }
    expect((await browser.post('/oauth/authorize', fields)).status).toBe(403)
    const { hidden } = await open()
    expect(
      (await browser.post('/oauth/authorize', { ...fields, ...hidden }, { 'Sec-Fetch-Site': 'cross-site' })).status,
    ).toBe(403)
    const signedOut = newBrowser()
    expect((await signedOut.post('/oauth/authorize', { ...fields, ...hidden })).status).toBe(403)
    expect(await world.core.db.read.selectFrom('oauth_codes').select('id').execute()).toEqual([])
  })
})
