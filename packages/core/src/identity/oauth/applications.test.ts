import { expect, test } from 'vitest'
import type { DomainError } from '../../base/kit/domain-error.ts'
import type { ApplicationWithSecret } from './application.ts'
import {
  createApplication,
  listApplications,
  removeApplication,
  renewApplicationSecret,
} from './application-operations.ts'
import {
  board,
  CALLBACK,
  credentials,
  find,
  grant,
  inOAuthWorld,
  mira,
  newApplication,
  root,
  world,
} from './oauth.harness.ts'

inOAuthWorld()

const forItself = (application: ApplicationWithSecret) =>
  grant({ grantType: 'client_credentials', ...credentials(application) })
const failure = (error: DomainError) => error.failure

test('only creation and renewal return the secret, and no column holds it', async () => {
  expect(board).toMatchObject({
    uid: expect.stringMatching(/^[0-9a-f]{64}$/),
    secret: expect.stringMatching(/^svcoas-[0-9a-f]{64}$/),
    name: 'Deploy board',
    redirectUris: [CALLBACK],
    isConfidential: true,
    scopes: ['api', 'read_user'],
  })
  const { secret, ...listed } = board
  expect(await world.perform(root, listApplications, {})).toEqual([listed])
  const rows = await world.core.db.read.selectFrom('oauth_applications').selectAll().execute()
  expect(JSON.stringify(rows)).not.toContain(secret)
  const renewed = await world.perform(root, renewApplicationSecret, { id: board.id })
  expect(renewed).toEqual({ ...listed, secret: expect.stringMatching(/^svcoas-[0-9a-f]{64}$/) })
  await expect(forItself(board)).rejects.toThrow('invalid_client')
  await forItself(renewed)
})

test.each([
  ['board.example.test/cb', 'must be an absolute URI.'],
  ['http:cb', 'must be an absolute URI.'],
  ['https://board.example.test/cb#part', 'cannot contain a fragment.'],
  ['javascript:alert(1)', 'is forbidden by the server.'],
  ['https://ok.example.test data:text/html,x', 'is forbidden by the server.'],
  ['https://<board>', 'must be a valid URI.'],
  [' ', "can't be blank"],
])('rejects the redirect URI %j: %s', async (redirectUri, text) => {
  expect(await newApplication({ redirectUri }).catch(failure)).toEqual({
    code: 'invalid',
    fields: { redirectUri: [text] },
  })
})

test('accepts several redirect URIs, also with plain HTTP and private-use schemes', async () => {
  const redirectUri = 'http://127.0.0.1:8080/cb\ncom.example.app:/cb'
  expect((await newApplication({ redirectUri })).redirectUris).toEqual(redirectUri.split('\n'))
})

test('validates name, scopes and caller', async () => {
  expect(await newApplication({ name: ' ', scopes: 'api nothing' }).catch(failure)).toEqual({
    code: 'invalid',
    fields: { name: ["can't be blank"], scopes: ["doesn't match configured on the server."] },
  })
  expect(await newApplication({ scopes: ' ' }).catch(failure)).toEqual({
    code: 'parameters',
    problems: [{ path: ['scopes'], problem: 'empty' }],
  })
  expect(await world.perform(mira, createApplication, {}).catch(failure)).toEqual({ code: 'forbidden' })
  expect(await world.perform(undefined, listApplications, {}).catch(failure)).toEqual({ code: 'unauthenticated' })
})

test('removing an application removes its tokens', async () => {
  const { accessToken } = await forItself(board)
  await world.perform(root, removeApplication, { id: board.id })
  expect(await find(accessToken)).toBeUndefined()
  expect(await world.perform(root, removeApplication, { id: board.id }).catch(failure)).toEqual({
    code: 'not_found',
    what: 'Application',
  })
})
