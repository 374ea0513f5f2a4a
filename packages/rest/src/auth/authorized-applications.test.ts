import { createUser } from '@penstock/core'
import { beforeEach, expect, test } from 'vitest'
import { browser, HOME, newApplication, newBrowser, root, withPages, world } from './pages.harness.ts'

const PAGE = '/oauth/authorized_applications'
const CALLBACK = 'https://board.example.test/cb'

withPages()

beforeEach(async () => {
  const draft = { name: '<b>Board</b>', redirectUri: CALLBACK, scopes: 'api read_user' }
  const { uid, secret } = await newApplication(draft)
  await browser.signIn()
  const request = new URLSearchParams({ client_id: uid, redirect_uri: CALLBACK, response_type: 'code', scope: 'api' })
  const consent = await browser.get(`/oauth/authorize?${request}`)
  const { location } = await browser.submit(consent, '/oauth/authorize', { decision: 'allow' })
  const code = new URL(location!).searchParams.get('code')!
  const exchanged = await newBrowser().post('/oauth/token', {
    ...{ grant_type: 'authorization_code', redirect_uri: CALLBACK, code, client_id: uid, client_secret: secret },
  })
  token = JSON.parse(exchanged.text).access_token
})

let token: string
const isAlive = async () => (await newBrowser().get(`/oauth/token/info?access_token=${token}`)).status === 200

test('the start page links to the list, which shows name and scopes, and revokes', async () => {
  expect((await browser.get('/')).text).toContain(`<a href="${HOME}${PAGE}">`)
  const page = await browser.get(PAGE)
  expect(page.status).toBe(200)
  expect(page.text).toContain('<strong>&#60;b&#62;Board&#60;/b&#62;</strong>, with api;')
  expect(page.text).not.toMatch(/<b>|<script/)
  const policy = page.headers.get('content-security-policy')!
  expect(policy.replace(/'sha256-[\w+/]{43}='$/, 'one sheet')).toBe(
    `default-src 'none'; base-uri 'none'; form-action ${HOME}; frame-ancestors 'none'; style-src one sheet`,
  )
  const answer = await browser.submit(page, PAGE, {})
  expect([answer.status, answer.location]).toEqual([303, HOME + PAGE])
  expect((await browser.get(PAGE)).text).toContain('No application can access your account.')
  expect(await isAlive()).toBe(false)
})

test('visitors are sent to the sign-in page, and return', async () => {
  const visitor = newBrowser()
  const sent = await visitor.get(PAGE)
  expect([sent.status, sent.location]).toEqual([
    303,
    `${HOME}/users/sign_in?return_to=%2Foauth%2Fauthorized_applications`,
  ])
  expect((await visitor.post(PAGE, { application: '1' })).status).toBe(303)
  expect(await isAlive()).toBe(true)
})

test('another site cannot revoke', async () => {
  const { hidden } = await browser.get(PAGE)
  expect((await browser.post(PAGE, { application: '1' })).status).toBe(403)
  expect((await browser.post(PAGE, { ...hidden, csrf_token: '0'.repeat(64) })).status).toBe(403)
  expect((await browser.post(PAGE, hidden, { 'Sec-Fetch-Site': 'cross-site' })).status).toBe(403)
  expect(await isAlive()).toBe(true)
})

test('a token of another session or visitor revokes nothing, nor does another user', async () => {
  const { hidden } = await browser.get(PAGE)
  const person = { username: 'noor', name: 'Noor', email: 'noor@example.test', password: 'correct horse 2' }
  await world.perform(root, createUser, person)
  const noor = newBrowser()
  const visitor = (await noor.get('/users/sign_in')).hidden
  await noor.signIn({ login: 'noor', password: 'correct horse 2' })
  const theirs = (await noor.get('/')).hidden
  for (const { csrf_token } of [visitor, theirs])
    expect((await browser.post(PAGE, { ...hidden, csrf_token: csrf_token! })).status).toBe(403)
  // The same browser after it has signed in again.
  const second = newBrowser()
  await second.signIn()
  expect((await second.post(PAGE, hidden)).status).toBe(403)
  expect((await noor.post(PAGE, { ...hidden, ...theirs })).status).toBe(303)
  expect(await isAlive()).toBe(true)
})

test.each(['', 'x', '1e3', '99999999999', '-1'])(
  'a form with the application %j changes nothing',
  async (application) => {
    const page = await browser.get(PAGE)
    const answer = await browser.submit(page, PAGE, { application })
    expect(answer.status).toBe(422)
    expect(answer.text).toContain('There is no such application.')
    expect(await isAlive()).toBe(true)
  },
)
