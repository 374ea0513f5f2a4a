import { expect, test } from 'vitest'
import type { ApiKey, AuditEvent } from '../../api/answers.ts'
import { auditNames, auditRow } from './audit-model.ts'
import { auditEvent, ingestToken } from './management.harness.ts'

const key = { id: 'key-1', name: 'laptop', role: 'Admin' } as ApiKey
const names = auditNames([ingestToken()], [key])

test('names the token, the key that acted, and its role', () => {
  expect(auditRow(auditEvent(), names)).toMatchObject({
    text: 'Token created',
    subject: 'storefront',
    by: 'laptop, Admin',
    requestId: 'r-1',
  })
})

test.each<[AuditEvent['event'], Partial<AuditEvent>, string[]]>([
  ['token.expired', { actor: null, before: null, after: null }, ['Token expired', 'storefront', 'system']],
  [
    'state.changed',
    { subject_id: null, before: { mode: 'off' }, after: { mode: 'report', reason: 'trial' } },
    ['Enforcement mode changed, off to report: trial', '', 'laptop, Admin'],
  ],
  [
    'token.updated',
    { before: { name: 'a', tenant: null }, after: { name: 'b', tenant: null } },
    ['Token changed: name', 'b', 'laptop, Admin'],
  ],
  [
    'api.denied',
    { actor: null, subject_id: null, after: { operation: 'listTokens', code: 'unauthenticated' } },
    ['Refused listTokens, no valid key', '', 'unknown caller'],
  ],
  [
    'api.denied',
    { actor: { id: 'gone', role: 'Viewer' }, subject_id: null, after: { operation: 'createToken', code: 'forbidden' } },
    ['Refused createToken, role too low', '', 'gone, Viewer'],
  ],
  ['session.created', { subject_id: 'session-1', after: null }, ['Signed in', '', 'laptop, Admin']],
  [
    'api_key.revoked',
    { subject_id: 'key-2', before: { name: 'ci' }, after: null },
    ['API key revoked', 'ci', 'laptop, Admin'],
  ],
])('describes %s', (event, changes, [text, subject, by]) => {
  expect(auditRow(auditEvent({ event, ...changes }), names)).toMatchObject({ text, subject, by })
})

test('shows an event that it does not know by its name, and a subject without a name by its id', () => {
  const event: string = 'token.moved'
  const unknown = { event: event as AuditEvent['event'], subject_id: 'unknown', before: null, after: null }
  const row = auditRow(auditEvent(unknown), names)
  expect([row.text, row.subject]).toEqual(['token.moved', 'unknown'])
})
