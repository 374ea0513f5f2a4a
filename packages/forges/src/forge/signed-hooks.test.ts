import { expect, test } from 'vitest'
import { signedHookRules } from './signed-hooks.ts'

const rules = signedHookRules({
  form: { algorithm: 'sha256', encoding: 'hex', prefix: 'sha256=' },
  eventHeaders: ['x-new-event', 'x-event'],
  signatureHeaders: ['x-new-signature', 'x-signature'],
  recordEvents: ['run'],
})
const credentials = { tokenDigests: [], signingKeys: [], secretTokens: [Buffer.from('key')] }
const request = (signature: string | string[] | undefined) => ({
  headers: { 'x-signature': signature },
  serviceName: 'x',
  nowMs: 0,
})

test.each([undefined, '', 'sha256=', 'sha1=00', ['sha256=00']])('the header %j has no signature', (value) => {
  expect(rules.validateHeaders(credentials, request(value))).toBe('signature_missing')
})

test('a header with a signature is accepted before the body is read', () => {
  expect(rules.validateHeaders(credentials, request('sha256=00'))).toBeUndefined()
  expect(rules.validateHeaders({ ...credentials, secretTokens: [] }, request(undefined))).toBeUndefined()
})

test('the first of several names of a header is used', () => {
  expect(rules.event({ 'x-event': ' Run ' }, 'x')).toBe('run')
  expect(rules.event({ 'x-event': 'push', 'x-new-event': 'run' }, 'x')).toBe('run')
  expect(rules.event({}, 'x')).toBeUndefined()
})
