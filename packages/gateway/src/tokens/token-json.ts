import { createHash } from 'node:crypto'
import { rfc3339, rfc3339OrNull } from '../contract/rfc3339.ts'
import type { IngestSignal } from '../contract/signals.ts'
import type { TokenLimits } from '../contract/token-record.ts'
import type { Actor } from '../operations/operation-context.ts'
import type { TokenStatus } from './token-status.ts'
import { statusOf, type TokenRow } from './token-store.ts'
import { type DayUsage, noUsage, type TokenUsage } from './usage-store.ts'

/** An ingest token as the management API shows it. Times are RFC 3339 in UTC. */
export interface TokenJson {
  readonly id: string
  readonly name: string
  readonly description: string | null
  readonly service_account: 'otel-ingest'
  readonly status: TokenStatus
  readonly signals: readonly IngestSignal[]
  readonly tags: Readonly<Record<string, string>>
  readonly tenant: string | null
  readonly allowed_origins: readonly string[]
  readonly client_certificate_sans: readonly string[]
  readonly allow_query: boolean
  readonly limits: TokenLimits | null
  readonly imported: boolean
  readonly created_at: string
  /** Not shown to a Viewer. */
  readonly created_by?: { readonly id: string; readonly role: string }
  readonly expires_at: string | null
  readonly last_used_at: string | null
  readonly supersedes: string | null
  readonly warnings: readonly TokenWarning[]
}

export type TokenWarning = 'name_in_use' | 'last_valid_token_ends'

/** The answer to a creation: the only one that contains the token itself. */
export interface CreatedTokenJson extends TokenJson {
  readonly token: string
}

export interface RotatedTokenJson extends CreatedTokenJson {
  /** The old token: until when it is valid, and when it was last used (T-16). */
  readonly superseded: { readonly id: string; readonly expires_at: string | null; readonly last_used_at: string | null }
}

export interface ListedTokenJson extends TokenJson {
  /** `null` if it never expires, 0 if it has expired. */
  readonly expires_in_seconds: number | null
  /** True in the 7 days before the expiry. */
  readonly expires_soon: boolean
  readonly usage_24h: TokenUsage
  /** `null` if the token was not used in these hours. */
  readonly usage_by_hour: HourlyUsageJson | null
}

/** The usage of the last 24 whole hours; each list has one number per hour, and the last one is of the current hour. */
interface HourlyUsageJson {
  /** The beginning of the first hour. */
  readonly since: string
  readonly requests: readonly number[]
  readonly bytes: readonly number[]
  readonly rejected: readonly number[]
}

const SOON_SECONDS = 7 * 86_400

export function tokenJson(
  row: TokenRow,
  viewer: Actor,
  nowMs: number,
  warnings: readonly TokenWarning[] = [],
): TokenJson {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    service_account: 'otel-ingest',
    status: statusOf(row, nowMs),
    ...editableJson(row),
    imported: row.imported === 1,
    created_at: rfc3339(row.created_at_ms),
    ...(viewer.role === 'Viewer' ? {} : { created_by: { id: row.created_by_id, role: row.created_by_role } }),
    expires_at: rfc3339OrNull(row.expires_at_ms),
    last_used_at: rfc3339OrNull(row.last_used_at_ms),
    supersedes: row.supersedes,
    warnings,
  }
}

export function listedTokenJson(
  row: TokenRow,
  viewer: Actor,
  nowMs: number,
  usage: DayUsage | undefined,
  warnings: readonly TokenWarning[] = [],
): ListedTokenJson {
  const leftSeconds = row.expires_at_ms === null ? null : Math.max(0, Math.floor((row.expires_at_ms - nowMs) / 1_000))
  return {
    ...tokenJson(row, viewer, nowMs, warnings),
    expires_in_seconds: leftSeconds,
    expires_soon: leftSeconds !== null && leftSeconds < SOON_SECONDS && statusOf(row, nowMs) !== 'expired',
    usage_24h: usage?.total ?? noUsage,
    usage_by_hour: usage === undefined ? null : hourlyJson(usage),
  }
}

const hourlyJson = ({ sinceMs, hours }: DayUsage): HourlyUsageJson => ({
  since: rfc3339(sinceMs),
  requests: hours.map(({ requests }) => requests),
  bytes: hours.map(({ bytes }) => bytes),
  rejected: hours.map(({ rejected }) => rejected),
})

/** Returns everything but the secret, for the audit log. */
export function auditedToken(row: TokenRow): object {
  return {
    name: row.name,
    description: row.description,
    ...editableJson(row),
    expires_at: rfc3339OrNull(row.expires_at_ms),
    disabled: row.disabled === 1,
    ...(row.imported === 1 ? { imported: true } : {}),
    ...(row.supersedes === null ? {} : { supersedes: row.supersedes }),
  }
}

/** Returns the value of `ETag`. It changes with every change that PATCH can make. */
export function tokenETag(token: TokenJson): string {
  const { name, description, signals, tags, tenant, limits, expires_at } = token
  const use = [token.allowed_origins, token.client_certificate_sans, token.allow_query]
  const disabled = token.status === 'disabled'
  const state = [token.id, name, description, signals, tags, tenant, use, limits, expires_at, disabled]
  return `"${createHash('sha256').update(JSON.stringify(state)).digest('base64url').slice(0, 22)}"`
}

function editableJson(row: TokenRow) {
  return {
    signals: JSON.parse(row.signals_json) as IngestSignal[],
    tags: JSON.parse(row.tags_json) as Record<string, string>,
    tenant: row.tenant,
    allowed_origins: JSON.parse(row.allowed_origins_json) as string[],
    client_certificate_sans: JSON.parse(row.client_certificate_sans_json) as string[],
    allow_query: row.allow_query === 1,
    limits: row.limits_json === null ? null : (JSON.parse(row.limits_json) as TokenLimits),
  }
}
