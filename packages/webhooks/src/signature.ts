import { createHmac } from 'node:crypto'

interface Signed {
  readonly id: string
  readonly atMs: number
  readonly body: Uint8Array
}

const PREFIX = 'whsec_'

/**
 * Returns the headers that prove the sender of a request.
 *
 * @param token `whsec_` and a key in Base64
 * @see https://www.standardwebhooks.com, symmetric signatures
 */
export function signatureHeaders(token: string, { id, atMs, body }: Signed): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(atMs / 1_000))
  const key = Buffer.from(token.slice(PREFIX.length), 'base64')
  const mac = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${mac}` }
}
