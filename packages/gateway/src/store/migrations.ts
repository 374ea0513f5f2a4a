import { addFolded, type Migrations } from '@penstock/db'
import { type Kysely, PostgresAdapter, type RawBuilder, sql } from 'kysely'

/** The migrations, append-only: a released migration is never changed. */
export const gatewayMigrations: Migrations = {
  '0001_gateway': { up: async (db) => runAll(db, gateway(wordsOf(db))) },
  '0002_token_use': { up: async (db) => runAll(db, tokenUse(wordsOf(db))) },
  '0003_sessions': { up: async (db) => runAll(db, sessions(wordsOf(db))) },
  '0004_several_hosts': {
    up: async (db) => {
      if (!isPostgres(db)) return
      await addFolded(db)
      await runAll(db, notices)
    },
  },
  '0005_plane_id': { up: async (db) => runAll(db, planeId) },
  '0006_audit_by_subject': { up: async (db) => runAll(db, auditBySubject) },
}

/** The channel of PostgreSQL that announces changes of the epoch; see `Db.listen`. */
export const CHANGE_CHANNEL = 'penstock_gateway'

type Statement = RawBuilder<unknown>
/** The words of the definitions in which the two databases differ. */
type Words = Readonly<Record<'generatedKey' | 'integer' | 'bytes' | 'checked' | 'byKey', Statement>>

const sqliteWords: Words = {
  generatedKey: sql`integer primary key autoincrement`,
  integer: sql`integer`,
  bytes: sql`blob`,
  checked: sql` strict`,
  byKey: sql` strict, without rowid`,
}
const postgresWords: Words = {
  generatedKey: sql`bigint generated always as identity primary key`,
  integer: sql`bigint`,
  bytes: sql`bytea`,
  checked: sql``,
  byKey: sql``,
}

const isPostgres = (db: Kysely<unknown>): boolean => db.getExecutor().adapter instanceof PostgresAdapter
const wordsOf = (db: Kysely<unknown>): Words => (isPostgres(db) ? postgresWords : sqliteWords)

/** `position` only grows and is never reused, so a cursor stays valid when rows are deleted. */
const gateway = ({ generatedKey, integer, bytes, checked, byKey }: Words): readonly Statement[] => [
  sql`create table ingest_tokens (
    position ${generatedKey},
    id text not null unique check (length(id) = 12),
    name text not null,
    description text,
    mac ${bytes} not null check (length(mac) = 32),
    pepper_id text not null,
    imported ${integer} not null check (imported in (0, 1)),
    signals_json text not null,
    tags_json text not null,
    tenant text,
    allowed_origins_json text not null,
    limits_json text,
    created_at_ms ${integer} not null,
    created_by_id text not null,
    created_by_role text not null,
    expires_at_ms ${integer},
    disabled ${integer} not null check (disabled in (0, 1)),
    revoked_at_ms ${integer},
    last_used_at_ms ${integer},
    supersedes text,
    expiry_warned_ms ${integer}
  )${checked}`,
  sql`create unique index ingest_tokens_by_mac on ingest_tokens (mac)`,
  sql`create index ingest_tokens_by_name on ingest_tokens (name) where revoked_at_ms is null`,
  sql`create index ingest_tokens_by_end on ingest_tokens (revoked_at_ms, disabled, expires_at_ms)`,
  sql`create table api_keys (
    position ${generatedKey},
    id text not null unique,
    name text not null,
    mac ${bytes} not null unique check (length(mac) = 32),
    pepper_id text not null,
    role text not null check (role in ('Viewer', 'Editor', 'Admin')),
    created_at_ms ${integer} not null,
    created_by_id text,
    expires_at_ms ${integer},
    last_used_at_ms ${integer}
  )${checked}`,
  sql`create table enforcement (
    id ${integer} primary key check (id = 1),
    mode text not null check (mode in ('off', 'report', 'warn', 'enforce')),
    grace_until_ms ${integer},
    epoch ${integer} not null,
    changed_at_ms ${integer},
    changed_by_id text
  )${checked}`,
  sql`insert into enforcement (id, mode, epoch) values (1, 'off', 1)`,
  sql`create table token_usage (
    token_id text not null,
    signal text not null,
    hour_start_ms ${integer} not null,
    requests ${integer} not null,
    bytes ${integer} not null,
    rejected ${integer} not null,
    primary key (token_id, hour_start_ms, signal)
  )${byKey}`,
  sql`create index token_usage_by_hour on token_usage (hour_start_ms)`,
  sql`create table gateway_instances (
    id text primary key,
    epoch ${integer} not null,
    seen_at_ms ${integer} not null
  )${byKey}`,
  sql`create table audit_events (
    id ${generatedKey},
    at_ms ${integer} not null,
    event text not null,
    actor_id text,
    actor_role text,
    source text,
    request_id text,
    subject_id text,
    before_json text,
    after_json text
  )${checked}`,
  sql`create index audit_events_by_time on audit_events (at_ms)`,
  sql`create table idempotency_keys (
    caller_id text not null,
    key text not null,
    token_id text not null,
    created_at_ms ${integer} not null,
    primary key (caller_id, key)
  )${byKey}`,
  sql`create index idempotency_keys_by_time on idempotency_keys (created_at_ms)`,
]

/** Restricts where a token may be used. Existing tokens keep their behavior: any certificate, never in a query. */
const tokenUse = ({ integer }: Words): readonly Statement[] => [
  sql`alter table ingest_tokens add column client_certificate_sans_json text not null default '[]'`,
  sql`alter table ingest_tokens add column allow_query ${integer} not null default 0 check (allow_query in (0, 1))`,
]

/** A session or a code never outlives the API key it belongs to. */
const sessions = ({ integer, bytes, byKey }: Words): readonly Statement[] => [
  sql`create table sessions (
    id text not null primary key,
    mac ${bytes} not null unique check (length(mac) = 32),
    key_id text not null references api_keys (id) on delete cascade,
    created_at_ms ${integer} not null,
    last_used_at_ms ${integer} not null
  )${byKey}`,
  sql`create index sessions_by_key on sessions (key_id, last_used_at_ms)`,
  sql`create index sessions_by_creation on sessions (created_at_ms)`,
  sql`create index sessions_by_use on sessions (last_used_at_ms)`,
  sql`create table sign_in_codes (
    mac ${bytes} not null primary key check (length(mac) = 32),
    key_id text not null references api_keys (id) on delete cascade,
    created_at_ms ${integer} not null
  )${byKey}`,
  sql`create index sign_in_codes_by_key on sign_in_codes (key_id, created_at_ms)`,
  sql`create index sign_in_codes_by_creation on sign_in_codes (created_at_ms)`,
]

/** Finds the events of a session that has ended, among those of other subjects. */
const auditBySubject: readonly Statement[] = [
  sql`create index audit_events_by_subject on audit_events (subject_id) where subject_id is not null`,
]

/** Set when the first gateway opens the store, so that a data directory recognizes the store that it was used with. */
const planeId: readonly Statement[] = [sql`alter table enforcement add column plane_id text`]

/** Announces each change of the epoch when its transaction is committed, with the schema as the payload. */
const notices = [
  sql`create function announce_change() returns trigger language plpgsql
    as $$ begin perform pg_notify(${sql.lit(CHANGE_CHANNEL)}, tg_table_schema); return null; end $$`,
  sql`create trigger enforcement_changed after update of epoch on enforcement
    for each row execute procedure announce_change()`,
]

async function runAll(db: Kysely<unknown>, statements: readonly Statement[]): Promise<void> {
  for (const statement of statements) await statement.execute(db)
}
