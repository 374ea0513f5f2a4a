import { type ApplicationWithSecret, type Core, createApplication, createUser, type User } from '@penstock/core'
import { type Listening, listen, type ServedRoute, serveRoutes } from '@penstock/http'
import { silentLog } from '@penstock/runtime'
import { World } from '@penstock/testkit'
import { afterEach, beforeEach } from 'vitest'
import { renderError } from '../routing/error-response.ts'
import { Browser } from './browser.harness.ts'
import { oauthRoutes } from './oauth.ts'
import { signInRoutes } from './sign-in.ts'

/** The external URL. The tests reach the pages at the address of `server`. */
export const HOME = 'https://svc.example.test'

export let world: World
export let server: Listening
export let root: User
export let mira: User
/** Has no cookie before its first request. */
export let browser: Browser

/** Gives each test a server with the pages, an administrator, a user with a password, and a browser. */
export function withPages(
  routesOf: (core: Core) => ServedRoute[] = (core) => [...signInRoutes(core), ...oauthRoutes(core)],
): void {
  beforeEach(async () => {
    world = await World.open()
    await serve(routesOf(world.core))
    root = await world.user('root', { isAdministrator: true })
    const person = { username: 'mira', name: 'Mira Holt', email: 'mira@example.test', password: 'correct horse 1' }
    mira = (await world.perform(root, createUser, person)).user
    browser = newBrowser()
  })

  afterEach(async () => {
    await server.close()
    await world.close()
  })
}

/** Starts the server of a test. Close the one before first. */
export async function serve(routes: ServedRoute[]): Promise<void> {
  const handler = serveRoutes(routes, { renderError, headers: {}, log: silentLog })
  server = await listen(handler, { host: '127.0.0.1', port: 0 })
}

export const newBrowser = (): Browser => new Browser(() => server.url)

export const newApplication = (draft: {
  name: string
  redirectUri: string
  scopes: string
  confidential?: boolean
}): Promise<ApplicationWithSecret> => world.perform(root, createApplication, draft)
