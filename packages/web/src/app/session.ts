import { signal } from '@preact/signals'
import type { Role, Session } from '../api/answers.ts'
import { ApiError, getJson, sendJson, setCsrfToken, whenSessionEnds, whenSessionIsReplaced } from '../api/client.ts'
import { endNote, type SessionNote, signedOut } from './session-note.ts'

const PATH = '/api/v1/session'

/** The session: undefined until the service has answered, null without one. */
export const session = signal<Session | null | undefined>(undefined)

/** The note on the sign-in page, above the button; null if there is none. */
export const sessionNote = signal<SessionNote | null>(null)

/** Returns whether the session's role includes another. Pages hide the controls that a role may not use. */
export function may(role: Role): boolean {
  const rank: readonly Role[] = ['Viewer', 'Editor', 'Admin']
  return session.value != null && rank.indexOf(session.value.role) >= rank.indexOf(role)
}

/**
 * Begins the session: with the one-time code of the address if it has one, or with the cookie of the browser.
 * The code is removed from the address and from the history before it is used.
 */
export async function beginSession(): Promise<void> {
  whenSessionEnds((refusal) => {
    // Several requests can be refused at once. The note of the first one stays.
    if (session.value !== null) sessionNote.value = endNote(refusal, session.value !== undefined)
    accept(null)
  })
  whenSessionIsReplaced(async () => accept(await getJson<Session>(PATH)))
  // A link that is opened where the sign-in form stands changes only the fragment, and loads no page.
  addEventListener('hashchange', () => {
    const code = takeCode()
    if (code !== undefined) void resume(code)
  })
  await resume(takeCode())
}

async function resume(code: string | undefined): Promise<void> {
  try {
    accept(code === undefined ? await getJson<Session>(PATH) : await exchange({ code }))
    sessionNote.value = null
  } catch (error) {
    // A used link that is opened again may well be one that this browser has used, and any page can open a link.
    if (code !== undefined) {
      await resume(undefined)
      if (session.value === null) {
        sessionNote.value = failed(
          isRefused(error) ? 'This sign-in link is no longer valid. Sign in with an API key.' : textOf(error),
        )
      }
      return
    }
    accept(null)
    if (!isRefused(error)) sessionNote.value = failed(textOf(error))
  }
}

const failed = (text: string): SessionNote => ({ meaning: 'failed', text })

const isRefused = (error: unknown): boolean => error instanceof ApiError && error.status === 401

/** Signs in with an API key, which is not kept. @throws {ApiError} */
export async function signIn(apiKey: string): Promise<void> {
  const begun = await exchange({ api_key: apiKey })
  sessionNote.value = null
  accept(begun)
}

/** Ends the session in the service and in the page. @throws {ApiError} */
export async function signOut(): Promise<void> {
  await sendJson('DELETE', PATH)
  sessionNote.value = signedOut
  accept(null)
}

/** Sends a key or a code and returns the session that it begins. */
function exchange(proof: { readonly api_key: string } | { readonly code: string }): Promise<Session> {
  return sendJson<Session>('POST', PATH, proof)
}

function accept(begun: Session | null): void {
  setCsrfToken(begun?.csrf_token ?? '')
  session.value = begun
}

/** The form of one-time codes: 256 bits in base64url. Others need no request. */
const codeForm = /^[\w-]{43}$/

/** Returns the code of the fragment `#code=…` and removes the fragment from the address. */
function takeCode(): string | undefined {
  const code = new URLSearchParams(location.hash.slice(1)).get('code')
  if (code === null) return undefined
  history.replaceState(null, '', location.pathname + location.search)
  return codeForm.test(code) ? code : undefined
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
