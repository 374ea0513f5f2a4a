import {
  accessLevels,
  blockUser,
  createGroupToken,
  createJobToken,
  createPersonalToken,
  createProjectToken,
  csrfTokenOf,
  grantToken,
  revokePersonalToken,
  signIn,
  type User,
} from '@penstock/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Answer, GraphqlServer } from './graphql-server.harness.ts'

const password = 'correct horse'
/** The hash of the password, with parameters that are fast to compute. */
const passwordHash = '$argon2id$v=19$m=1024,p=1,t=2$QUFBQUFBQUFBQUFBQUFBQQ$LthcQ44d3/9Q12bbVUAELoSTNWs0q1Rcx7tFAjyV5hU'

let server: GraphqlServer
let root: User
/** The secrets, by the names that the tests use for them. */
let secrets: Record<string, string>

beforeAll(async () => {
  server = await GraphqlServer.start()
  const { world } = server
  root = await world.user('root', { isAdministrator: true })
  const [mira, noor] = [await world.user('mira'), await world.user('noor')]
  await world.core.db.write((db) => db.updateTable('users').set({ password_hash: passwordHash }).execute())
  const group = await world.group('ops')
  const project = await world.project('tools', group)
  await world.member(project, mira, accessLevels.developer)
  const personal = (user: User, scopes: string[], given: object = {}) =>
    world.perform(root, createPersonalToken, { userId: user.id, name: 'ci', scopes, ...given })
  const session = async (login: string) => {
    const outcome = await signIn(world.core, { login, password, address: '::1' }, undefined)
    return outcome.kind === 'signed_in' ? outcome.sessionSecret : expect.unreachable()
  }
  const oauth = { grantType: 'password', username: 'mira', password, scope: 'api', address: '::1' }
  const [revoked, ended] = [await personal(mira, ['api']), await personal(mira, ['api'], { expiresAt: '2026-02-04' })]
  await world.perform(root, revokePersonalToken, { id: revoked.id })
  await world.clock.advance(2 * 86_400_000)
  const bot = { name: 'ci', scopes: ['api'] }
  secrets = {
    personal: (await personal(mira, ['api'])).value,
    reader: (await personal(mira, ['read_api'])).value,
    scopeless: (await personal(mira, ['read_user'])).value,
    revoked: revoked.value,
    ended: ended.value,
    project: (await world.perform(root, createProjectToken, { project: project.id, ...bot })).value,
    group: (await world.perform(root, createGroupToken, { group: group.id, ...bot })).value,
    oauth: (await grantToken(world.core, oauth)).accessToken,
    job: (await world.perform(root, createJobToken, { project: project.id, userId: mira.id })).value,
    blocked: (await personal(noor, ['api'])).value,
    unknown: 'svcpat-0000000000000000000000000000000000000000000',
    session: await session('mira'),
  }
  secrets.csrf = csrfTokenOf(secrets.session!)
  await world.perform(root, blockUser, { user: noor.id })
})
afterAll(() => server.close())

interface Sent {
  readonly headers?: Readonly<Record<string, string>>
  readonly search?: Readonly<Record<string, string>>
  readonly body?: Readonly<Record<string, string>>
  readonly form?: Readonly<Record<string, string>>
}

/** Replaces `{name}` by the secret with that name. */
const filled = (texts: Readonly<Record<string, string>> = {}) =>
  Object.fromEntries(
    Object.entries(texts).map(([key, text]) => [key, text.replace(/\{(\w+)\}/g, (_, name) => secrets[name]!)]),
  )

function send(query: string, { headers, search, body, form }: Sent): Promise<Answer> {
  const init: RequestInit = form
    ? { body: new URLSearchParams({ query, ...filled(form) }) }
    : { body: JSON.stringify({ query, ...filled(body) }) }
  const type = { ...(!form && { 'content-type': 'application/json' }) }
  const address = search ? `?${new URLSearchParams(filled(search))}` : ''
  return server.send({ method: 'POST', ...init, headers: { ...type, ...filled(headers) } }, address)
}

/** Returns the username of the caller according to `echo`, or the status and body of an error. */
async function callerNameOf(sent: Sent): Promise<unknown> {
  const { status, body } = await send('{ echo(text: "") }', sent)
  for (const secret of Object.values(secrets)) expect(JSON.stringify(body)).not.toContain(secret)
  if (status !== 200) return [status, body]
  return JSON.parse(body.data.echo.replace(/ says: $/, ''))?.replace(/_[0-9a-f]{32}$/, '_hex') ?? 'anonymous'
}

const INVALID = [401, { errors: [{ message: 'Invalid token' }] }]
const cookie = '_svc_session={session}'

describe('identifies the caller', () => {
  test.each<[string, Sent, unknown]>([
    ['no credential', {}, 'anonymous'],
    ['personal, as Bearer', { headers: { authorization: 'Bearer {personal}' } }, 'mira'],
    ['personal, in its header', { headers: { 'private-token': '{personal}' } }, 'mira'],
    ['personal, as parameter', { search: { private_token: '{personal}' } }, 'mira'],
    ['personal, as the OAuth parameter', { search: { access_token: '{personal}' } }, 'mira'],
    ['personal, in a form', { form: { private_token: '{personal}' } }, 'mira'],
    ['personal, in JSON', { body: { private_token: '{personal}' } }, 'mira'],
    ['OAuth, as Bearer', { headers: { authorization: 'bearer {oauth}' } }, 'mira'],
    ['OAuth, as parameter', { search: { access_token: '{oauth}' } }, 'mira'],
    ['OAuth, in a form', { form: { access_token: '{oauth}' } }, 'mira'],
    ['OAuth token in the header for personal tokens', { headers: { 'private-token': '{oauth}' } }, INVALID],
    ['project', { headers: { authorization: 'Bearer {project}' } }, 'project_1_bot_hex'],
    ['project, in the PRIVATE-TOKEN header', { headers: { 'private-token': '{project}' } }, 'project_1_bot_hex'],
    ['group, as parameter', { search: { private_token: '{group}' } }, 'group_1_bot_hex'],
    ['session', { headers: { cookie } }, 'mira'],
    ['a cookie that is not a session', { headers: { cookie: '_svc_session=0' } }, 'anonymous'],
    ['with scope read_api only', { headers: { 'private-token': '{reader}' } }, 'mira'],
    ['with neither api nor read_api', { headers: { 'private-token': '{scopeless}' } }, INVALID],
    ['unknown', { headers: { authorization: 'Bearer {unknown}' } }, INVALID],
    ['unknown, in its header', { headers: { 'private-token': '{unknown}' } }, INVALID],
    ['unknown, as parameter', { search: { access_token: '{unknown}' } }, INVALID],
    ['unknown, in a form', { form: { private_token: '{unknown}' } }, INVALID],
    ['unknown with a valid session', { headers: { cookie, 'private-token': '{unknown}' } }, INVALID],
    ['an empty Authorization header', { headers: { authorization: '' } }, INVALID],
    ['Bearer without a token', { headers: { authorization: 'Bearer ' } }, INVALID],
    ['another scheme', { headers: { authorization: 'Basic bWlyYTpzZWNyZXQ=' } }, INVALID],
    ['another scheme with a valid session', { headers: { cookie, authorization: 'Basic bWlyYQ==' } }, INVALID],
    ['unknown job token', { headers: { 'job-token': '{unknown}' } }, INVALID],
    ['revoked', { headers: { 'private-token': '{revoked}' } }, INVALID],
    ['expired', { headers: { authorization: 'Bearer {ended}' } }, INVALID],
    ['job token, as Bearer', { headers: { authorization: 'Bearer {job}' } }, INVALID],
    ['job token, in its header', { headers: { 'job-token': '{job}' } }, INVALID],
    ['job token, as parameter', { search: { job_token: '{job}' } }, INVALID],
    ['job token with a valid session', { headers: { cookie, 'job-token': '{job}' } }, INVALID],
    ['deploy token', { headers: { 'deploy-token': 'gldt' } }, INVALID],
    [
      'token of a blocked user',
      { headers: { 'private-token': '{blocked}' } },
      [403, { errors: [{ message: 'API not accessible for user' }] }],
    ],
    ...(['private_token[]', 'access_token[a]', 'job_token[]'] as const).flatMap((name): [string, Sent, unknown][] => {
      const refusal = [400, { errors: [{ message: `${name.split('[')[0]} is invalid` }] }]
      return [
        [`${name} as parameter`, { search: { [name]: '{personal}' } }, refusal],
        [`${name} in a form`, { form: { [name]: '{personal}' } }, refusal],
      ]
    }),
    [
      'OAuth in header and parameter',
      { headers: { authorization: 'Bearer {oauth}' }, search: { access_token: '{oauth}' } },
      [400, { errors: [{ message: 'Both Authorization header and payload includes access token.' }] }],
    ],
    [
      'OAuth in header and form',
      { headers: { authorization: 'Bearer {oauth}' }, form: { access_token: '{oauth}' } },
      [400, { errors: [{ message: 'Both Authorization header and payload includes access token.' }] }],
    ],
  ])('%s', async (_, sent, expected) => {
    expect(await callerNameOf(sent)).toEqual(expected)
  })

  test('checks the credential before the query size', async () => {
    const { status } = await send('#'.repeat(10_001), { headers: { 'private-token': '{unknown}' } })
    expect(status).toBe(401)
  })
})

describe('permission for mutations', () => {
  const MUTATION =
    'mutation {\n  echoCreate(input: { messages: ["a"], clientMutationId: "7" }) { echoes errors clientMutationId }\n}'
  const done = { data: { echoCreate: { echoes: ['a'], errors: [], clientMutationId: '7' } } }
  const notAvailable = {
    data: { echoCreate: null },
    errors: [
      {
        message:
          "The resource that you are attempting to access does not exist or you don't have permission to perform this action",
        locations: [{ line: 2, column: 3 }],
        path: ['echoCreate'],
      },
    ],
  }
  const csrfError = { errors: [{ message: "Can't verify CSRF token authenticity." }] }

  test.each<[string, Sent, number, object]>([
    ['a token with api', { headers: { 'private-token': '{personal}' } }, 200, done],
    ['an OAuth token with api', { headers: { authorization: 'Bearer {oauth}' } }, 200, done],
    ["a project's token", { headers: { authorization: 'Bearer {project}' } }, 200, done],
    ['a token with read_api', { headers: { 'private-token': '{reader}' } }, 200, notAvailable],
    ['no credential', {}, 200, notAvailable],
    ['a session with its CSRF token', { headers: { cookie, 'x-csrf-token': '{csrf}' } }, 200, done],
    ['a session without a CSRF token', { headers: { cookie } }, 422, csrfError],
    ['a session with an invalid CSRF token', { headers: { cookie, 'x-csrf-token': 'x' } }, 422, csrfError],
    ['a session and a token', { headers: { cookie, 'private-token': '{personal}' } }, 200, done],
  ])('%s', async (_, sent, status, body) => {
    const answer = await send(MUTATION, sent)
    expect([answer.status, answer.body]).toEqual([status, body])
  })

  test('requires a CSRF token for a batch that contains a mutation', async () => {
    const batch = JSON.stringify([{ query: '{ __typename }' }, { query: MUTATION }])
    const headers = { 'content-type': 'application/json', ...filled({ cookie }) }
    expect((await server.send({ method: 'POST', body: batch, headers })).body).toEqual(csrfError)
    const withCsrfToken = { ...headers, ...filled({ 'x-csrf-token': '{csrf}' }) }
    expect((await server.send({ method: 'POST', body: batch, headers: withCsrfToken })).body[1]).toEqual(done)
  })
})
