import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { type Credentials, digestOf } from './sources.ts'

/** Why a request is not let in: for the log, and never for whoever sent it. */
export type CredentialRefusal =
  | 'token_missing'
  | 'token_wrong'
  | 'signature_missing'
  | 'timestamp_unreadable'
  | 'timestamp_outside_window'
  | 'signature_wrong'

/** How far the sender's clock may be from ours, and how long a recorded request can be sent again. */
const REPLAY_WINDOW_MS = 5 * 60_000

/**
 * What can be told before the body is read: the secret token, where the source has one, and whether there is a signature
 * of this time, where it has a signing token.
 *
 * @param tokenHeaders in lower case; one that is right suffices
 * @see spec/rest-part3-details.md 1.10; Standard Webhooks, "Verifying webhook authenticity"
 */
export function refusalOfHead(
  { tokenDigests, signingKeys }: Credentials,
  headers: IncomingHttpHeaders,
  tokenHeaders: readonly string[],
  nowMs: number,
): CredentialRefusal | undefined {
  if (tokenDigests.length > 0) {
    const shown = tokenHeaders.map((name) => headers[name]).filter((value) => typeof value === 'string')
    if (shown.length === 0) return 'token_missing'
    // Digests are of one length, so that comparing them takes one time.
    const digests = shown.map((value) => digestOf(headerBytes(value)))
    if (!digests.some((digest) => tokenDigests.some((own) => timingSafeEqual(own, digest)))) return 'token_wrong'
  }
  return signingKeys.length > 0 ? refusalOfTimestamp(headers, nowMs) : undefined
}

function refusalOfTimestamp(headers: IncomingHttpHeaders, nowMs: number): CredentialRefusal | undefined {
  const { id, timestamp, signatures } = signatureHeaders(headers)
  if (id === '' || timestamp === '' || signatures === '') return 'signature_missing'
  if (!/^\d{1,12}$/.test(timestamp)) return 'timestamp_unreadable'
  return Math.abs(Number(timestamp) * 1_000 - nowMs) > REPLAY_WINDOW_MS ? 'timestamp_outside_window' : undefined
}

/** The signature over the body as it came, of a request that `refusalOfHead` let pass. */
export function refusalOfBody(
  { signingKeys }: Credentials,
  headers: IncomingHttpHeaders,
  body: Buffer,
): CredentialRefusal | undefined {
  if (signingKeys.length === 0) return undefined
  const { id, timestamp, signatures } = signatureHeaders(headers)
  const signed = signatures.split(' ').map((text) => Buffer.from(text))
  for (const key of signingKeys) {
    const hmac = createHmac('sha256', key)
      .update(headerBytes(`${id}.${timestamp}.`))
      .update(body)
    const right = Buffer.from(`v1,${hmac.digest('base64')}`)
    if (signed.some((text) => text.length === right.length && timingSafeEqual(text, right))) return undefined
  }
  return 'signature_wrong'
}

function signatureHeaders(headers: IncomingHttpHeaders): { id: string; timestamp: string; signatures: string } {
  const text = (name: string) => headers[name]?.toString() ?? ''
  return {
    id: text('webhook-id'),
    timestamp: text('webhook-timestamp'),
    signatures: text('webhook-signature'),
  }
}

/** Node reads each byte of a header as one character. */
const headerBytes = (value: string): Buffer => Buffer.from(value, 'latin1')
