import { DomainError } from '@penstock/core'
import { HttpClient } from '@penstock/delivery'
import type { ClosableSpamCheck } from './spam-service.ts'

/** A service that verifies solutions of CAPTCHAs, with the interface that reCAPTCHA, hCaptcha and Turnstile share. */
interface CaptchaService {
  /** The key that clients need to show the CAPTCHA. */
  readonly siteKey: string
  readonly secret: string
  /** The URL that verifies a solution. */
  readonly url: string
}

const TIMEOUT_MS = 5_000
const RETRY_AFTER_SECONDS = 30

/**
 * Returns a spam check that requires the solution of a CAPTCHA for every public text. Texts of bots are accepted
 * without one, because bots cannot solve CAPTCHAs.
 */
export function captchaCheck({ siteKey, secret, url }: CaptchaService): ClosableSpamCheck {
  const client = new HttpClient()
  return {
    async check({ isPublic, author, captchaResponse }) {
      if (!isPublic || author.botHome !== undefined) return { kind: 'ok' }
      const isSolved = captchaResponse !== undefined && (await isVerified(client, url, secret, captchaResponse))
      return isSolved ? { kind: 'ok' } : { kind: 'captcha', siteKey }
    },
    close: () => client.close(),
  }
}

/** @throws DomainError `unavailable` if the service gives no usable answer */
async function isVerified(client: HttpClient, url: string, secret: string, response: string): Promise<boolean> {
  const reply = await client.send({
    method: 'POST',
    url: new URL(url),
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    body: Buffer.from(new URLSearchParams({ secret, response }).toString()),
    timeoutMs: TIMEOUT_MS,
  })
  const answer = reply.kind === 'reply' && reply.status === 200 ? parsed(reply.body) : undefined
  if (typeof answer?.success !== 'boolean') {
    throw new DomainError({ code: 'unavailable', retryAfterSeconds: RETRY_AFTER_SECONDS })
  }
  return answer.success
}

function parsed(body: Uint8Array): { readonly success?: unknown } | undefined {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8')) ?? undefined
  } catch {
    return undefined
  }
}
