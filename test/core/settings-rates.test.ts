import {
  createPersonalToken,
  createProject,
  type RepositoryFile,
  type User,
  updateApplicationSettings,
} from '@penstock/core'
import { type Listening, listen } from '@penstock/http'
import { areas, type RateLimits, restListener, signInRoutes } from '@penstock/rest'
import { silentLog } from '@penstock/runtime'
import { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'

let world: World
let root: User
let listening: Listening | undefined
let token: string
/** The id of a public project with a README. */
let id: number

beforeEach(async () => {
  world = await World.open()
  root = await world.user('root', { isAdministrator: true })
  token = (await world.perform(root, createPersonalToken, { userId: root.id, name: 'x', scopes: ['api'] })).value
  const draft = { path: 'app', visibility: 'public', initializeWithReadme: true }
  id = (await world.perform(root, createProject, draft)).project.id
})

afterEach(async () => {
  await listening?.close(AbortSignal.abort())
  await world.close()
})

const set = (changes: object) => world.perform(root, updateApplicationSettings, changes)

async function serve(rateLimits: RateLimits | 'off' = 'off') {
  const { core } = world
  const app = restListener({ core, areas, log: silentLog, rateLimits, extraRoutes: signInRoutes(core, '/explorer') })
  listening = await listen(app, { host: '127.0.0.1', port: 0 })
}

interface Call {
  readonly method?: string
  readonly isAnonymous?: boolean
  readonly json?: object
}

function call(path: string, { method = 'GET', isAnonymous = false, json }: Call = {}) {
  const headers = { ...(!isAnonymous && { 'private-token': token }), 'content-type': 'application/json' }
  return fetch(`${listening!.url}/${path}`, { method, headers, ...(json && { body: JSON.stringify(json) }) })
}

async function statuses(path: string, options?: Call): Promise<number[]> {
  const found: number[] = []
  while (found.length < 3) found.push((await call(`api/v4/${path}`, options)).status)
  return found
}

const anonymous = { isAnonymous: true }

test('issues_create_limit is the number of issues per user and minute', async () => {
  await serve()
  await set({ issues_create_limit: 2 })
  const issue = { method: 'POST', json: { title: 'x' } }
  expect(await statuses(`projects/${id}/issues`, issue)).toEqual([201, 201, 429])
  world.clock.advance(60_000)
  expect((await call(`api/v4/projects/${id}/issues`, issue)).status).toBe(201)
  await set({ issues_create_limit: 0 })
  expect(await statuses(`projects/${id}/issues`, issue)).toEqual([201, 201, 201])
})

test.each([
  ['project_jobs_api_rate_limit', (): string => `projects/${id}/jobs`, {}],
  ['projects_api_rate_limit_unauthenticated', (): string => 'projects', anonymous],
  ['raw_blob_request_limit', (): string => `projects/${id}/repository/files/README.md/raw?ref=main`, {}],
  [
    'raw_blob_request_limit_unauthenticated',
    (): string => `projects/${id}/repository/files/README.md/raw?ref=main`,
    anonymous,
  ],
] as const)('%s limits the requests of its callers', async (name, path, options) => {
  await serve()
  await set({ [name]: 2 })
  expect(await statuses(path(), options)).toEqual([200, 200, 429])
})

test('a limit on callers without a sign-in leaves others alone', async () => {
  await serve()
  await set({ projects_api_rate_limit_unauthenticated: 1, raw_blob_request_limit_unauthenticated: 1 })
  expect(await statuses('projects')).toEqual([200, 200, 200])
  expect(await statuses(`projects/${id}/repository/files/README.md/raw?ref=main`)).toEqual([200, 200, 200])
})

test('raw_blob_request_limit counts each path, raw blobs too, and no requests for JSON', async () => {
  await serve()
  await set({ raw_blob_request_limit: 2 })
  const file = `projects/${id}/repository/files/README.md?ref=main`
  expect(await statuses(file)).toEqual([200, 200, 200])
  const { blob_id } = (await (await call(`api/v4/${file}`)).json()) as { blob_id: RepositoryFile['blobSha'] }
  expect(await statuses(`projects/${id}/repository/blobs/${blob_id}/raw`)).toEqual([200, 200, 429])
})

test('rate_limiting_response_text is the body of responses above the throttle', async () => {
  const few = { count: 1, periodSeconds: 60 }
  await serve({ anonymous: few, authenticated: few })
  const body = async () => (await call('api/v4/projects')).text()
  await body()
  expect(await body()).toBe('Retry later\n')
  await set({ rate_limiting_response_text: 'Slow down' })
  expect(await body()).toBe('Slow down\n')
  await set({ rate_limiting_response_text: '' })
  expect(await body()).toBe('Retry later\n')
})

test('without password_authentication_enabled_for_web the sign-in page has no form', async () => {
  await serve()
  const page = async () => (await call('users/sign_in', anonymous)).text()
  expect(await page()).toContain('<form')
  await set({ password_authentication_enabled_for_web: false })
  expect(await page()).toContain('Signing in with a password is disabled.')
  expect(await page()).not.toContain('<form')
})
