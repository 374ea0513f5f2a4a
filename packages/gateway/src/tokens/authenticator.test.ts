import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Verdict } from '../contract/admission.ts'
import type { CredentialPlace } from '../contract/credential.ts'
import type { Snapshot } from '../contract/snapshot.ts'
import { tokenRecord } from '../contract/token-record.harness.ts'
import type { TokenRecord } from '../contract/token-record.ts'
import type { Peppers } from '../secrets/pepper.ts'
import { newSecretText } from '../secrets/token-format.ts'
import { isOriginAllowed } from './allowed-origins.ts'
import { Authenticator } from './authenticator.ts'

const NOW_MS = 1_000_000
const oldPepper = new Uint8Array(32).fill(1)
const newPepper = new Uint8Array(32).fill(2)
const peppers: Peppers = {
  newestId: 'new',
  byId: new Map([
    ['new', newPepper],
    ['old', oldPepper],
  ]),
}
const authenticator = new Authenticator(peppers)

const secretOf = (fill: number) => newSecretText('ingest', (count) => new Uint8Array(count).fill(fill))
const secret = secretOf(7)
const imported = 'a-token-of-a-static-nginx-map-0001'

const macOf = (text: string, pepper = newPepper) => createHmac('sha256', pepper).update(text).digest()

const record = (changes: Partial<TokenRecord> = {}) =>
  tokenRecord({ id: secret.id, mac: macOf(secret.text), pepperId: 'new', ...changes })

function snapshot(tokens: readonly TokenRecord[], importedTokens: readonly TokenRecord[] = []): Snapshot {
  return {
    epoch: 1,
    mode: 'enforce',
    graceUntilMs: undefined,
    byId: new Map([...tokens, ...importedTokens].map((token) => [token.id, token])),
    byMac: new Map(importedTokens.map((token) => [Buffer.from(token.mac).toString('hex'), token])),
    confirmedAtMs: NOW_MS,
  }
}

interface RequestContext {
  readonly origin?: string
  readonly from?: CredentialPlace
  readonly certificateNames?: readonly string[]
}

function authenticate(value: string, tokens: Snapshot, context: RequestContext = {}): Verdict {
  const { origin, from = 'header', certificateNames } = context
  const credential = { kind: 'bearer', value, from } as const
  return authenticator.authenticate({ credential, signal: 'traces', origin, certificateNames }, tokens, NOW_MS)
}

const outcome = (verdict: Verdict) => (verdict.allowed ? 'allowed' : verdict.reason)

test('E-1: a request without a credential is `missing`, one with an unreadable credential is `malformed`', () => {
  const present = (kind: 'none' | 'malformed') =>
    authenticator.authenticate(
      { credential: { kind }, signal: 'traces', origin: undefined, certificateNames: undefined },
      snapshot([record()]),
      NOW_MS,
    )
  expect(present('none')).toEqual({ allowed: false, reason: 'missing', token: undefined })
  expect(present('malformed')).toEqual({ allowed: false, reason: 'malformed', token: undefined })
})

test('T-7: allows a token with the right secret', () => {
  const token = record()
  expect(authenticate(secret.text, snapshot([token]))).toEqual({ allowed: true, token })
})

test('T-6: a token stays valid under the pepper that it was created with', () => {
  const token = record({ mac: macOf(secret.text, oldPepper), pepperId: 'old' })
  expect(outcome(authenticate(secret.text, snapshot([token])))).toBe('allowed')
})

test('T-6: throws, instead of refusing the client, if the pepper of a token is missing', () => {
  expect(() => authenticate(secret.text, snapshot([record({ pepperId: 'lost' })]))).toThrow('pepper')
})

test('T-3: a token with a wrong checksum is malformed', () => {
  const typo = `${secret.text.slice(0, -1)}${secret.text.endsWith('0') ? '1' : '0'}`
  expect(outcome(authenticate(typo, snapshot([record()])))).toBe('malformed')
})

test('T-1: an API key is not an ingest token', () => {
  const key = newSecretText('api_key', (count) => new Uint8Array(count).fill(7))
  expect(outcome(authenticate(key.text, snapshot([record({ mac: macOf(key.text) })])))).toBe('malformed')
})

test('T-7: an unknown id and a wrong secret differ only in the reason that the metric counts', () => {
  expect(authenticate(secret.text, snapshot([]))).toEqual({ allowed: false, reason: 'unknown', token: undefined })
  const other = record({ mac: macOf('another text') })
  expect(authenticate(secret.text, snapshot([other]))).toEqual({
    allowed: false,
    reason: 'bad_secret',
    token: undefined,
  })
})

test('T-7: an unknown id is refused even if a stored hash is all zeros', () => {
  expect(outcome(authenticate(secret.text, snapshot([record({ id: '000000000000', mac: new Uint8Array(32) })])))).toBe(
    'unknown',
  )
})

test('T-8: a wrong secret reveals nothing about the token', () => {
  const gone = record({
    mac: macOf('another text'),
    revokedAtMs: 1,
    expiresAtMs: 1,
    disabled: true,
    signals: new Set(),
  })
  expect(authenticate(secret.text, snapshot([gone]))).toEqual({
    allowed: false,
    reason: 'bad_secret',
    token: undefined,
  })
})

test.each([
  ['revoked', { revokedAtMs: 1, expiresAtMs: 1, disabled: true, signals: new Set<never>() }],
  ['expired', { expiresAtMs: 1, disabled: true, signals: new Set<never>() }],
  ['disabled', { disabled: true, signals: new Set<never>() }],
  ['signal', { signals: new Set(['logs'] as const), allowedOrigins: ['https://a.example'] }],
  ['origin', { allowedOrigins: ['https://a.example'] }],
] as const)('T-8, E-1: with the right secret, the first reason in order is returned: %s', (reason, changes) => {
  const token = record(changes)
  expect(authenticate(secret.text, snapshot([token]))).toEqual({ allowed: false, reason, token })
})

describe('T-9: a token in the query', () => {
  const inQuery = { from: 'query' } as const

  test('is allowed only if the token permits it', () => {
    const token = record({ allowQuery: true })
    expect(authenticate(secret.text, snapshot([token]), inQuery)).toEqual({ allowed: true, token })
    const other = record()
    expect(authenticate(secret.text, snapshot([other]), inQuery)).toEqual({
      allowed: false,
      reason: 'malformed',
      token: other,
    })
    expect(authenticate(secret.text, snapshot([other]))).toEqual({ allowed: true, token: other })
  })

  test('reveals nothing about the token if the secret is wrong', () => {
    const tokens = snapshot([record({ mac: macOf('another text') })])
    expect(authenticate(secret.text, tokens, inQuery)).toEqual({
      allowed: false,
      reason: 'bad_secret',
      token: undefined,
    })
  })

  test('is refused for an imported token too', () => {
    const token = record({ id: 'imported0001', mac: macOf(imported) })
    expect(authenticate(imported, snapshot([], [token]), inQuery)).toEqual({
      allowed: false,
      reason: 'malformed',
      token,
    })
  })
})

describe('X-13: a token bound to client certificates', () => {
  const token = record({ certificateNames: ['DNS:agent.example.com', 'URI:spiffe://example.com/agent'] })
  const tokens = snapshot([token])

  test('is allowed with a certificate that has one of its names', () => {
    const certificateNames = ['DNS:other.example.com', 'URI:spiffe://example.com/agent']
    expect(authenticate(secret.text, tokens, { certificateNames })).toEqual({ allowed: true, token })
  })

  test.each([
    [[]],
    [['DNS:other.example.com']],
    [['DNS:*.example.com']],
    [['DNS:spiffe://example.com/agent']],
    [['URI:agent.example.com']],
    [['URI:spiffe://example.com/agent2']],
  ])('is refused with any other certificate: %j', (certificateNames) => {
    expect(authenticate(secret.text, tokens, { certificateNames })).toEqual({
      allowed: false,
      reason: 'certificate',
      token,
    })
  })

  test('is allowed on a listener that requires no certificate', () => {
    expect(authenticate(secret.text, tokens)).toEqual({ allowed: true, token })
  })

  test('reveals nothing about certificates if the secret is wrong', () => {
    const other = snapshot([{ ...token, mac: macOf('another text') }])
    expect(outcome(authenticate(secret.text, other, { certificateNames: [] }))).toBe('bad_secret')
  })
})

test('E-8: a token expires exactly at its expiry', () => {
  expect(outcome(authenticate(secret.text, snapshot([record({ expiresAtMs: NOW_MS + 1 })])))).toBe('allowed')
  expect(outcome(authenticate(secret.text, snapshot([record({ expiresAtMs: NOW_MS })])))).toBe('expired')
})

describe('T-15: imported tokens', () => {
  const token = record({ id: 'imported0001', mac: macOf(imported) })
  const tokens = snapshot([record()], [token])

  test('are found by their hash', () => {
    expect(authenticate(imported, tokens)).toEqual({ allowed: true, token })
  })

  test('are found under an older pepper too', () => {
    const old = record({ id: 'imported0001', mac: macOf(imported, oldPepper), pepperId: 'old' })
    expect(outcome(authenticate(imported, snapshot([], [old])))).toBe('allowed')
  })

  test.each([
    ['x'.repeat(31), 'malformed'],
    ['x'.repeat(32), 'unknown'],
    ['x'.repeat(256), 'unknown'],
    ['x'.repeat(257), 'malformed'],
    ['\u00e9'.repeat(40), 'unknown'],
  ])('%s: %s', (value, reason) => {
    expect(outcome(authenticate(value, tokens))).toBe(reason)
    expect(outcome(authenticate(value, snapshot([])))).toBe(reason)
  })

  test('are not found by their id', () => {
    expect(outcome(authenticate('imported0001', tokens))).toBe('malformed')
  })

  test('are refused after they are revoked', () => {
    expect(outcome(authenticate(imported, snapshot([], [{ ...token, revokedAtMs: 5 }])))).toBe('revoked')
  })
})

test.each([
  [[], undefined, true],
  [[], 'https://any.example', true],
  [['https://a.example'], undefined, false],
  [['https://a.example'], 'https://a.example', true],
  [['https://a.example'], 'http://a.example', false],
  [['https://a.example'], 'https://a.example:8443', false],
  [['https://*.b.example'], 'https://x.b.example', true],
  [['https://*.b.example'], 'https://y.x.b.example', true],
  [['https://*.b.example'], 'https://b.example', false],
  [['https://*.b.example'], 'https://.b.example', false],
  [['https://*.b.example'], 'https://xb.example', false],
  [['https://*.b.example'], 'http://x.b.example', false],
  [['https://*.b.example'], 'https://x.b.example.evil', false],
  [['https://*.b.example'], 'https://evil/.b.example', false],
  [['https://*.b.example:81'], 'https://x.b.example:81', true],
  [['https://*.b.example'], 'https://x.b.example:81', false],
  [['https://a.example', 'https://*.b.example'], 'https://x.b.example', true],
  [['https://a.example'], 'null', false],
] as const)('P-16: a token with the origins %j is allowed from %s: %s', (allowedOrigins, origin, expected) => {
  expect(isOriginAllowed(allowedOrigins, origin)).toBe(expected)
})
