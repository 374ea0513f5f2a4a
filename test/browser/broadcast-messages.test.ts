import { createBroadcastMessage, type User } from '@penstock/core'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import type { ServedWorld } from '../graphql/served-world.ts'
import { openWindow, pageErrors, testWithChromium } from './chromium.ts'
import { serveUser, signIn } from './served-user.ts'

const SIGN_IN = '/users/sign_in'
const HOSTILE = '<img src=x onerror="document.title=1"></style><script>document.title=1</script>\nsecond line'

let served: ServedWorld
let root: User

beforeAll(async () => {
  ;({ served, root } = await serveUser())
  await announce({ message: 'Maintenance on Sunday', theme: 'green', dismissable: true })
  await announce({ message: HOSTILE, broadcastType: 'notification', color: '#112233', font: '#ddeeff' })
  await announce({ message: 'Only for the sign-in page', targetPath: '/users/*', theme: 'light-blue' })
})

afterAll(() => served?.close())

const announce = (input: object) => served.world.perform(root, createBroadcastMessage, input)
const shown = (page: Page) => page.locator('.message > p').allTextContents()
const colors = (page: Page) =>
  page.evaluate<string[][]>(`
    Array.from(document.querySelectorAll('.message'), getComputedStyle).map((style) => [style.backgroundColor, style.color])
  `)

testWithChromium('pages show messages in their colours, as text, until they are dismissed', async (browser) => {
  const { context, strayed } = await openWindow(browser, served.url)
  const page = await context.newPage()
  const complaints = pageErrors(page)
  await page.goto(served.url + SIGN_IN)
  expect(await shown(page)).toEqual(['Maintenance on Sunday', HOSTILE, 'Only for the sign-in page'])
  expect(await page.title()).toBe('Sign in')
  expect(await colors(page)).toEqual([
    ['rgb(13, 83, 42)', 'rgb(255, 255, 255)'],
    ['rgb(17, 34, 51)', 'rgb(221, 238, 255)'],
    ['rgb(211, 230, 251)', 'rgb(11, 47, 92)'],
  ])

  await page.getByRole('button', { name: 'Dismiss' }).click()
  await expect.poll(() => shown(page)).toEqual([HOSTILE, 'Only for the sign-in page'])
  expect(page.url()).toBe(served.url + SIGN_IN)
  await signIn(page)
  await page.getByText('You are signed in as mira.').waitFor()
  expect(await shown(page)).toEqual([HOSTILE])
  expect([strayed, complaints]).toEqual([[], []])
})

testWithChromium('the explorer shows messages too, and dismisses them', async (browser) => {
  const { context, strayed } = await openWindow(browser, served.url)
  const page = await context.newPage()
  const complaints = pageErrors(page)
  // Sets the cookie of a visitor, to which forms are bound.
  await page.goto(served.url + SIGN_IN)
  await page.goto(`${served.url}/-/graphql-explorer`)
  await page.locator('.graphiql-query-editor .view-line').first().waitFor()
  expect(await shown(page)).toEqual(['Maintenance on Sunday', HOSTILE])
  expect((await colors(page))[0]).toEqual(['rgb(13, 83, 42)', 'rgb(255, 255, 255)'])
  await page.getByRole('button', { name: 'Dismiss' }).click()
  await expect.poll(() => shown(page)).toEqual([HOSTILE])
  expect(new URL(page.url()).pathname).toBe('/-/graphql-explorer')
  expect([strayed, complaints]).toEqual([[], []])
})
