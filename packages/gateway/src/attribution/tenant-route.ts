import type { GatewayConfig } from '../contract/gateway-config.ts'
import type { Refusal } from '../contract/refusals.ts'
import type { TokenRecord } from '../contract/token-record.ts'

export type TenantRoute =
  | { readonly kind: 'default' }
  /** The upstream is `tenantUpstreams[tenant]`. */
  | { readonly kind: 'tenant'; readonly tenant: string }
  | { readonly kind: 'forbidden'; readonly refusal: Refusal }

const toDefault: TenantRoute = { kind: 'default' }

/**
 * Returns the upstream that receives the telemetry of a token. Requests without a token use the default
 * upstream. If the token has no tenant, or its tenant has no upstream, `unknownTenant` decides between the default
 * upstream and a refusal.
 */
export function routeOf(
  token: TokenRecord | undefined,
  { tenantUpstreams, unknownTenant }: Pick<GatewayConfig, 'tenantUpstreams' | 'unknownTenant'>,
): TenantRoute {
  if (token === undefined) return toDefault
  const { tenant } = token
  if (tenant !== undefined && Object.hasOwn(tenantUpstreams, tenant)) return { kind: 'tenant', tenant }
  if (unknownTenant === 'default-upstream') return toDefault
  const message =
    tenant === undefined
      ? `The ingest token ${token.id} belongs to no tenant.`
      : `The tenant of the ingest token ${token.id} has no upstream.`
  return { kind: 'forbidden', refusal: { kind: 'forbidden', message } }
}
