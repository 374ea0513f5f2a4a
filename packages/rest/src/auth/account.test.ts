import {
  createBroadcastMessage,
  createImpersonationToken,
  createPersonalToken,
  listPersonalTokens,
} from '@penstock/core'
import { expect, test } from 'vitest'
import { browser, HOME, mira, newBrowser, root, withPages, world } from './pages.harness.ts'

const PAGE = '/-/account'
const CREATE = `${PAGE}/personal_access_tokens`
const REVOKE = `${CREATE}/revoke`

withPages()

const tokensOfMira = async () => (await world.perform(mira, listPersonalTokens, {})).items
const form = { name: 'laptop', description: '', expires_at: '', scope_read_api: '1', scope_read_user: '1' }

test('a user creates a token with scopes and expiry, sees its value once, and revokes it', async () => {
  await browser.signIn()
  expect((await browser.get('/')).text).toContain(`<a href="${HOME}${PAGE}">`)
  const page = await browser.get(PAGE)
  expect(page.text).toContain('You have no personal access token.')
  expect(page.text).not.toMatch(/<script|scope_sudo/)
  const expiry = new Date(world.clock.nowMs() + 5 * 86_400_000).toISOString().slice(0, 10)
  const created = await browser.submit(page, CREATE, { ...form, description: '<i>dev</i>', expires_at: expiry })
  expect([created.status, created.headers.get('cache-control')]).toEqual([200, 'no-store'])
  const value = /value="(svcpat-\w+)" readonly/.exec(created.text)![1]!
  expect(created.text).toContain('&#60;i&#62;dev&#60;/i&#62;')
  const [token] = await tokensOfMira()
  expect(token).toMatchObject({ name: 'laptop', scopes: ['read_api', 'read_user'], expiresAt: expiry })

  const later = await browser.get(PAGE)
  expect(later.text).not.toContain(value)
  expect(later.text).toContain('aria-label="Revoke laptop"')
  const answer = await browser.submit(later, REVOKE, { token: String(token!.id) })
  expect([answer.status, answer.location]).toEqual([303, HOME + PAGE])
  expect((await tokensOfMira())[0]).toMatchObject({ isRevoked: true })
  expect((await browser.get(PAGE)).text).not.toContain('laptop')
})

test.each<[changes: Record<string, string | undefined>, reason: string]>([
  [{ name: ' ' }, 'Enter a name'],
  [{ scope_read_api: undefined, scope_read_user: undefined }, 'Choose at least one scope.'],
  [{ scope_sudo: '1' }, 'can only contain available scopes'],
  [{ scope_all: '1' }, 'Choose at least one scope.'],
  [{ expires_at: 'soon' }, 'Enter the expiry as a date'],
  [{ expires_at: '2001-01-01' }, 'Expiry can&#39;t be in the past.'],
])('the form with %j is shown again with the reason', async (changes, reason) => {
  await browser.signIn()
  const fields = Object.fromEntries(Object.entries({ ...form, ...changes }).filter(([, value]) => value !== undefined))
  const answer = await browser.submit(await browser.get(PAGE), CREATE, {
    ...(fields as typeof form),
    name: changes.name ?? 'kept',
  })
  expect(answer.status).toBe(422)
  expect(answer.text).toContain(reason)
  expect(answer.text).toContain(`name="name" value="${changes.name ?? 'kept'}"`)
  expect(await tokensOfMira()).toEqual([])
})

test('other sites, visitors and other users change nothing', async () => {
  const { id } = await world.perform(root, createPersonalToken, { userId: root.id, name: 'mine', scopes: ['api'] })
  await browser.signIn()
  const { hidden } = await browser.get(PAGE)
  for (const path of [CREATE, REVOKE]) {
    const fields = { ...form, token: String(id) }
    expect((await browser.post(path, fields)).status).toBe(403)
    expect((await browser.post(path, { ...hidden, ...fields }, { 'Sec-Fetch-Site': 'cross-site' })).status).toBe(403)
    expect((await newBrowser().post(path, fields)).location).toContain('/users/sign_in')
  }
  for (const token of [String(id), '0', 'x', '99999999999']) {
    const answer = await browser.post(REVOKE, { ...hidden, token })
    expect([answer.status, answer.text.includes('There is no such token.')]).toEqual([422, true])
  }
  expect(await tokensOfMira()).toEqual([])
  expect((await world.perform(root, listPersonalTokens, { state: 'active' })).items).toHaveLength(1)
})

test('visitors return to the page after signing in', async () => {
  const { status, location } = await browser.get(PAGE)
  expect([status, location]).toEqual([303, `${HOME}/users/sign_in?return_to=%2F-%2Faccount`])
})

test('lists own tokens only, by page, and the active messages even if they are dismissed', async () => {
  const create = (name: string) => world.perform(root, createPersonalToken, { userId: mira.id, name, scopes: ['api'] })
  for (let count = 1; count <= 51; count += 1) await create(`token ${count}`)
  await world.perform(root, createImpersonationToken, { userId: mira.id, name: 'ghost', scopes: ['api'] })
  await world.perform(root, createBroadcastMessage, { message: 'Maintenance <1>', dismissable: true })
  await browser.signIn()
  const { text } = await browser.get(PAGE)
  expect(text.match(/aria-label="Revoke token/g)).toHaveLength(50)
  expect(text).not.toContain('ghost')
  expect(text).toContain(`<a href="${HOME}${PAGE}?page=2">Older tokens</a>`)
  expect(text).toContain('<li><p>Maintenance &#60;1&#62;</p><span class="dim">until ')
  expect((await browser.get(`${PAGE}?page=2`)).text).toContain('aria-label="Revoke token 1"')
  expect((await browser.get(`${PAGE}?page=-1`)).status).toBe(200)
})
