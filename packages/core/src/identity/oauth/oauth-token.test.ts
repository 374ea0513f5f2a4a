import { describe, expect, test } from 'vitest'
import {
  board,
  code,
  credentials,
  forCode,
  inOAuthWorld,
  mira,
  newApplication,
  newCode,
  refresh,
  stateOf,
  world,
} from './oauth.harness.ts'
import { introspectOAuthToken, revokeOAuthToken } from './oauth-token.ts'

inOAuthWorld()

describe('revocation and introspection', () => {
  test('revoking a token revokes its family, also the token that it replaced', async () => {
    const first = await forCode(board, await newCode(board))
    const second = await refresh(first.refreshToken)
    await revokeOAuthToken(world.core, credentials(board), second.accessToken)
    expect(await stateOf(first.accessToken)).toBe('revoked')
    expect(await refresh(first.refreshToken).catch(code)).toBe('invalid_grant')
  })

  test('another application can neither revoke nor introspect a token', async () => {
    const other = await newApplication()
    const { accessToken } = await forCode(board, await newCode(board))
    expect(await revokeOAuthToken(world.core, credentials(other), accessToken).catch(code)).toBe('unauthorized_client')
    expect(await introspectOAuthToken(world.core, credentials(other), accessToken)).toBeUndefined()
    expect(await introspectOAuthToken(world.core, credentials(board), accessToken)).toMatchObject({ userId: mira.id })
    expect(await introspectOAuthToken(world.core, { accessToken }, accessToken)).toMatchObject({ kind: 'access' })
  })

  test('no column holds a token or a code', async () => {
    const text = await newCode(board)
    const { accessToken, refreshToken } = await forCode(board, text)
    const { read } = world.core.db
    const tables = ['oauth_codes', 'oauth_tokens', 'events'] as const
    const rows = await Promise.all(tables.map((table) => read.selectFrom(table).selectAll().execute()))
    for (const secret of [text, accessToken, refreshToken!]) expect(JSON.stringify(rows)).not.toContain(secret)
  })

  test('deletes tokens that expired or were revoked long ago', async () => {
    const { accessToken } = await forCode(board, await newCode(board))
    await revokeOAuthToken(world.core, credentials(board), accessToken)
    await world.clock.advance(31 * 86_400_000)
    await forCode(board, await newCode(board))
    expect(await world.core.db.read.selectFrom('oauth_tokens').select('id').execute()).toHaveLength(1)
    expect(await world.core.db.read.selectFrom('oauth_codes').select('id').execute()).toHaveLength(1)
  })
})
