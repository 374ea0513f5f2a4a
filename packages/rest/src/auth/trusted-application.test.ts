import { createGeoNode, renewApplicationSecret } from '@penstock/core'
import { expect, test } from 'vitest'
import { browser, HOME, newBrowser, root, withPages, world } from './pages.harness.ts'

const CALLBACK = 'https://oslo.example.test/oauth/geo/callback'

withPages()

const authorizePath = (uid: string, more: Record<string, string> = {}) =>
  `/oauth/authorize?${new URLSearchParams({
    ...{ client_id: uid, redirect_uri: CALLBACK, response_type: 'code', state: 's1', scope: 'read_user' },
    ...more,
  })}`

test('users of a Geo secondary sign in without a question, and only if they are signed in here', async () => {
  const draft = { name: 'oslo', url: 'https://oslo.example.test' }
  const { applicationId } = await world.perform(root, createGeoNode, draft)
  const { uid, secret } = await world.perform(root, renewApplicationSecret, { id: applicationId })

  const visitor = await newBrowser().get(authorizePath(uid))
  expect([visitor.status, visitor.location?.startsWith(`${HOME}/users/sign_in`)]).toEqual([303, true])
  const silent = await newBrowser().get(authorizePath(uid, { prompt: 'none' }))
  expect(new URL(silent.location!).searchParams.get('error')).toBe('login_required')

  await browser.signIn()
  for (const more of [{}, { prompt: 'none' }]) {
    const { status, location } = await browser.get(authorizePath(uid, more))
    const target = new URL(location!)
    expect([status, target.origin + target.pathname, target.searchParams.get('state')]).toEqual([303, CALLBACK, 's1'])
    const exchanged = await newBrowser().post('/oauth/token', {
      ...{ grant_type: 'authorization_code', redirect_uri: CALLBACK, client_id: uid, client_secret: secret },
      code: target.searchParams.get('code')!,
    })
    expect(JSON.parse(exchanged.text)).toMatchObject({ scope: 'read_user' })
  }
  const again = await browser.get(authorizePath(uid, { prompt: 'login' }))
  expect(again.location?.startsWith(`${HOME}/users/sign_in`)).toBe(true)
  const elsewhere = await browser.get(authorizePath(uid, { redirect_uri: 'https://evil.example.test/cb' }))
  expect([elsewhere.status, elsewhere.location]).toEqual([400, undefined])
})
