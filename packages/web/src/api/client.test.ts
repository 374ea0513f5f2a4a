import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ApiError, getJson, sendJson, setCsrfToken, whenSessionEnds, whenSessionIsReplaced } from './client.ts'

const SESSION = '/api/v1/session'

/** A service with one session. A test can change the CSRF token of it. */
class StubService {
  /** Undefined after the session has ended. */
  csrfToken: string | undefined = 'new'
  /** The method and path of each request. */
  readonly seen: string[] = []

  readonly fetch = async (path: string, init: RequestInit): Promise<Response> => {
    const { method = 'GET', headers } = init
    this.seen.push(`${method} ${path}`)
    const refuse = (status: number, code: string) =>
      Response.json({ error: { code, message: `${code}.`, details: null, request_id: 'r-1' } }, { status })
    if (this.csrfToken === undefined) return refuse(401, 'unauthenticated')
    if (path === SESSION) return Response.json({ csrf_token: this.csrfToken })
    if (method !== 'GET' && new Headers(headers).get('X-Penstock-CSRF') !== this.csrfToken) {
      return refuse(403, 'csrf_token_required')
    }
    return Response.json({ done: true })
  }
}

let service: StubService

beforeEach(() => {
  service = new StubService()
  vi.stubGlobal('fetch', service.fetch)
  setCsrfToken('old')
  whenSessionIsReplaced(async () => setCsrfToken((await getJson<{ csrf_token: string }>(SESSION)).csrf_token))
})

afterEach(() => {
  vi.unstubAllGlobals()
  setCsrfToken('')
})

const change = (name: string) => sendJson<object>('PUT', `/things/${name}`, { name })

test('a change that a new session refuses is sent again with the token of that session', async () => {
  expect(await change('a')).toEqual({ done: true })
  expect(service.seen).toEqual(['PUT /things/a', `GET ${SESSION}`, 'PUT /things/a'])
  expect(await change('b')).toEqual({ done: true })
  expect(service.seen.slice(3)).toEqual(['PUT /things/b'])
})

test('changes that are refused together share one request for the session', async () => {
  await Promise.all([change('a'), change('b')])
  expect(service.seen.filter((request) => request === `GET ${SESSION}`)).toHaveLength(1)
})

test('a second refusal is an error', async () => {
  whenSessionIsReplaced(async () => {
    await getJson(SESSION)
  })
  const error = await change('a').catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(ApiError)
  expect(error).toMatchObject({ status: 403, code: 'csrf_token_required' })
  expect(service.seen).toHaveLength(3)
})

test('a session that is gone ends the session of the page, and the change is not sent again', async () => {
  let ends = 0
  whenSessionEnds(() => {
    ends += 1
  })
  const answer = service.fetch
  vi.stubGlobal('fetch', async (path: string, init: RequestInit) => {
    const response = await answer(path, init)
    service.csrfToken = undefined
    return response
  })
  await expect(change('a')).rejects.toMatchObject({ status: 401 })
  expect([ends, service.seen]).toEqual([1, ['PUT /things/a', `GET ${SESSION}`]])
})
