import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { isSigningToken, verifySignature } from './verify-signature.ts'

const token = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const atMs = 1_790_000_000_000
const body = Buffer.from('{"object_kind":"push"}')
const signed = (more: object = {}) => ({
  headers: {
    'webhook-id': 'msg-1',
    'webhook-timestamp': String(atMs / 1_000),
    'webhook-signature': new Webhook(token).sign('msg-1', new Date(atMs), body.toString()),
    ...more,
  },
  body,
  receivedAtMs: atMs,
})

test('accepts what the Standard Webhooks library signs, among several signatures', () => {
  expect(verifySignature(token, signed())).toBe('verified')
  const signature = signed().headers['webhook-signature']
  expect(verifySignature(token, signed({ 'webhook-signature': `v1,AAAA ${signature}` }))).toBe('verified')
})

test.each([
  { fault: 'another body', request: { ...signed(), body: Buffer.from('{}') }, verdict: 'invalid' },
  { fault: 'another id', request: signed({ 'webhook-id': 'msg-2' }), verdict: 'invalid' },
  { fault: 'another time', request: signed({ 'webhook-timestamp': '1790000001' }), verdict: 'invalid' },
  { fault: 'no number', request: signed({ 'webhook-timestamp': 'now' }), verdict: 'invalid' },
  { fault: 'no id', request: signed({ 'webhook-id': undefined }), verdict: 'invalid' },
  { fault: 'no signature', request: signed({ 'webhook-signature': undefined }), verdict: 'unsigned' },
  { fault: 'an old request', request: { ...signed(), receivedAtMs: atMs + 300_001 }, verdict: 'stale' },
])('$fault: $verdict', ({ request, verdict }) => {
  expect(verifySignature(token, request)).toBe(verdict)
})

test('a signing token has 32 bytes', () => {
  expect([token, 'whsec_AAAA', token.slice(6)].map(isSigningToken)).toEqual([true, false, false])
})
