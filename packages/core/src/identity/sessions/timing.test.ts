import { World } from '@penstock/testkit'
import type { KyselyPlugin, Transaction } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { CoreTables } from '../../base/kit/tables.ts'
import type { User } from '../../base/model/user.ts'
import type { Core } from '../../base/operations/context.ts'
import { identify, type Presented } from '../callers/identify.ts'
import { createApplication } from '../oauth/application-operations.ts'
import { grantToken } from '../oauth/grant-token.ts'
import { createJobToken } from '../tokens/job-token.ts'
import { createPersonalToken } from '../tokens/personal-token-operations.ts'
import { hashPassword, savePasswordHash } from '../users/password-store.ts'
import { signIn } from './session.ts'
import { verifySignIn } from './verify-sign-in.ts'

/**
 * Beside the database queries, a rejection costs one hash: of a password, as `sessions.test.ts` measures, or of a token. Its
 * time reveals nothing if the database gets the same queries for every kind of wrong credential.
 */

const PASSWORD = 'correct horse'
let world: World
let root: User
let mira: User

beforeEach(async () => {
  world = await World.open()
  root = await world.user('root', { isAdministrator: true })
  mira = await world.user('mira')
  const hash = await hashPassword(world.core, PASSWORD)
  await world.core.db.write((db) => savePasswordHash({ db }, mira.id, hash))
})

afterEach(() => world.close())

/** Runs `work` and returns the SQL statements that it sends, in order: the kind and the tables of each. */
async function statementsOf(work: (core: Core) => Promise<unknown>): Promise<string[]> {
  const statements: string[] = []
  const texts = new WeakMap<object, string>()
  const plugin: KyselyPlugin = {
    transformQuery: ({ node, queryId }) => {
      const tables = [...JSON.stringify(node).matchAll(/"SchemableIdentifierNode","identifier":\{[^}]*"name":"(\w+)"/g)]
      texts.set(queryId, [node.kind, ...tables.map(([, name]) => name)].join(' '))
      return node
    },
    transformResult: async ({ result, queryId }) => {
      // A statement that was compiled before has no nodes.
      statements.push(texts.get(queryId) ?? 'compiled statement')
      return result
    },
  }
  const { db } = world.core
  await work({
    ...world.core,
    db: {
      read: db.read.withPlugin(plugin),
      readWithin: (limit, subscriber) => db.readWithin(limit, subscriber).withPlugin(plugin),
      write: (inside, options) => db.write((tx) => inside(tx.withPlugin(plugin) as Transaction<CoreTables>), options),
      close: () => db.close(),
    },
  })
  return statements
}

const withWrongLastLetter = (text: string) => text.slice(0, -1) + (text.endsWith('0') ? '1' : '0')

describe('rejected passwords', () => {
  const attempt = (login: string) => (core: Core) =>
    verifySignIn(core, { login, password: 'a guess', address: '192.0.2.7' }).then((user) =>
      expect(user).toBeUndefined(),
    )

  test('sign-ins cost the same statements whether the password is wrong or missing or the login is unknown', async () => {
    const wrong = await statementsOf(attempt('mira'))
    expect(wrong.filter((statement) => statement.includes('users'))).toHaveLength(2)
    for (const login of ['root', 'unknown', 'mira@example.test', 'unknown@example.test']) {
      const statements = await statementsOf(attempt(login))
      expect(statements.filter((statement) => statement.includes('users'))).toHaveLength(2)
      expect(statements).toHaveLength(wrong.length)
    }
  })
})

describe('rejected tokens', () => {
  const nothing = { csrfToken: undefined, fetchSite: undefined }
  const statementsFor = (presented: Partial<Presented>) =>
    statementsOf(async (core) => {
      const found = await identify(core, { takesJobTokens: true, proof: nothing, changesNothing: true, ...presented })
      expect(found === undefined || found === 'unknown').toBe(true)
    })

  test.each<[string, (value: string) => Partial<Presented>]>([
    ['as a bearer', (bearer) => ({ bearer })],
    ['in its own header', (privateToken) => ({ privateToken })],
    ['job token', (jobToken) => ({ jobToken })],
    ['session secret', (sessionSecret) => ({ sessionSecret })],
  ])(
    'tokens cost the same statements whether the token is unknown or only its last letter is wrong: %s',
    async (_, as) => {
      const project = await world.project('tools', await world.group('ops'))
      const login = { login: 'mira', password: PASSWORD, address: '192.0.2.7' }
      const session = await signIn(world.core, login, undefined)
      const oauth = { grantType: 'password', username: 'mira', password: PASSWORD, address: '192.0.2.7' }
      const live = [
        (await world.perform(root, createPersonalToken, { userId: mira.id, name: 'ci', scopes: ['api'] })).value,
        (await world.perform(root, createJobToken, { project: project.id, userId: mira.id })).value,
        (await grantToken(world.core, oauth)).accessToken,
        session.kind === 'signed_in' ? session.sessionSecret : expect.unreachable(),
      ]
      const unknown = await statementsFor(as('svcpat-0000000000000000000000000000000000000000000'))
      expect(unknown.length).toBeGreaterThan(0)
      for (const value of live) expect(await statementsFor(as(withWrongLastLetter(value)))).toEqual(unknown)
    },
  )

  test('applications cost the same statements whether the application is unknown or its secret is wrong', async () => {
    const draft = { name: 'Board', redirectUri: 'https://board.example.test/cb', scopes: 'api' }
    const { uid } = await world.perform(root, createApplication, draft)
    const refused = (clientId: string) =>
      statementsOf((core) =>
        expect(
          grantToken(core, { grantType: 'client_credentials', clientId, clientSecret: 'no', address: '192.0.2.7' }),
        ).rejects.toThrow('invalid_client'),
      )
    expect(await refused('0'.repeat(64))).toEqual(await refused(uid))
  })
})
