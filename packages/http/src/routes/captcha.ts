import type { IncomingHttpHeaders } from 'node:http'
import { headerIn } from './credentials.ts'

/** The solved CAPTCHA that a client sends when it repeats a request that was rejected as spam. */
export interface CaptchaAnswer {
  readonly response: string
  readonly spamLogId: number
}

/** Returns the CAPTCHA answer in the headers of a request, or `undefined` if it is missing or incomplete. */
export function captchaAnswerIn(headers: IncomingHttpHeaders, serviceName: string): CaptchaAnswer | undefined {
  const response = headerIn(headers, `x-${serviceName}-captcha-response`)
  const spamLogId = headerIn(headers, `x-${serviceName}-spam-log-id`)
  if (response === undefined || response === '' || spamLogId === undefined) return undefined
  return /^\d{1,15}$/.test(spamLogId) ? { response, spamLogId: Number(spamLogId) } : undefined
}
