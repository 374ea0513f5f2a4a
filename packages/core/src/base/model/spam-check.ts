import type { ActingUser, User } from './user.ts'

/** A text that is about to be stored. */
export interface SpamSuspect {
  readonly kind: 'issue' | 'snippet'
  readonly title: string
  readonly description: string | undefined
  /** The new and changed files of a snippet; of one that becomes public, also the others. */
  readonly files?: readonly { readonly path: string; readonly content: string }[]
  readonly author: ActingUser
  /** Whether everyone can read it. */
  readonly isPublic: boolean
  /** The author's solution of the CAPTCHA, which the spam check verifies with the CAPTCHA's service. */
  readonly captchaResponse: string | undefined
  /** The address and the program of the client, if the text comes from a request. */
  readonly address: string | undefined
  readonly userAgent: string | undefined
}

export type SpamVerdict =
  | { readonly kind: 'ok' }
  | { readonly kind: 'spam' }
  /** The text is accepted once the caller has solved a CAPTCHA with this site key. */
  | { readonly kind: 'captcha'; readonly siteKey: string }

/** Classifies a text. It must time out by itself; an error fails the change. */
export type SpamCheck = (suspect: SpamSuspect) => Promise<SpamVerdict>

/** Tells a spam-detection service that a text is spam. It must time out by itself. */
export type SpamReport = (
  suspect: Omit<SpamSuspect, 'author' | 'captchaResponse' | 'address' | 'userAgent'> & {
    readonly author: Pick<User, 'id' | 'username'> | undefined
    readonly userAgent: string
    readonly ipAddress: string
  },
) => Promise<void>
