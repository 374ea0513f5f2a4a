import { z } from 'zod'
import type { AccessLevel } from '../access/access-level.ts'
import { DAY_MS, dayAt } from '../kit/day.ts'
import { invalid } from '../kit/domain-error.ts'
import { clearable, day, instant } from '../kit/parameter-schemas.ts'
import { problem } from '../kit/parse-input.ts'
import type { User } from '../users/user.ts'
import type { CredentialState } from './authenticated.ts'
import { isAdministratorScope } from './scope.ts'

export const accessTokenKinds = ['personal', 'impersonation', 'project', 'group'] as const
export type AccessTokenKind = (typeof accessTokenKinds)[number]

/** Everything of a token but its value, which is kept nowhere. */
export interface AccessToken {
  readonly id: number
  readonly kind: AccessTokenKind
  /** Whom it acts as: of a project or group token, a bot of its own. */
  readonly userId: number
  /** Of a project or group token: the one of which its bot is a member, and with which role. */
  readonly projectId: number | undefined
  readonly groupId: number | undefined
  readonly level: AccessLevel | undefined
  readonly name: string
  readonly description: string | undefined
  readonly scopes: readonly string[]
  /** Id of the first of those that follow each other by rotation. */
  readonly familyId: number
  /** `YYYY-MM-DD`; ends at the beginning of that day, UTC. `undefined`: never. */
  readonly expiresAt: string | undefined
  readonly state: CredentialState
  readonly isRevoked: boolean
  /** Kept to the minute. */
  readonly lastUsedAtMs: number | undefined
  readonly createdAtMs: number
}

/** As told to whoever asked for it, this once. */
export interface IssuedAccessToken extends AccessToken {
  readonly value: string
}

/** Of every token, unless it is told to end sooner. */
const MAX_DAYS = 365
/** Of one that follows another, unless it is told otherwise. */
const ROTATED_DAYS = 7
const MAX_TEXT = 255
const MAX_SCOPES = 100

export const tokenName = z.string().trim().min(1).max(MAX_TEXT)
export const tokenDescription = z.string().max(MAX_TEXT).nullish()
/** Null is the default, as everywhere. */
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

/** How lists of tokens may be narrowed and ordered. */
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

/** @throws DomainError `invalid` for a day that has passed or is too far away */
export function expiryOf(wanted: string | null | undefined, nowMs: number): string {
  if (wanted === null || wanted === undefined) return dateAfterDays(nowMs, MAX_DAYS)
  if (wanted < dateAfterDays(nowMs, 0)) throw invalid({ expiresAt: ["can't be in the past"] })
  if (wanted > dateAfterDays(nowMs, MAX_DAYS))
    throw invalid({ expiresAt: [`must be before ${dateAfterDays(nowMs, MAX_DAYS + 1)}`] })
  return wanted
}

export const expiryOfRotated = (wanted: string | null | undefined, nowMs: number): string =>
  expiryOf(wanted ?? dateAfterDays(nowMs, ROTATED_DAYS), nowMs)

export const dateAfterDays = (nowMs: number, days: number): string => dayAt(nowMs + days * DAY_MS)

/** @throws DomainError `invalid` */
export function validateScopes(user: Pick<User, 'isAdministrator'>, scopes: readonly string[]): void {
  if (!user.isAdministrator && scopes.some(isAdministratorScope)) {
    throw invalid({ scopes: ['can only contain available scopes'] })
  }
}
