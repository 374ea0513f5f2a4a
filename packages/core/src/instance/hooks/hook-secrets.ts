import type { Core } from '../../base/operations/context.ts'
import { newNonce, sealText, unsealText } from '../../base/secrets/sealed-text.ts'
import { expandUrl, targetOf, type UrlVariables } from './hook-url.ts'

/** The values of a hook that no answer shows. */
export interface HookSecrets {
  readonly token: string | undefined
  readonly signingToken: string | undefined
  readonly urlVariables: UrlVariables
  readonly customHeaders: Readonly<Record<string, string>>
}

export const noSecrets: HookSecrets = { token: undefined, signingToken: undefined, urlVariables: {}, customHeaders: {} }

/** The hook that owns sealed secrets. They cannot be decrypted for another URL. */
interface Place {
  readonly projectId: number
  readonly url: string
}

/** Returns the place to which the encryption of the secrets is bound. */
export const hookSecretsPlace = ({ projectId, url }: Place): string[] => ['hook_secrets', String(projectId), url]

export const sealSecrets = (
  { settings, randomBytes }: Pick<Core, 'settings' | 'randomBytes'>,
  place: Place,
  secrets: HookSecrets,
): string => sealText(settings.secretsKey, newNonce(randomBytes), hookSecretsPlace(place), JSON.stringify(secrets))

export function unsealSecrets({ settings }: Pick<Core, 'settings'>, place: Place, sealed: string): HookSecrets {
  const stored = JSON.parse(unsealText(settings.secretsKey, hookSecretsPlace(place), sealed)) as Partial<HookSecrets>
  return { ...noSecrets, ...stored }
}

/** A header or variable of a request. Without a value, it represents the stored one. */
export interface GivenPair {
  readonly key: string
  readonly value?: string | null | undefined
}

interface GivenSecrets {
  readonly url: string
  readonly token?: string | null | undefined
  readonly signingToken?: string | null | undefined
  readonly urlVariables?: readonly GivenPair[] | null | undefined
  readonly customHeaders?: readonly GivenPair[] | null | undefined
}

/**
 * Returns the secrets of a hook after a request. Headers and variables are merged by key. A secret is not sent to a
 * receiver for which it was not given: another URL clears the token, another expanded URL the stored headers, and another
 * scheme, host or port the stored variables and the token.
 */
export function secretsAfter(
  before: { readonly url: string; readonly secrets: HookSecrets },
  given: GivenSecrets,
): HookSecrets {
  const { secrets } = before
  const variables = { ...secrets.urlVariables, ...pairsOf(given.urlVariables) }
  const [former, next] = [expandUrl(before.url, secrets.urlVariables), expandUrl(given.url, variables)]
  const isSameOrigin = originOf(former) === originOf(next)
  const keepsToken = isSameOrigin && given.url === before.url
  return {
    token: given.token === undefined ? (keepsToken ? secrets.token : undefined) : given.token || undefined,
    signingToken: given.signingToken === undefined ? secrets.signingToken : given.signingToken || undefined,
    urlVariables: isSameOrigin ? variables : pairsOf(given.urlVariables),
    customHeaders: { ...(former === next && secrets.customHeaders), ...pairsOf(given.customHeaders) },
  }
}

/** Returns the pairs that have a value, by key. A later pair replaces an earlier one with the same key. */
const pairsOf = (pairs: readonly GivenPair[] | null | undefined): Record<string, string> =>
  Object.fromEntries((pairs ?? []).flatMap(({ key, value }) => (value == null ? [] : [[key, value]])))

const originOf = (expanded: string | undefined): string | undefined =>
  expanded === undefined ? undefined : targetOf(expanded)?.url.origin
