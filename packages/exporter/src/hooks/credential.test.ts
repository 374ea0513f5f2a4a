import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Credentials, forges, type HookHeaders } from '@penstock/forges'
import { describe, expect, test } from 'vitest'
import { readSources } from '../sources/sources.ts'

interface Vector {
  readonly case: string
  readonly signingToken: string
  readonly id: string
  readonly timestamp: string
  readonly body: string
  readonly signature: string
}

const fixture = join(import.meta.dirname, '../../../../fixtures/webhooks/signature-vectors.json')
const vectors: readonly Vector[] = JSON.parse(readFileSync(fixture, 'utf8'))
const [vector] = vectors as [Vector]
const otherKey = 'whsec_ZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXp7'
const { validateSignature, ...hooks } = forges.gitlab.hooks

const validateHeaders = (own: Credentials, headers: HookHeaders, nowMs: number) =>
  hooks.validateHeaders(own, { headers, serviceName: 'SVC', nowMs })

const credentials = (given: object): Credentials =>
  readSources({ a: { signals: ['traces'], ...given } }).get('a')!.credentials
const signed = ({ id, timestamp, signature }: Vector) => ({
  'webhook-id': id,
  'webhook-timestamp': timestamp,
  'webhook-signature': signature,
})
const atMs = ({ timestamp }: Vector) => Number(timestamp) * 1_000

describe('signatures', () => {
  test.each(vectors)('accepts $case for this body only', (row) => {
    const own = credentials({ signingToken: row.signingToken })
    expect(validateHeaders(own, signed(row), atMs(row))).toBeUndefined()
    expect(validateSignature(own, signed(row), Buffer.from(row.body))).toBeUndefined()
    expect(validateSignature(own, signed(row), Buffer.from(`${row.body} `))).toBe('signature_wrong')
  })

  test.each([
    ['one of several signatures', `v1,AAAA v1a,BBBB ${vector.signature} v2,CCCC`, undefined],
    ['another version of the same', vector.signature.replace('v1,', 'v2,'), 'signature_wrong'],
    ['no version', vector.signature.slice(3), 'signature_wrong'],
    ['a cut one', vector.signature.slice(0, -2), 'signature_wrong'],
    ['nothing but the version', 'v1,', 'signature_wrong'],
  ])('%s', (_, signature, refusal) => {
    const headers = { ...signed(vector), 'webhook-signature': signature }
    const own = credentials({ signingToken: vector.signingToken })
    expect(validateSignature(own, headers, Buffer.from(vector.body))).toBe(refusal)
  })

  test('accepts signatures by any configured key, and by no other', () => {
    const both = credentials({ signingToken: [otherKey, vector.signingToken] })
    expect(validateSignature(both, signed(vector), Buffer.from(vector.body))).toBeUndefined()
    const other = credentials({ signingToken: otherKey })
    expect(validateSignature(other, signed(vector), Buffer.from(vector.body))).toBe('signature_wrong')
  })

  test.each([
    ['id', { 'webhook-id': 'msg_other' }],
    ['time', { 'webhook-timestamp': String(Number(vector.timestamp) + 1) }],
  ])('verifies that the signature covers the %s', (_, changed) => {
    const own = credentials({ signingToken: vector.signingToken })
    expect(validateSignature(own, { ...signed(vector), ...changed }, Buffer.from(vector.body))).toBe('signature_wrong')
  })

  test.each([
    [-300_000, undefined],
    [-300_001, 'timestamp_outside_window'],
    [300_000, undefined],
    [300_001, 'timestamp_outside_window'],
  ])('validates a signature %i ms after its time', (lateMs, refusal) => {
    const own = credentials({ signingToken: vector.signingToken })
    expect(validateHeaders(own, signed(vector), atMs(vector) + lateMs)).toBe(refusal)
  })

  test.each([
    [{ 'webhook-id': '' }, 'signature_missing'],
    [{ 'webhook-timestamp': '' }, 'signature_missing'],
    [{ 'webhook-signature': '' }, 'signature_missing'],
    [{ 'webhook-timestamp': 'yesterday' }, 'timestamp_unreadable'],
    [{ 'webhook-timestamp': `${vector.timestamp}.0` }, 'timestamp_unreadable'],
    [{ 'webhook-timestamp': `-${vector.timestamp}` }, 'timestamp_unreadable'],
    [{ 'webhook-timestamp': `${vector.timestamp}, ${vector.timestamp}` }, 'timestamp_unreadable'],
  ])('validates the headers changed by %j', (changed, refusal) => {
    const own = credentials({ signingToken: vector.signingToken })
    expect(validateHeaders(own, { ...signed(vector), ...changed }, atMs(vector))).toBe(refusal)
  })
})

describe('secret tokens', () => {
  const own = credentials({ secretToken: ['the old secret', 'schlüssel 測'] })
  const refusal = (headers: object) => validateHeaders(own, { ...headers }, 0)

  test.each([
    [{ 'x-gitlab-token': 'the old secret' }, undefined],
    [{ 'x-svc-token': 'the old secret' }, undefined],
    // As Node reads the bytes of UTF-8 in a header.
    [{ 'x-gitlab-token': Buffer.from('schlüssel 測').toString('latin1') }, undefined],
    [{ 'x-gitlab-token': 'wrong', 'x-svc-token': 'the old secret' }, undefined],
    [{ 'x-gitlab-token': 'the old secre' }, 'token_wrong'],
    [{ 'x-gitlab-token': 'The old secret' }, 'token_wrong'],
    [{ 'x-gitlab-token': '' }, 'token_wrong'],
    [{ 'x-other-token': 'the old secret' }, 'token_missing'],
    [{}, 'token_missing'],
  ])('%j', (headers, expected) => {
    expect(refusal(headers)).toBe(expected)
  })

  test('requires both kinds of credentials if both are configured', () => {
    const both = credentials({ secretToken: 'the old secret', signingToken: vector.signingToken })
    const head = (headers: object) => validateHeaders(both, { ...headers }, atMs(vector))
    const token = { 'x-gitlab-token': 'the old secret' }
    expect(head({ ...token, ...signed(vector) })).toBeUndefined()
    expect(head(token)).toBe('signature_missing')
    expect(head(signed(vector))).toBe('token_missing')
  })
})
