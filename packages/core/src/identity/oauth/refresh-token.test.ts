import { describe, expect, test } from 'vitest'
import {
  board,
  code,
  credentials,
  find,
  forCode,
  inOAuthWorld,
  mira,
  newApplication,
  newCode,
  refresh,
  setState,
  stateOf,
  world,
} from './oauth.harness.ts'
import { revokeOAuthToken } from './oauth-token.ts'

inOAuthWorld()

describe('refresh', () => {
  test('works after the access token has expired', async () => {
    const first = await forCode(board, await newCode(board))
    await world.clock.advance(7_200_000)
    expect(await stateOf(first.accessToken)).toBe('expired')
    const second = await refresh(first.refreshToken)
    expect(await find(second.accessToken)).toMatchObject({ state: 'valid', scopes: ['api'], user: { id: mira.id } })
  })

  test('can be repeated until the new access token is used, in case the answer was lost', async () => {
    const first = await forCode(board, await newCode(board))
    const lost = await refresh(first.refreshToken)
    const second = await refresh(first.refreshToken)
    expect(await stateOf(first.accessToken)).toBe('valid')
    expect(await stateOf(second.accessToken)).toBe('valid')
    expect(await stateOf(first.accessToken)).toBe('revoked')
    expect(await stateOf(lost.accessToken)).toBe('revoked')
    expect(await stateOf(second.accessToken)).toBe('valid')
  })

  test('using a revoked refresh token revokes the family', async () => {
    const first = await forCode(board, await newCode(board))
    const second = await refresh(first.refreshToken)
    const third = await refresh(second.refreshToken)
    expect(await stateOf(third.accessToken)).toBe('valid')
    expect(await refresh(first.refreshToken).catch(code)).toBe('invalid_grant')
    expect(await stateOf(third.accessToken)).toBe('revoked')
    expect(await refresh(third.refreshToken).catch(code)).toBe('invalid_grant')
  })

  test('the first use of a token keeps the tokens refreshed from it, and other families', async () => {
    const other = await forCode(board, await newCode(board))
    const first = await forCode(board, await newCode(board))
    const second = await refresh(first.refreshToken)
    const third = await refresh(second.refreshToken)
    const states = []
    for (const { accessToken } of [second, third, other]) states.push(await stateOf(accessToken))
    expect(states).toEqual(['valid', 'valid', 'valid'])
  })

  test('can narrow the scopes, but not widen them', async () => {
    const { refreshToken } = await forCode(board, await newCode(board, { scope: 'api read_user' }))
    const narrow = await refresh(refreshToken, { scope: 'read_user' })
    expect(narrow.scopes).toEqual(['read_user'])
    expect(await refresh(narrow.refreshToken, { scope: 'api' }).catch(code)).toBe('invalid_scope')
  })

  test('works only for the application that got the token', async () => {
    const { refreshToken } = await forCode(board, await newCode(board))
    const other = await newApplication()
    expect(await refresh(refreshToken, credentials(other)).catch(code)).toBe('invalid_grant')
    expect(await refresh(refreshToken, { clientId: undefined, clientSecret: undefined }).catch(code)).toBe(
      'invalid_grant',
    )
    await setState('blocked')
    expect(await refresh(refreshToken).catch(code)).toBe('invalid_grant')
  })
})

describe('the limit of tokens of one user for one application', () => {
  /** Inserts 9,999 rows beside the existing one. */
  async function fill(changes: object): Promise<void> {
    const { id: _, ...row } = await world.core.db.read.selectFrom('oauth_tokens').selectAll().executeTakeFirstOrThrow()
    const rows = Array.from({ length: 9_999 }, (__, index) => ({
      ...row,
      ...{ access_digest: `a${index}`, refresh_digest: `r${index}`, family: `f${index}`, ...changes },
    }))
    await world.core.db.write(async (db) => {
      while (rows.length > 0) await db.insertInto('oauth_tokens').values(rows.splice(0, 1_000)).execute()
    })
  }
  const count = async () => (await world.core.db.read.selectFrom('oauth_tokens').select('id').execute()).length

  test('keeps valid tokens and rejects another one; its code stays valid', async () => {
    const [first, text] = [await forCode(board, await newCode(board)), await newCode(board)]
    await fill({})
    expect(await forCode(board, text).catch(code)).toBe('too_many_tokens')
    expect(await stateOf(first.accessToken)).toBe('valid')
    const other = await newApplication()
    await forCode(other, await newCode(other))
    await revokeOAuthToken(world.core, credentials(board), first.accessToken)
    await forCode(board, text)
  })

  test.each([
    ['revoked', { revoked_at_ms: 1_770_000_000_000 }],
    ['expired and not refreshable', { refresh_digest: null, expires_at_ms: 1_770_000_000_000 }],
  ])('deletes %s tokens at the limit', async (_, ended) => {
    const first = await forCode(board, await newCode(board))
    await fill(ended)
    await forCode(board, await newCode(board))
    expect([await count(), await stateOf(first.accessToken)]).toEqual([2, 'valid'])
  })

  test('a repeated refresh succeeds at the limit, and deletes the tokens that its earlier repetitions created', async () => {
    const first = await forCode(board, await newCode(board))
    await fill({})
    const answers = [await refresh(first.refreshToken), await refresh(first.refreshToken)]
    expect(await Promise.all(answers.map(({ accessToken }) => stateOf(accessToken)))).toEqual([undefined, 'valid'])
    expect(await count()).toBe(10_001)
  })
})
