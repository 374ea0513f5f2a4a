import { createApplication } from '@penstock/core'
import { afterAll, beforeAll, expect } from 'vitest'
import type { ServedWorld } from '../graphql/served-world.ts'
import { openWindow, pageErrors, testWithChromium } from './chromium.ts'
import { serveUser, signIn } from './served-user.ts'

const HOSTILE = '"><img src=x onerror="document.title=1"><script>document.title=1</script>'

let served: ServedWorld

beforeAll(async () => {
  const { root, ...started } = await serveUser()
  served = started.served
  for (const name of ['Deploy board', HOSTILE]) {
    const draft = { name, redirectUri: `${served.url}/`, scopes: 'api read_user' }
    const { uid, secret } = await served.world.perform(root, createApplication, draft)
    clients.push({ client_id: uid, client_secret: secret })
  }
})

const clients: { client_id: string; client_secret: string }[] = []

afterAll(() => served?.close())

testWithChromium('a user authorizes applications, sees them on the page, and revokes one', async (browser) => {
  const { context, strayed } = await openWindow(browser, served.url)
  const page = await context.newPage()
  const complaints = pageErrors(page)
  await page.goto(`${served.url}/oauth/authorized_applications`)
  await signIn(page)
  await page.getByText('No application can access your account.').waitFor()

  const tokens: string[] = []
  for (const client of clients) {
    const redirect = { redirect_uri: `${served.url}/` }
    const request = { client_id: client.client_id, ...redirect, response_type: 'code', scope: 'api' }
    await page.goto(`${served.url}/oauth/authorize?${new URLSearchParams(request)}`)
    await page.getByRole('button', { name: 'Authorize' }).click()
    // The page of the application is the start page here.
    await page.waitForURL(/[?]code=/)
    const code = new URL(page.url()).searchParams.get('code')!
    const body = new URLSearchParams({ ...client, ...redirect, grant_type: 'authorization_code', code })
    const exchanged = await fetch(`${served.url}/oauth/token`, { method: 'POST', body })
    tokens.push(((await exchanged.json()) as { access_token: string }).access_token)
  }

  await page.goto(served.url)
  await page.getByRole('link', { name: 'Applications that can access your account' }).click()
  expect(await page.locator('li strong').allTextContents()).toEqual(['Deploy board', HOSTILE])
  await page.getByRole('button', { name: 'Revoke Deploy board' }).click()
  await expect.poll(() => page.locator('li strong').allTextContents()).toEqual([HOSTILE])
  expect(await page.title()).toBe('Authorized applications')

  const isAlive = async (token: string) => (await fetch(`${served.url}/oauth/token/info?access_token=${token}`)).ok
  expect(await Promise.all(tokens.map(isAlive))).toEqual([false, true])
  expect([strayed, complaints]).toEqual([[], []])
})
