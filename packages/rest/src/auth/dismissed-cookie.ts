import type { IncomingHttpHeaders } from 'node:http'
import type { CoreSettings } from '@penstock/core'
import { cookieIn } from '@penstock/http'
import { cookieAttributes } from './session-cookie.ts'

/** The limit of dismissed messages that a browser remembers: the newest ones. */
const MAX_IDS = 100
/** Browsers keep no cookie for longer. */
const MAX_AGE_SECONDS = 400 * 86_400

const cookieName = (serviceName: string): string => `_${serviceName}_dismissed_messages`

/** Returns the ids of the messages that the browser has dismissed. */
export function dismissedIdsIn(headers: IncomingHttpHeaders, serviceName: string): number[] {
  const value = cookieIn(headers, cookieName(serviceName)) ?? ''
  return /^\d{1,9}(-\d{1,9}){0,99}$/.test(value) ? value.split('-').map(Number) : []
}

/** Returns the header that sets the ids of the dismissed messages until the last of them has ended. */
export function setDismissed(
  messages: readonly { readonly id: number; readonly endsAtMs: number }[],
  nowMs: number,
  settings: CoreSettings,
): Record<string, string> {
  const kept = messages.toSorted((one, other) => other.id - one.id).slice(0, MAX_IDS)
  const seconds = Math.ceil((Math.max(...kept.map(({ endsAtMs }) => endsAtMs)) - nowMs) / 1_000)
  const attributes = [
    `${cookieName(settings.serviceName)}=${kept.map(({ id }) => id).join('-')}`,
    ...cookieAttributes(settings),
    `Max-Age=${Math.min(Math.max(seconds, 0), MAX_AGE_SECONDS)}`,
  ]
  return { 'Set-Cookie': attributes.join('; ') }
}
