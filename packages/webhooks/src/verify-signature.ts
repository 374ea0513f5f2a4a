import { timingSafeEqual } from 'node:crypto'
import { signatureHeaders } from './signature.ts'

/** The highest difference of the clocks of sender and receiver; an older request may be a repeated one. */
const MAX_SKEW_MS = 5 * 60_000

interface ReceivedRequest {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: Uint8Array
  readonly receivedAtMs: number
}

/** The verdict on the signature of a request. A request is `stale` if its signature is valid, but not from these minutes. */
export type Verdict = 'verified' | 'unsigned' | 'stale' | 'invalid'

/** @param token `whsec_` and a key in Base64 */
export function verifySignature(token: string, { headers, body, receivedAtMs }: ReceivedRequest): Verdict {
  const [id, seconds, given] = ['id', 'timestamp', 'signature'].map((name) => headers[`webhook-${name}`])
  if (given === undefined) return 'unsigned'
  const atMs = Number(seconds) * 1_000
  if (typeof id !== 'string' || typeof given !== 'string' || !Number.isSafeInteger(atMs)) return 'invalid'
  const expected = Buffer.from(signatureHeaders(token, { id, atMs, body })['webhook-signature']!)
  const isValid = given.split(' ').some((one) => {
    const signature = Buffer.from(one)
    return signature.length === expected.length && timingSafeEqual(signature, expected)
  })
  if (!isValid) return 'invalid'
  return Math.abs(receivedAtMs - atMs) <= MAX_SKEW_MS ? 'verified' : 'stale'
}

/** Returns whether the text is a signing token: `whsec_` and 32 bytes in Base64. */
export const isSigningToken = (text: string): boolean => /^whsec_[A-Za-z0-9+/]{43}=$/.test(text)
