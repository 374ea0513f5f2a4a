import type { ApiError } from '../api/client.ts'

/** A sentence on the sign-in page about the former session, or about a sign-in without a form. */
export interface SessionNote {
  readonly meaning: 'failed' | 'warning' | 'passed'
  readonly text: string
}

export const signedOut: SessionNote = { meaning: 'passed', text: 'You are signed out.' }

/** The sentences for the values of `session_ended` in the API. */
const ends: Readonly<Record<string, string>> = {
  max_age: 'Your session ended 24 hours after you signed in.',
  unused: 'Your session ended because it was not used for 8 hours.',
  signed_out: 'Your session was signed out elsewhere.',
  key_revoked: 'Your session ended because its API key was revoked.',
  key_expired: 'Your session ended because its API key has expired.',
  too_many: 'Your session ended because its API key signed in more than 100 times elsewhere.',
}

/**
 * Returns why the session of this browser has ended, from the answer that refused a request.
 *
 * @param hadSession whether this page had a session before
 * @returns null if the browser had no session
 */
export function endNote({ details }: Pick<ApiError, 'details'>, hadSession: boolean): SessionNote | null {
  const end = (details as { readonly session_ended?: unknown } | null)?.session_ended
  if (typeof end === 'string') {
    return { meaning: 'warning', text: Object.hasOwn(ends, end) ? ends[end]! : 'Your session has ended.' }
  }
  if (!hadSession) return null
  return {
    meaning: 'warning',
    text: 'Your session has ended: you signed out in another tab, or the browser deleted its cookie.',
  }
}
