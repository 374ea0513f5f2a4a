import { describe, expect, test } from 'vitest'
import {
  board,
  CALLBACK,
  CHALLENGE,
  code,
  find,
  forCode,
  inOAuthWorld,
  newApplication,
  newCode,
  refresh,
  setState,
  stateOf,
  VERIFIER,
  world,
} from './oauth.harness.ts'

inOAuthWorld()

describe('authorization code', () => {
  test('can be exchanged once for a token of its user and scopes', async () => {
    const text = await newCode(board, { scope: 'read_user' })
    const issued = await forCode(board, text)
    expect(issued).toMatchObject({ scopes: ['read_user'], expiresInSeconds: 7_200 })
    expect(issued.accessToken).toMatch(/^[0-9a-f]{64}$/)
    expect(await find(issued.accessToken)).toMatchObject({
      kind: 'oauth',
      state: 'valid',
      user: { username: 'mira' },
      scopes: ['read_user'],
    })
    expect(await forCode(board, text).catch(code)).toBe('invalid_grant')
  })

  test('a second use revokes the tokens of the first, refreshed ones included', async () => {
    const text = await newCode(board)
    const first = await forCode(board, text)
    const second = await refresh(first.refreshToken)
    expect(await forCode(board, text).catch(code)).toBe('invalid_grant')
    expect([await stateOf(first.accessToken), await stateOf(second.accessToken)]).toEqual(['revoked', 'revoked'])
    expect(await refresh(second.refreshToken).catch(code)).toBe('invalid_grant')
  })

  test('only one of two concurrent exchanges of a code succeeds', async () => {
    const text = await newCode(board)
    const outcomes = await Promise.all([1, 2].map(() => forCode(board, text).then(() => 'issued', code)))
    expect(outcomes.toSorted()).toEqual(['invalid_grant', 'issued'])
  })

  test('expires after 10 minutes', async () => {
    const text = await newCode(board)
    await world.clock.advance(600_000)
    expect(await forCode(board, text).catch(code)).toBe('invalid_grant')
  })

  test('is valid for its application and redirect URI only, and attempts of other applications do not use it up', async () => {
    const other = await newApplication({ redirectUri: `${CALLBACK}\n${CALLBACK}/2` })
    const text = await newCode(board)
    expect(await forCode(other, text).catch(code)).toBe('invalid_grant')
    expect(await forCode(board, text, { redirectUri: `${CALLBACK}/2` }).catch(code)).toBe('invalid_grant')
    expect(await forCode(board, text, { redirectUri: undefined }).catch(code)).toBe('invalid_request')
    expect(await stateOf((await forCode(board, text)).accessToken)).toBe('valid')
  })

  test('accepts a redirect URI only exactly as it was registered', async () => {
    expect(await newCode(board, { redirectUri: `${CALLBACK}/` }).catch(code)).toBe('invalid_request')
    expect(await newCode(board, { redirectUri: CALLBACK.toUpperCase() }).catch(code)).toBe('invalid_request')
  })

  test('cannot be exchanged while its user is blocked', async () => {
    const text = await newCode(board)
    await setState('blocked')
    expect(await forCode(board, text).catch(code)).toBe('invalid_grant')
  })
})

describe('PKCE', () => {
  const challenged = { codeChallenge: CHALLENGE, codeChallengeMethod: 'S256' }

  test.each([
    { ...challenged, codeVerifier: VERIFIER },
    { codeChallenge: VERIFIER, codeVerifier: VERIFIER },
    { codeChallenge: VERIFIER, codeChallengeMethod: 'plain', codeVerifier: VERIFIER },
  ])('$codeChallengeMethod: the verifier matches the challenge', async ({ codeVerifier, ...challenge }) => {
    await forCode(board, await newCode(board, challenge), { codeVerifier })
  })

  test.each([
    { ...challenged, codeVerifier: VERIFIER.replace('d', 'e') },
    { ...challenged, codeVerifier: CHALLENGE },
    { ...challenged, codeVerifier: undefined },
    { codeChallenge: VERIFIER, codeVerifier: CHALLENGE },
    // The challenge was removed from the authorization request.
    { codeVerifier: VERIFIER },
  ])('%j does not match the challenge', async ({ codeVerifier, ...challenge }) => {
    const text = await newCode(board, challenge)
    expect(await forCode(board, text, { codeVerifier }).catch(code)).toBe('invalid_grant')
  })

  test.each([
    { codeChallenge: 'short' },
    { codeChallenge: CHALLENGE, codeChallengeMethod: 'S512' },
    { codeChallenge: `${CHALLENGE}=`, codeChallengeMethod: 'S256' },
  ])('%j is not a valid challenge', async (challenge) => {
    expect(await newCode(board, challenge).catch(code)).toBe('invalid_request')
  })

  test('a public application needs a challenge but no secret', async () => {
    const open = await newApplication({ confidential: false })
    expect(await newCode(open).catch(code)).toBe('invalid_request')
    const text = await newCode(open, challenged)
    const issued = await forCode(open, text, { clientSecret: undefined, codeVerifier: VERIFIER })
    await refresh(issued.refreshToken, { clientId: open.uid, clientSecret: undefined })
  })

  test.each([
    ['the same', { redirectUri: CALLBACK, codeVerifier: VERIFIER }, 'issued'],
    ['neither', {}, 'issued'],
    ['another redirect URI', { redirectUri: `${CALLBACK}/2` }, 'invalid_grant'],
    ['another verifier', { codeVerifier: CHALLENGE }, 'invalid_grant'],
  ])('a refresh compares redirect URI and verifier with those of the code: %s', async (_, shown, expected) => {
    const open = await newApplication({ confidential: false, redirectUri: `${CALLBACK}\n${CALLBACK}/2` })
    const text = await newCode(open, challenged)
    const first = await forCode(open, text, { clientSecret: undefined, codeVerifier: VERIFIER })
    const withoutSecret = { clientId: open.uid, clientSecret: undefined }
    const second = await refresh(first.refreshToken, withoutSecret)
    expect(await refresh(second.refreshToken, { ...withoutSecret, ...shown }).then(() => 'issued', code)).toBe(expected)
    await refresh(second.refreshToken, withoutSecret)
  })
})
