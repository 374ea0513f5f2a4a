import { z } from 'zod'
import { problem } from '../kit/parse-input.ts'
import { oauthScopes } from '../tokens/scope.ts'

/** A program that acts for users, or for itself, with tokens that it asks for. */
export interface Application {
  /** Of the record. */
  readonly id: number
  /** What the program calls itself: the OAuth client id; 64 hex digits. */
  readonly uid: string
  readonly name: string
  readonly redirectUris: readonly string[]
  /** Whether it can keep a secret, and so must show it. */
  readonly isConfidential: boolean
  readonly scopes: readonly string[]
}

/** The only moment at which the secret is known. */
export interface ApplicationWithSecret extends Application {
  readonly secret: string
}

/** Blank names and addresses are for the rules of the model to complain of; blank scopes are a wrong parameter. */
export const applicationDraft = z.object({
  name: z.string(),
  redirectUri: z.string(),
  /** Separated by spaces. */
  scopes: z.string().superRefine((scopes, context) => {
    if (scopes.trim() === '') context.addIssue(problem('empty'))
  }),
  confidential: z.boolean().default(true),
})

const MAX_NAME_LENGTH = 255
const MAX_REDIRECT_URIS_LENGTH = 4_096
/** A browser would run them, or show what the application says as if it were ours. */
const forbiddenSchemes = ['javascript:', 'vbscript:', 'data:']

export const uniqueWords = (text: string): string[] => [...new Set(text.split(/\s+/).filter((word) => word !== ''))]

/** What the rules say against a draft, by attribute; none: it may be created. @see spec/rest-part2-details.md 3 */
export function validateApplication(draft: {
  readonly name: string
  readonly redirectUri: string
  readonly scopes: readonly string[]
}): Record<string, string[]> {
  const problems = {
    name: validateName(draft.name),
    redirectUri: validateRedirectUris(draft.redirectUri),
    scopes: draft.scopes.every((scope) => oauthScopes.includes(scope))
      ? []
      : ["doesn't match configured on the server."],
  }
  return Object.fromEntries(Object.entries(problems).filter(([, texts]) => texts.length > 0))
}

function validateName(name: string): string[] {
  if (name.trim() === '') return ["can't be blank"]
  return name.length > MAX_NAME_LENGTH ? [`is too long (maximum is ${MAX_NAME_LENGTH} characters)`] : []
}

function validateRedirectUris(text: string): string[] {
  if (text.trim() === '') return ["can't be blank"]
  if (text.length > MAX_REDIRECT_URIS_LENGTH) {
    return [`is too long (maximum is ${MAX_REDIRECT_URIS_LENGTH} characters)`]
  }
  return [...new Set(uniqueWords(text).flatMap(validateRedirectUri))]
}

function validateRedirectUri(uri: string): string[] {
  // Relative, so without a scheme: `URL` would call it invalid.
  if (/^[\w\-./?=&%]+$/.test(uri)) return ['must be an absolute URI.']
  // What a URI may be written with; a parser of browsers mends the rest, and so would read another URI than we compare.
  if (!/^[\w\-.~:/?#[\]@!$&'()*+,;=%]+$/.test(uri) || !URL.canParse(uri)) return ['must be a valid URI.']
  const { protocol, host } = new URL(uri)
  if (forbiddenSchemes.includes(protocol)) return ['is forbidden by the server.']
  if (uri.includes('#')) return ['cannot contain a fragment.']
  if (/^https?:$/.test(protocol) && (host === '' || !/^https?:\/\//i.test(uri))) return ['must be an absolute URI.']
  return []
}
