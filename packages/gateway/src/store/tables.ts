import type { Generated } from 'kysely'

/**
 * What the gateway keeps. Times are milliseconds since 1970, booleans 0 or 1, `*_json` columns JSON text.
 *
 * No column holds a secret: of tokens and keys there is only a keyed hash, and its key lies outside the database.
 */
export interface GatewayTables {
  ingest_tokens: IngestTokenTable
  api_keys: ApiKeyTable
  enforcement: EnforcementTable
  token_usage: TokenUsageTable
  gateway_instances: GatewayInstanceTable
  audit_events: AuditEventTable
  idempotency_keys: IdempotencyKeyTable
}

export interface IngestTokenTable {
  /** The 12 base62 characters in the token itself; of an imported token, drawn when it came in. */
  id: string
  /** Order of creation, for pages that stay correct while rows come and go. */
  position: Generated<number>
  name: string
  description: string | null
  /** HMAC-SHA-256(pepper, whole token). */
  mac: Buffer
  pepper_id: string
  /** 1: the token came from elsewhere and has no visible id; it is found by `mac`. */
  imported: number
  /** Subset of traces, metrics, logs, profiles. */
  signals_json: string
  tags_json: string
  tenant: string | null
  allowed_origins_json: string
  client_certificate_sans_json: Generated<string>
  /** 1: the token may also stand in the query of a URL. */
  allow_query: Generated<number>
  limits_json: string | null
  created_at_ms: number
  created_by_id: string
  created_by_role: string
  expires_at_ms: number | null
  disabled: number
  /** Kept 30 days after, so that a client can be told the reason. */
  revoked_at_ms: number | null
  last_used_at_ms: number | null
  supersedes: string | null
  /** Which warning of its expiry has been given last, in milliseconds before the end. */
  expiry_warned_ms: number | null
}

export interface ApiKeyTable {
  id: string
  position: Generated<number>
  name: string
  mac: Buffer
  pepper_id: string
  role: 'Viewer' | 'Editor' | 'Admin'
  created_at_ms: number
  created_by_id: string | null
  expires_at_ms: number | null
  last_used_at_ms: number | null
}

/** One row, id 1. */
export interface EnforcementTable {
  id: number
  mode: 'off' | 'report' | 'warn' | 'enforce'
  grace_until_ms: number | null
  /** Grows with every change of tokens or enforcement that a data path must learn of. */
  epoch: number
  changed_at_ms: number | null
  changed_by_id: string | null
}

/** Per token, signal and hour. */
export interface TokenUsageTable {
  token_id: string
  signal: string
  hour_start_ms: number
  requests: number
  bytes: number
  rejected: number
}

/** Every process that takes telemetry in, and which epoch it runs. */
export interface GatewayInstanceTable {
  id: string
  epoch: number
  seen_at_ms: number
}

export interface AuditEventTable {
  id: Generated<number>
  at_ms: number
  event: string
  actor_id: string | null
  actor_role: string | null
  source: string | null
  request_id: string | null
  subject_id: string | null
  before_json: string | null
  after_json: string | null
}

export interface IdempotencyKeyTable {
  caller_id: string
  key: string
  token_id: string
  created_at_ms: number
}
