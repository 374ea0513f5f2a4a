import { expect, test } from 'vitest'
import { server, token, withAdministeredServer } from '../server/administered-server.harness.ts'

const CALLBACK = 'https://board.example.test/cb'
const draft = { name: 'Deploy board', redirect_uri: CALLBACK, scopes: 'api read_user' }

withAdministeredServer()

const create = (json: object) => server.call('POST', 'applications', { token, json })

test('only creation and renewal show the secret, in an answer with status 200', async () => {
  const { status, body } = await create(draft)
  expect(status).toBe(200)
  const { secret, ...shown } = body
  expect(shown).toEqual({
    id: 1,
    application_id: expect.stringMatching(/^[0-9a-f]{64}$/),
    application_name: 'Deploy board',
    callback_url: CALLBACK,
    confidential: true,
    scopes: ['api', 'read_user'],
  })
  expect(secret).toMatch(/^svcoas-[0-9a-f]{64}$/)
  const listed = await server.call('GET', 'applications?page=2&per_page=1', { token })
  expect([listed.status, listed.body]).toEqual([200, [shown]])
  expect([...listed.headers.keys()].filter((name) => /^x-(page|total|per)|^link/.test(name))).toEqual([])

  const renewed = await server.call('POST', 'applications/1/renew-secret', { token })
  expect([renewed.status, renewed.body]).toEqual([200, { ...shown, secret: expect.stringMatching(/^svcoas-/) }])
  expect(renewed.body.secret).not.toBe(secret)
  const removal = () => server.call('DELETE', 'applications/1', { token })
  expect((await removal()).status).toBe(204)
  expect(await removal()).toMatchObject({ status: 404, body: { message: '404 Application Not Found' } })
})

test('several addresses are shown on lines of their own, and null means confidential', async () => {
  const redirect_uri = `${CALLBACK} http://127.0.0.1:8080/cb`
  const { body } = await create({ ...draft, redirect_uri, confidential: null })
  expect(body).toMatchObject({ callback_url: `${CALLBACK}\nhttp://127.0.0.1:8080/cb`, confidential: true })
  expect((await create({ ...draft, confidential: 'false' })).body.confidential).toBe(false)
})

test.each([
  [{}, { error: 'name is missing, redirect_uri is missing, scopes is missing, scopes is empty' }],
  [{ ...draft, scopes: ' ' }, { error: 'scopes is empty' }],
  [{ ...draft, scopes: undefined }, { error: 'scopes is missing, scopes is empty' }],
  [{ ...draft, confidential: 'maybe' }, { error: 'confidential is invalid' }],
  [{ ...draft, scopes: 'api everything' }, { message: { scopes: ["doesn't match configured on the server."] } }],
  [{ ...draft, name: ' ' }, { message: { name: ["can't be blank"] } }],
  [{ ...draft, redirect_uri: '' }, { message: { redirect_uri: ["can't be blank"] } }],
  [{ ...draft, redirect_uri: 'https://<x>' }, { message: { redirect_uri: ['must be a valid URI.'] } }],
  [{ ...draft, redirect_uri: '/cb' }, { message: { redirect_uri: ['must be an absolute URI.'] } }],
  [{ ...draft, redirect_uri: `${CALLBACK}#x` }, { message: { redirect_uri: ['cannot contain a fragment.'] } }],
  [{ ...draft, redirect_uri: 'javascript:x' }, { message: { redirect_uri: ['is forbidden by the server.'] } }],
])('refuses %j, and creates nothing', async (json, body) => {
  expect(await create(json)).toMatchObject({ status: 400, body })
  expect((await server.call('GET', 'applications', { token })).body).toEqual([])
})

test('the id is that of the record, not the application id', async () => {
  const { application_id } = (await create(draft)).body
  for (const [method, path] of [
    ['DELETE', `applications/${application_id}`],
    ['POST', `applications/${application_id}/renew-secret`],
  ] as const) {
    expect(await server.call(method, path, { token })).toMatchObject({ status: 400, body: { error: 'id is invalid' } })
  }
  expect((await server.call('POST', 'applications/99/renew-secret', { token })).body).toEqual({
    message: '404 Application Not Found',
  })
})

test('callers are refused before their parameters', async () => {
  const mira = await server.tokenOf(await server.world.user('mira'))
  for (const [caller, status] of [
    [undefined, 401],
    [mira, 403],
  ] as const) {
    expect((await server.call('POST', 'applications', { token: caller, json: {} })).status).toBe(status)
    expect((await server.call('DELETE', 'applications/x', { token: caller })).status).toBe(status)
  }
})
