import { expect, test } from 'vitest'
import type { Admitted } from '../contract/admission.ts'
import type { TokenRecord } from '../contract/token-record.ts'
import { attributionHeaders, reservedHeaders } from './trusted-headers.ts'

const admitted = (over: Partial<Admitted>): Admitted => ({
  admitted: true,
  token: undefined,
  auth: 'off',
  wouldReject: undefined,
  warning: undefined,
  expiresAt: undefined,
  sample: undefined,
  ...over,
})
const tokenNamed = (name: string, tenant?: string) => ({ id: '7Hq2mK9sT4bZ', name, tenant }) as TokenRecord

test.each(['off', 'unverified'] as const)('X-10: sends "%s" upstream without a token', (auth) => {
  expect(attributionHeaders(admitted({ auth }), { tenantHeader: true })).toEqual(['x-ingest-auth', auth])
})

test.each([
  ['ci-runners', 'ci-runners'],
  ['a b ~ $ & 100%', 'a b ~ $ & 100%25'],
  ['läufer', 'l%C3%A4ufer'],
  ['🚰', '%F0%9F%9A%B0'],
  ['broken \ud83d surrogate', 'broken %EF%BF%BD surrogate'],
  ['tab\tline\n', 'tab%09line%0A'],
])('X-10: sends the name %j as %s', (name, sent) => {
  expect(attributionHeaders(admitted({ token: tokenNamed(name), auth: 'verified' }), { tenantHeader: false })).toEqual([
    'x-ingest-token-id',
    '7Hq2mK9sT4bZ',
    'x-ingest-token-name',
    sent,
    'x-ingest-auth',
    'verified',
  ])
})

test('X-10: sends the tenant if that is configured', () => {
  const ofTenant = admitted({ token: tokenNamed('a', 'team-1'), auth: 'verified' })
  expect(attributionHeaders(ofTenant, { tenantHeader: true }).slice(-2)).toEqual(['x-scope-orgid', 'team-1'])
  expect(attributionHeaders(ofTenant, { tenantHeader: false })).not.toContain('x-scope-orgid')
  const ofNone = admitted({ token: tokenNamed('a'), auth: 'verified' })
  expect(attributionHeaders(ofNone, { tenantHeader: true })).not.toContain('x-scope-orgid')
})

test('X-10: returns the same array for requests of one token', () => {
  const request = admitted({ token: tokenNamed('a'), auth: 'verified' })
  const list = attributionHeaders(request, { tenantHeader: false })
  expect(attributionHeaders({ ...request }, { tenantHeader: false })).toBe(list)
})

test('X-10: reserves the names of these headers', () => {
  expect([...reservedHeaders({ tenantHeader: false })]).toEqual([
    'x-ingest-token-id',
    'x-ingest-token-name',
    'x-ingest-auth',
  ])
  expect(reservedHeaders({ tenantHeader: true }).has('x-scope-orgid')).toBe(true)
})
