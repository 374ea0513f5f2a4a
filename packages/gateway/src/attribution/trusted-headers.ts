import type { Admitted } from '../ingest/admission.ts'
import type { FlatHeaders } from '../ingest/export-call.ts'
import type { TokenRecord } from '../tokens/token-record.ts'

export interface TrustedHeaderOptions {
  /** Sends `x-scope-orgid` from the token's tenant. */
  readonly tenantHeader: boolean
}

const OWN_HEADERS = ['x-ingest-token-id', 'x-ingest-token-name', 'x-ingest-auth'] as const
const TENANT_HEADER = 'x-scope-orgid'

/** Names that only we may set, lower case: whatever a client sends under them is removed. */
export function reservedHeaders({ tenantHeader }: TrustedHeaderOptions): ReadonlySet<string> {
  return new Set(tenantHeader ? [...OWN_HEADERS, TENANT_HEADER] : OWN_HEADERS)
}

const anonymous: Readonly<Record<Admitted['auth'], FlatHeaders>> = {
  verified: ['x-ingest-auth', 'verified'],
  unverified: ['x-ingest-auth', 'unverified'],
  off: ['x-ingest-auth', 'off'],
}

const withTenant = new WeakMap<TokenRecord, FlatHeaders>()
const withoutTenant = new WeakMap<TokenRecord, FlatHeaders>()

/**
 * What upstream is told of whoever sent a request: token id and name, whether they were verified, and the tenant.
 *
 * @see spec/otlp-gateway.md 5 X-10
 */
export function attributionHeaders({ token, auth }: Admitted, { tenantHeader }: TrustedHeaderOptions): FlatHeaders {
  if (token === undefined) return anonymous[auth]
  const known = tenantHeader ? withTenant : withoutTenant
  const remembered = known.get(token)
  if (remembered !== undefined) return remembered
  const headers = [
    'x-ingest-token-id',
    token.id,
    'x-ingest-token-name',
    percentEncoded(token.name),
    'x-ingest-auth',
    auth,
  ]
  if (tenantHeader && token.tenant !== undefined) headers.push(TENANT_HEADER, token.tenant)
  known.set(token, headers)
  return headers
}

/** Everything outside printable ASCII as bytes of UTF-8, and `%` itself, so that it can be undone. */
function percentEncoded(name: string): string {
  return name.toWellFormed().replace(/[^ -$&-~]+/g, encodeURIComponent)
}
