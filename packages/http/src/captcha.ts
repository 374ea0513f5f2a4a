import type { IncomingHttpHeaders } from 'node:http'
import { headerIn } from './credentials.ts'

/** What someone sends again with, whose request was taken for spam. */
export interface CaptchaAnswer {
  readonly response: string
  readonly spamLogId: number
}

/** @see spec/interface-1.md 4.1 */
export function captchaAnswerIn(headers: IncomingHttpHeaders, serviceName: string): CaptchaAnswer | undefined {
  const response = headerIn(headers, `x-${serviceName}-captcha-response`)
  const spamLogId = headerIn(headers, `x-${serviceName}-spam-log-id`)
  if (response === undefined || response === '' || spamLogId === undefined) return undefined
  return /^\d{1,15}$/.test(spamLogId) ? { response, spamLogId: Number(spamLogId) } : undefined
}
