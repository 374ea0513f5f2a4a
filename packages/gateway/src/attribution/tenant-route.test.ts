import { expect, test } from 'vitest'
import type { GatewayConfig } from '../contract/gateway-config.ts'
import type { TokenRecord } from '../contract/token-record.ts'
import { routeOf } from './tenant-route.ts'

const routing = (unknownTenant: GatewayConfig['unknownTenant']) => ({
  tenantUpstreams: { 'team-1': { url: 'http://127.0.0.1:1' } },
  unknownTenant,
})
const tokenOf = (tenant: string | undefined) => ({ id: 'a', tenant }) as TokenRecord

test.each([
  [tokenOf('team-1'), 'forbidden', { kind: 'tenant', tenant: 'team-1' }],
  [tokenOf('team-2'), 'default-upstream', { kind: 'default' }],
  [tokenOf('constructor'), 'default-upstream', { kind: 'default' }],
  [tokenOf(undefined), 'default-upstream', { kind: 'default' }],
  [undefined, 'forbidden', { kind: 'default' }],
  [
    tokenOf('team-2'),
    'forbidden',
    { kind: 'forbidden', refusal: { kind: 'forbidden', message: 'The tenant of the ingest token a has no upstream.' } },
  ],
  [
    tokenOf(undefined),
    'forbidden',
    { kind: 'forbidden', refusal: { kind: 'forbidden', message: 'The ingest token a belongs to no tenant.' } },
  ],
] as const)('X-12: routes the token %o when unknown tenants are set to %s', (token, unknownTenant, route) => {
  expect(routeOf(token, routing(unknownTenant))).toEqual(route)
})
