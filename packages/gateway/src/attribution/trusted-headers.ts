import type { Admitted } from '../contract/admission.ts'
import type { FlatHeaders } from '../contract/export-call.ts'
import type { TokenRecord } from '../contract/token-record.ts'

interface TrustedHeaderOptions {
  /** Sends `x-scope-orgid` from the token's tenant. */
  readonly tenantHeader: boolean
}

const OWN_HEADERS = ['x-ingest-token-id', 'x-ingest-token-name', 'x-ingest-auth'] as const
const TENANT_HEADER = 'x-scope-orgid'

/** Returns the lower-case names of headers that only the gateway may set and clients may not. */
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
 * Returns the headers that identify the client to upstream: token id and name, whether it was verified, tenant.
 */
export function attributionHeaders({ token, auth }: Admitted, { tenantHeader }: TrustedHeaderOptions): FlatHeaders {
  if (token === undefined) return anonymous[auth]
  const cache = tenantHeader ? withTenant : withoutTenant
  const cached = cache.get(token)
  if (cached !== undefined) return cached
  const headers = [
    'x-ingest-token-id',
    token.id,
    'x-ingest-token-name',
    percentEncoded(token.name),
    'x-ingest-auth',
    auth,
  ]
  if (tenantHeader && token.tenant !== undefined) headers.push(TENANT_HEADER, token.tenant)
  cache.set(token, headers)
  return headers
}

/** Percent-encodes `%` and the UTF-8 bytes of everything outside printable ASCII. */
function percentEncoded(name: string): string {
  return name.toWellFormed().replace(/[^ -$&-~]+/g, encodeURIComponent)
}
