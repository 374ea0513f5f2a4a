/** The answers of the management API that the pages read; docs/reference/openapi.json describes them. Times are RFC 3339 in UTC. */

export const signals = ['traces', 'metrics', 'logs', 'profiles'] as const
export type Signal = (typeof signals)[number]

export type Role = 'Viewer' | 'Editor' | 'Admin'

/** Who is signed in, as `GET /api/v1/session` answers. */
export interface Session {
  readonly role: Role
  readonly key_name: string
  readonly csrf_token: string
  readonly expires_at: string
  readonly observe: { readonly connected: boolean }
  /** The base URL of OTLP/HTTP for senders. */
  readonly ingest: { readonly otlp_url: string }
  /** The address of the core of this service. It has no pages of pipelines and jobs, although telemetry has URLs for them. */
  readonly core: { readonly url: string | null }
}

export interface Allowance {
  readonly requests?: number
  readonly bytes?: number
}

export type LimitedSignal = Signal | 'all'
export type TokenLimits = Partial<Record<LimitedSignal, { readonly second?: Allowance; readonly day?: Allowance }>>

export interface TokenSummary {
  readonly id: string
  readonly name: string
  readonly status: 'valid' | 'disabled' | 'expired' | 'revoked'
}

export interface IngestToken extends TokenSummary {
  readonly description: string | null
  readonly signals: readonly Signal[]
  readonly tags: Readonly<Record<string, string>>
  readonly tenant: string | null
  readonly allowed_origins: readonly string[]
  readonly client_certificate_sans: readonly string[]
  readonly allow_query: boolean
  readonly limits: TokenLimits | null
  readonly imported: boolean
  readonly created_at: string
  readonly created_by?: { readonly id: string; readonly role: string }
  readonly expires_at: string | null
  readonly last_used_at: string | null
  readonly supersedes: string | null
  readonly expires_soon: boolean
  readonly usage_24h: { readonly requests: number; readonly bytes: number; readonly rejected: number }
  /** Null if the token was not used in these hours. */
  readonly usage_by_hour: HourlyUsage | null
}

/** The use in 24 hours, one number each; the last hour is the current one. */
export interface HourlyUsage {
  /** The beginning of the first hour. */
  readonly since: string
  readonly requests: readonly number[]
  readonly bytes: readonly number[]
  readonly rejected: readonly number[]
}

/** The answer to a creation or a rotation: the only one that contains the token itself. */
export interface CreatedToken {
  readonly id: string
  readonly name: string
  readonly token: string
  readonly signals: readonly Signal[]
  readonly expires_at: string | null
  readonly warnings: readonly string[]
  readonly superseded?: { readonly id: string; readonly expires_at: string | null }
}

export type EnforcementMode = 'off' | 'report' | 'warn' | 'enforce'

export interface EnforcementState {
  readonly enabled: boolean
  readonly mode: EnforcementMode
  readonly grace_until: string | null
  readonly changed_at: string | null
  readonly changed_by?: { readonly id: string } | null
  readonly valid_tokens: number
  readonly next_expiry: string | null
  readonly propagation: { readonly instances: number; readonly applied: number }
  readonly warnings: readonly string[]
}

export interface RefusedClient {
  /** Absent for a Viewer. */
  readonly network?: string
  readonly user_agent: string
  readonly signal: string
  readonly transport: string
  /** Several services may send through one client, such as a collector. */
  readonly service_names: readonly string[]
  readonly reason: string
  readonly token_id: string | null
  readonly last_seen: string
  readonly count: number
}

/** Requests with a valid token that are refused in every mode, because their path accepts no telemetry. */
export interface WrongPath {
  /** Absent for a Viewer. */
  readonly network?: string
  readonly user_agent: string
  readonly transport: string
  /** Empty if it contains a secret. */
  readonly path: string
  readonly right_paths: readonly string[]
  readonly token_id: string
  readonly last_seen: string
  readonly count: number
}

/** Who would be refused if ingest were enforced. */
export interface Readiness {
  readonly ready: boolean
  readonly window_seconds: number
  readonly observed_since: string
  readonly requests: number
  readonly would_reject: number
  readonly clients: readonly RefusedClient[]
  readonly wrong_paths: readonly WrongPath[]
}

export interface AuditEvent {
  readonly id: string
  readonly at: string
  readonly event: string
  readonly actor: { readonly id: string; readonly role: string | null } | null
  readonly source: string | null
  readonly request_id: string | null
  readonly subject_id: string | null
  readonly before: unknown
  readonly after: unknown
}

export interface ApiKey {
  readonly id: string
  readonly name: string
  readonly role: Role
  readonly created_at: string
  readonly created_by: string | null
  readonly expires_at: string | null
  readonly last_used_at: string | null
}

export interface CreatedApiKey extends ApiKey {
  readonly key: string
}
