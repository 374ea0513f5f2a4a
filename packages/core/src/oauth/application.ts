import { z } from 'zod'
import { errorTexts } from '../kit/error-texts.ts'
import { problem } from '../kit/parse-input.ts'
import { oauthScopes } from '../tokens/scope.ts'

/** A program that requests tokens to act for users or for itself. */
export interface Application {
  /** The id of the record. */
  readonly id: number
  /** The OAuth client id: 64 hex digits. */
  readonly uid: string
  readonly name: string
  readonly redirectUris: readonly string[]
  /** Whether the program can keep a secret; if so, it must send it. */
  readonly isConfidential: boolean
  readonly scopes: readonly string[]
}

/** An application with its secret, which only creation and renewal return. */
export interface ApplicationWithSecret extends Application {
  readonly secret: string
}

/** Blank names and addresses are reported as invalid attributes, blank scopes as an invalid parameter. */
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
/** A browser would execute these, or show content of the application as if it came from this service. */
const forbiddenSchemes = ['javascript:', 'vbscript:', 'data:']

/** Returns the words of a text, each once. */
export const uniqueWords = (text: string): string[] => [...new Set(text.split(/\s+/).filter((word) => word !== ''))]

/** Returns the problems of a draft by attribute; empty if it may be created. */
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
  if (name.trim() === '') return [errorTexts.blank]
  return name.length > MAX_NAME_LENGTH ? [errorTexts.tooLong(MAX_NAME_LENGTH)] : []
}

function validateRedirectUris(text: string): string[] {
  if (text.trim() === '') return [errorTexts.blank]
  if (text.length > MAX_REDIRECT_URIS_LENGTH) {
    return [errorTexts.tooLong(MAX_REDIRECT_URIS_LENGTH)]
  }
  return [...new Set(uniqueWords(text).flatMap(validateRedirectUri))]
}

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
