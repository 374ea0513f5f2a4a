import type { Db } from '@penstock/db'
import type { Generated } from 'kysely'

/**
 * The tables of the gateway. Times are milliseconds since 1970, booleans are 0 or 1, and `*_json` columns contain JSON text.
 *
 * No column contains a secret. Tokens and keys are stored as keyed hashes, and the key is outside the database.
 */
export interface GatewayTables {
  ingest_tokens: IngestTokenTable
  api_keys: ApiKeyTable
  enforcement: EnforcementTable
  token_usage: TokenUsageTable
  gateway_instances: GatewayInstanceTable
  audit_events: AuditEventTable
  idempotency_keys: IdempotencyKeyTable
  sessions: SessionTable
  sign_in_codes: SignInCodeTable
}

export type GatewayDb = Db<GatewayTables>

export interface IngestTokenTable {
  /** The 12 base62 characters that are part of the token itself. For an imported token they are drawn at random. */
  id: string
  /** The order of creation, which keeps pages correct while rows are added and deleted. */
  position: Generated<number>
  name: string
  description: string | null
  /** HMAC-SHA-256(pepper, whole token). */
  mac: Buffer
  pepper_id: string
  /** 1: the token comes from another system and contains no id, so it is found by `mac`. */
  imported: number
  /** A subset of traces, metrics, logs and profiles. */
  signals_json: string
  tags_json: string
  tenant: string | null
  allowed_origins_json: string
  client_certificate_sans_json: Generated<string>
  /** 1: the token may also be sent in the query of a URL. */
  allow_query: Generated<number>
  limits_json: string | null
  created_at_ms: number
  created_by_id: string
  created_by_role: string
  expires_at_ms: number | null
  disabled: number
  /** The row is kept for 30 days after this time, so that clients can be informed of the reason. */
  revoked_at_ms: number | null
  last_used_at_ms: number | null
  supersedes: string | null
  /** The last expiry warning given, as milliseconds before the expiry. */
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

/** The state of enforcement: one row, with id 1. */
export interface EnforcementTable {
  id: number
  mode: 'off' | 'report' | 'warn' | 'enforce'
  grace_until_ms: number | null
  /** Increases with every change of tokens or enforcement that affects the data path. */
  epoch: number
  changed_at_ms: number | null
  changed_by_id: string | null
  /** The random id of the plane; `null` until a gateway of this version opens the store. */
  plane_id: string | null
}

/** Usage per token, signal and hour. */
export interface TokenUsageTable {
  token_id: string
  signal: string
  hour_start_ms: number
  requests: number
  bytes: number
  rejected: number
}

/** The processes that accept telemetry, and the epoch each of them runs. */
interface GatewayInstanceTable {
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

interface IdempotencyKeyTable {
  caller_id: string
  key: string
  token_id: string
  created_at_ms: number
}

/** The browsers that are signed in to the console. Role and expiry are those of the key. */
export interface SessionTable {
  /** The public id, for the audit log. */
  id: string
  /** HMAC-SHA-256(pepper, secret in the cookie). */
  mac: Buffer
  key_id: string
  created_at_ms: number
  last_used_at_ms: number
}

/** The codes of sign-in links that have not been used. */
export interface SignInCodeTable {
  /** HMAC-SHA-256(pepper, code). */
  mac: Buffer
  key_id: string
  created_at_ms: number
}
