import { z } from 'zod'
import { DAY_MS, dayAt } from '../../base/kit/day.ts'
import { invalid } from '../../base/kit/domain-error.ts'
import { clearable, day, instant } from '../../base/kit/parameter-schemas.ts'
import { problem } from '../../base/kit/parse-input.ts'
import type { AccessLevel } from '../../base/model/access-level.ts'
import type { User } from '../../base/model/user.ts'
import type { CredentialState } from './authenticated.ts'
import { isAdministratorScope } from './scope.ts'

const accessTokenKinds = ['personal', 'impersonation', 'project', 'group'] as const
export type AccessTokenKind = (typeof accessTokenKinds)[number]

/** A token without its value, which is not stored. */
export interface AccessToken {
  readonly id: number
  readonly kind: AccessTokenKind
  /** The user that the token acts as; for a project or group token its bot. */
  readonly userId: number
  /** For a project or group token: the project or group of its bot, and the bot's role there. */
  readonly projectId: number | undefined
  readonly groupId: number | undefined
  readonly level: AccessLevel | undefined
  readonly name: string
  readonly description: string | undefined
  readonly scopes: readonly string[]
  /** The id of the first token in a chain of rotations. */
  readonly familyId: number
  /** `YYYY-MM-DD`; the token expires at the beginning of that day, UTC. `undefined` if it never expires. */
  readonly expiresAt: string | undefined
  readonly state: CredentialState
  readonly isRevoked: boolean
  /** Updated at most once a minute. */
  readonly lastUsedAtMs: number | undefined
  readonly createdAtMs: number
}

/** A token with its value, which is only returned when it is issued. */
export interface IssuedAccessToken extends AccessToken {
  readonly value: string
}

/** The maximum and default lifetime. */
const MAX_DAYS = 365
/** The default lifetime of a token that was issued by rotation. */
const ROTATED_DAYS = 7
const MAX_TEXT = 255
const MAX_SCOPES = 100

export const tokenName = z.string().trim().min(1).max(MAX_TEXT)
export const tokenDescription = z.string().max(MAX_TEXT).nullish()
/** The expiry date; null means the default. */
export const tokenExpiry = clearable(day)

export const scopesFrom = (names: readonly string[]) =>
  z
    .array(z.string())
    .min(1)
    .max(MAX_SCOPES)
    .superRefine((scopes, context) => {
      if (!scopes.every((scope) => names.includes(scope))) context.addIssue(problem('unknown_value'))
    })
    .transform((scopes) => [...new Set(scopes)])

/** The parameters that filter and sort lists of tokens. */
export const tokenFilters = {
  search: z.string().max(MAX_TEXT).nullish(),
  state: z.enum(['all', 'active', 'inactive']).nullish(),
  revoked: z.boolean().nullish(),
  createdBefore: instant.nullish(),
  createdAfter: instant.nullish(),
  lastUsedBefore: instant.nullish(),
  lastUsedAfter: instant.nullish(),
  expiresBefore: day.nullish(),
  expiresAfter: day.nullish(),
  sort: z
    .enum([
      'created_asc',
      'created_desc',
      'expires_asc',
      'expires_desc',
      'last_used_asc',
      'last_used_desc',
      'name_asc',
      'name_desc',
    ])
    .nullish(),
}
const tokenFilter = z.object(tokenFilters)
export type TokenFilter = z.output<typeof tokenFilter>

/**
 * Returns the expiry date of a new token.
 *
 * @throws DomainError `invalid` for a date in the past or beyond the maximum lifetime
 */
export function expiryOf(wanted: string | null | undefined, nowMs: number): string {
  if (wanted === null || wanted === undefined) return dateAfterDays(nowMs, MAX_DAYS)
  if (wanted < dateAfterDays(nowMs, 0)) throw invalid({ expiresAt: ["can't be in the past"] })
  if (wanted > dateAfterDays(nowMs, MAX_DAYS))
    throw invalid({ expiresAt: [`must be before ${dateAfterDays(nowMs, MAX_DAYS + 1)}`] })
  return wanted
}

export const expiryOfRotated = (wanted: string | null | undefined, nowMs: number): string =>
  wanted ?? dateAfterDays(nowMs, ROTATED_DAYS)

export const dateAfterDays = (nowMs: number, days: number): string => dayAt(nowMs + days * DAY_MS)

/** Rejects scopes that are only for administrators if the user is not one. @throws DomainError `invalid` */
export function validateScopes(user: Pick<User, 'isAdministrator'>, scopes: readonly string[]): void {
  if (!user.isAdministrator && scopes.some(isAdministratorScope)) {
    throw invalid({ scopes: ['can only contain available scopes'] })
  }
}
