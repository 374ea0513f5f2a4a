import { z } from 'zod'
import { flag, hasText, id, maxLength, type ObjectOf, parametersOf, text } from '../../base/kit/field-table.ts'
import { problem } from '../../base/kit/parse-input.ts'
import { oauthScopes } from '../tokens/scope.ts'

const MAX_NAME_LENGTH = 255
const MAX_REDIRECT_URIS_LENGTH = 4_096

/** Returns the words of a text, each once. */
const uniqueWords = (words: string): string[] => [...new Set(words.split(/\s+/).filter((word) => word !== ''))]

/** Blank names and addresses are reported as invalid attributes, blank scopes as an invalid parameter. */
const scopesParameter = z.string().superRefine((scopes, context) => {
  if (scopes.trim() === '') context.addIssue(problem('empty'))
})
const areKnownScopes = (scopes: string) =>
  !uniqueWords(scopes).every((scope) => oauthScopes.includes(scope)) && "doesn't match configured on the server."

/** The fields that an administrator sets. */
export const applicationDraft = {
  name: text('name').check(hasText, maxLength(MAX_NAME_LENGTH)),
  /** One or more URIs; the database has one per line. */
  redirectUri: text('redirect_uris').check(hasText, maxLength(MAX_REDIRECT_URIS_LENGTH)),
  /** Separated by spaces. */
  scopes: text('scopes').parse(scopesParameter).check(areKnownScopes),
  /** Whether the program can keep a secret; if so, it must send it. */
  isConfidential: flag('is_confidential').as('confidential').default(true),
}
export const applicationFields = {
  id: id(),
  /** The OAuth client id: 64 hex digits. */
  uid: text('uid'),
  ...applicationDraft,
  /** Whether users are not asked for consent, because the application belongs to this service. */
  isTrusted: flag('is_trusted'),
}
export type ApplicationDraft = ObjectOf<typeof applicationDraft>
type ApplicationRecord = ObjectOf<typeof applicationFields>

/** A program that requests tokens to act for users or for itself. */
export interface Application extends Omit<ApplicationRecord, 'redirectUri' | 'scopes'> {
  readonly redirectUris: readonly string[]
  readonly scopes: readonly string[]
}

/** An application with its secret, which only creation and renewal return. */
export interface ApplicationWithSecret extends Application {
  readonly secret: string
}

export const createApplicationInput = z.object(parametersOf(applicationDraft))

/** Returns the draft as it is stored: each address and scope once. */
export const storedDraft = ({ redirectUri, scopes, ...draft }: ApplicationDraft): ApplicationDraft => ({
  ...draft,
  redirectUri: uniqueWords(redirectUri).join('\n'),
  scopes: uniqueWords(scopes).join(' '),
})

export const toApplication = ({ redirectUri, scopes, ...plain }: ApplicationRecord): Application => ({
  ...plain,
  redirectUris: redirectUri.split('\n'),
  scopes: scopes.split(' '),
})

/** A browser would execute these, or show content of the application as if it came from this service. */
const forbiddenSchemes = ['javascript:', 'vbscript:', 'data:']

/** Returns the problems of the addresses, each once. A text that is too long is not read. */
export const validateRedirectUris = (redirectUri: string): string[] =>
  redirectUri.length > MAX_REDIRECT_URIS_LENGTH
    ? []
    : [...new Set(uniqueWords(redirectUri).flatMap(validateRedirectUri))]

function validateRedirectUri(uri: string): string[] {
  // A relative URI has no scheme, and `URL` would report it as invalid.
  if (/^[\w\-./?=&%]+$/.test(uri)) return ['must be an absolute URI.']
  // These are the characters of a URI. Browsers repair other characters, and so would read another URI than the one
  // compared.
  if (!/^[\w\-.~:/?#[\]@!$&'()*+,;=%]+$/.test(uri) || !URL.canParse(uri)) return ['must be a valid URI.']
  const { protocol, host } = new URL(uri)
  if (forbiddenSchemes.includes(protocol)) return ['is forbidden by the server.']
  if (uri.includes('#')) return ['cannot contain a fragment.']
  if (/^https?:$/.test(protocol) && (host === '' || !/^https?:\/\//i.test(uri))) return ['must be an absolute URI.']
  return []
}
