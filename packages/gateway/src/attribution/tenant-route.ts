import type { GatewayConfig } from '../gateway-config.ts'
import type { Refusal } from '../ingest/refusals.ts'
import type { TokenRecord } from '../tokens/token-record.ts'

export type Route =
  | { readonly kind: 'default' }
  /** To the row of `tenantUpstreams` by this name. */
  | { readonly kind: 'tenant'; readonly tenant: string }
  | { readonly kind: 'forbidden'; readonly refusal: Refusal }

const toDefault: Route = { kind: 'default' }

/**
 * Where the telemetry of a token goes. Who needed no token goes to the default upstream; a token whose tenant has no
 * upstream of its own, or that has no tenant, does so too, or is refused, as configured.
 *
 * @see spec/otlp-gateway.md 5 X-12
 */
export function routeOf(
  token: TokenRecord | undefined,
  { tenantUpstreams, unknownTenant }: Pick<GatewayConfig, 'tenantUpstreams' | 'unknownTenant'>,
): Route {
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
