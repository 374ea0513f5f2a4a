import { createHash } from 'node:crypto'
import { equalsInConstantTime } from '../tokens/opaque-secret.ts'

const challengeMethods = ['plain', 'S256'] as const
export type ChallengeMethod = (typeof challengeMethods)[number]

export interface Challenge {
  readonly text: string
  readonly method: ChallengeMethod
}

/** The format of verifiers and of plain challenges. */
const verifierForm = /^[A-Za-z0-9\-._~]{43,128}$/
/** The format of SHA-256 in base64url, without padding. */
const s256Form = /^[A-Za-z0-9\-_]{43}$/

/**
 * Parses a PKCE challenge; `undefined` if no verifier could match it. The default method is `plain`.
 *
 * @see RFC 7636 4.2, 4.3
 */
export function challengeOf(text: string, method = 'plain'): Challenge | undefined {
  if (method === 'S256') return s256Form.test(text) ? { text, method } : undefined
  if (method === 'plain') return verifierForm.test(text) ? { text, method } : undefined
  return undefined
}

export const challengeOfColumns = (row: {
  readonly challenge: string | null
  readonly challenge_method: ChallengeMethod | null
}): Challenge | undefined =>
  row.challenge === null ? undefined : { text: row.challenge, method: row.challenge_method ?? 'plain' }

/**
 * Returns whether the verifier matches the challenge. A verifier without a challenge does not match: someone may have removed
 * the challenge from the authorization request.
 *
 * @see RFC 7636 4.6; RFC 9700 4.8.2
 */
export function verifierMatches(challenge: Challenge | undefined, verifier: string | undefined): boolean {
  if (challenge === undefined || verifier === undefined) return challenge === undefined && verifier === undefined
  if (!verifierForm.test(verifier)) return false
  const expected =
    challenge.method === 'plain' ? verifier : createHash('sha256').update(verifier, 'ascii').digest('base64url')
  return equalsInConstantTime(expected, challenge.text)
}
