import type {
  AuditEvent,
  EnforcementMode,
  EnforcementState,
  IngestToken,
  Readiness,
  RefusedClient,
} from '../../api/answers.ts'

export const NOW_MS = Date.parse('2026-03-10T12:00:00Z')

export const refusedClient = (changes: Partial<RefusedClient> = {}): RefusedClient => ({
  network: '203.0.113.0/24',
  user_agent: 'curl/8',
  signal: 'traces',
  transport: 'http',
  service_name: 'render',
  service_names: ['render'],
  reason: 'missing',
  token_id: null,
  first_seen: '2026-03-10T11:50:00Z',
  last_seen: '2026-03-10T11:58:00Z',
  count: 4,
  ...changes,
})

export const createReadiness = (clients: readonly RefusedClient[]): Readiness => ({
  ready: clients.length === 0,
  window_seconds: 86_400,
  observed_since: '2026-03-09T12:00:00Z',
  requests: 10,
  would_reject: clients.length,
  clients,
  wrong_paths: [],
  unused_tokens: [],
  expiring_tokens: [],
  processes: { reported: 1, live: 1 },
  blockers: [],
})

export const createState = (mode: EnforcementMode): EnforcementState => ({
  enabled: mode === 'enforce',
  mode,
  grace_until: null,
  epoch: 1,
  changed_at: null,
  changed_by: null,
  valid_tokens: 1,
  next_expiry: null,
  propagation: { instances: 1, applied: 1 },
  warnings: [],
})

export const ingestToken = (changes: Partial<IngestToken> = {}): IngestToken => ({
  id: 'OkifHkabcdef',
  name: 'storefront',
  status: 'valid',
  description: null,
  service_account: 'otel-ingest',
  signals: ['traces', 'metrics', 'logs', 'profiles'],
  tags: {},
  tenant: null,
  allowed_origins: [],
  client_certificate_sans: [],
  allow_query: false,
  limits: null,
  imported: false,
  created_at: '2026-03-01T12:00:00Z',
  created_by: { id: 'key-1', role: 'Admin' },
  expires_at: null,
  last_used_at: null,
  supersedes: null,
  warnings: [],
  expires_in_seconds: null,
  expires_soon: false,
  usage_24h: { requests: 0, bytes: 0, rejected: 0 },
  usage_by_hour: null,
  ...changes,
})

export const auditEvent = (changes: Partial<AuditEvent> = {}): AuditEvent => ({
  id: '1',
  at: '2026-03-10T11:00:00Z',
  event: 'token.created',
  actor: { id: 'key-1', role: 'Admin' },
  source: '203.0.113.7',
  request_id: 'r-1',
  subject_id: 'OkifHkabcdef',
  before: null,
  after: { name: 'storefront' },
  ...changes,
})
