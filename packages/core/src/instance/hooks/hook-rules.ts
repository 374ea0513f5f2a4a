import { createHash } from 'node:crypto'
import { isBranchFilter } from './branch-filter.ts'
import type { HookDraft } from './hook.ts'
import type { HookSecrets } from './hook-secrets.ts'
import { expandUrl, MAX_URL, targetOf } from './hook-url.ts'

export const MAX_HOOKS = 100
const MAX_PAIRS = 20
const MAX_VALUE = 2_048
export const MAX_HEADER_NAME = 255
const MAX_TEMPLATE = 4_096
const MAX_NAME = 255
const MAX_DESCRIPTION = 2_048
const MAX_TOKEN = 4_096

const headerKey = /^[A-Za-z]+[0-9]*(?:[._-][A-Za-z0-9]+)*$/
const variableKey = /^(?:[A-Za-z]+[0-9]*(?:[._-][A-Za-z0-9]+)*|[A-Za-z_][A-Za-z0-9_]*)$/
/** A key of 32 bytes in Base64. */
const signingToken = /^whsec_[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/

/** A hook that is about to be stored. */
export interface CheckedHook extends HookDraft {
  readonly secrets: HookSecrets
}

/** Returns the URL that requests are sent to, or `undefined` if the hook has none that is valid. */
export function effectiveUrl({ url, secrets }: Pick<CheckedHook, 'url' | 'secrets'>): string | undefined {
  const expanded = url.length > MAX_URL ? undefined : expandUrl(url, secrets.urlVariables)
  return expanded !== undefined && targetOf(expanded) !== undefined ? expanded : undefined
}

/** Returns the text by which the event log recognises a URL without storing its variables. */
export const digestOfUrl = (url: string): string => createHash('sha256').update(url).digest('hex')

export const hasValidFilter = ({ branchFilterStrategy, pushEventsBranchFilter }: HookDraft): boolean =>
  isBranchFilter(branchFilterStrategy, pushEventsBranchFilter)

export const areValidHeaders = (headers: HookSecrets['customHeaders']): boolean => arePairs(headers, isHeaderKey)
export const areValidVariables = (variables: HookSecrets['urlVariables']): boolean =>
  arePairs(variables, (key) => key.length <= MAX_HEADER_NAME && variableKey.test(key))

const isHeaderKey = (key: string): boolean => key.length <= MAX_HEADER_NAME && headerKey.test(key)

function arePairs(pairs: Readonly<Record<string, string>>, isKey: (key: string) => boolean): boolean {
  const entries = Object.entries(pairs)
  return (
    entries.length <= MAX_PAIRS &&
    entries.every(
      ([key, value]) => isKey(key) && value.length > 0 && value.length <= MAX_VALUE && !value.includes('\0'),
    )
  )
}

/** Returns the messages of the remaining broken rules, by attribute. */
export function hookErrors({ secrets, ...draft }: CheckedHook): Readonly<Record<string, readonly string[]>> {
  const { token, signingToken: signing } = secrets
  const broken: [name: string, isBroken: boolean, message: string][] = [
    ['token', token !== undefined && /[\r\n\0]/.test(token), 'is invalid'],
    ['token', (token ?? '').length > MAX_TOKEN, tooLong(MAX_TOKEN)],
    ['signingToken', signing !== undefined && !signingToken.test(signing), 'is invalid'],
    ['customWebhookTemplate', characters(draft.customWebhookTemplate) > MAX_TEMPLATE, tooLong(MAX_TEMPLATE)],
    ['urlVariables', !areValidVariables(secrets.urlVariables), 'must be a valid json schema'],
    ['name', characters(draft.name) > MAX_NAME, tooLong(MAX_NAME)],
    ['description', characters(draft.description) > MAX_DESCRIPTION, tooLong(MAX_DESCRIPTION)],
  ]
  const errors: Record<string, string[]> = {}
  for (const [name, isBroken, message] of broken) if (isBroken) errors[name] = [...(errors[name] ?? []), message]
  return errors
}

const tooLong = (max: number) => `is too long (maximum is ${max} characters)`
const characters = (value: string | undefined): number => (value === undefined ? 0 : [...value].length)

/** Returns messages as one English sentence: `Token is invalid and Name is too long`. */
export function sentenceOf(errors: Readonly<Record<string, readonly string[]>>): string {
  const parts = Object.entries(errors).flatMap(([name, messages]) =>
    messages.map((message) => (name === 'base' ? message : `${humanized(name)} ${message}`)),
  )
  if (parts.length <= 2) return parts.join(' and ')
  return `${parts.slice(0, -1).join(', ')}, and ${parts.at(-1)}`
}

const humanized = (name: string): string => {
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return words.charAt(0).toUpperCase() + words.slice(1)
}
