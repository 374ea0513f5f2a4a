import { expect, test } from 'vitest'
import { outcomeFromFailure, outcomeFromReply, toOutcomeKind } from './outcome.ts'

test.each([
  [200, 'delivered'],
  [202, 'delivered'],
  [204, 'delivered'],
  [429, 'retry'],
  [502, 'retry'],
  [503, 'retry'],
  [504, 'retry'],
  [301, 'dead'],
  [304, 'dead'],
  [308, 'dead'],
  [400, 'dead'],
  [401, 'dead'],
  [403, 'dead'],
  [404, 'dead'],
  [408, 'dead'],
  [413, 'dead'],
  [500, 'dead'],
  [501, 'dead'],
  [505, 'dead'],
  [599, 'dead'],
  [101, 'dead'],
  [999, 'dead'],
])('%i is %s', (status, kind) => {
  expect(toOutcomeKind(status)).toBe(kind)
})

const detail = { rejectedItems: 0, message: 'the message' }

test('treats only 401 and 403 as authentication failures', () => {
  const refused = Array.from({ length: 500 }, (_, index) => 100 + index).filter((status) => {
    const outcome = outcomeFromReply({ status, headers: {} }, detail, 0)
    return outcome.kind === 'dead' && outcome.authentication
  })
  expect(refused).toEqual([401, 403])
})

test('returns the rejected items of a success', () => {
  const outcome = outcomeFromReply({ status: 200, headers: {} }, { rejectedItems: 3, message: 'too old' }, 0)
  expect(outcome).toEqual({ kind: 'delivered', rejectedItems: 3, message: 'too old' })
})

test('returns the requested wait of a retry', () => {
  const outcome = outcomeFromReply({ status: 429, headers: { 'retry-after': '3' } }, detail, 0)
  expect(outcome).toEqual({ kind: 'retry', retryAfterMs: 3_000, reason: 'the message' })
})

test('retries a network failure', () => {
  const outcome = outcomeFromFailure({ kind: 'failure', code: 'ECONNREFUSED', reason: 'connection refused' })
  expect(outcome).toEqual({ kind: 'retry', retryAfterMs: 0, reason: 'connection refused' })
})

test('does not retry an address that the policy blocks', () => {
  const outcome = outcomeFromFailure({ kind: 'failure', code: 'PENSTOCK_BLOCKED', reason: 'URL is blocked: …' })
  expect(outcome).toEqual({ kind: 'dead', reason: 'URL is blocked: …', authentication: false, isLocal: true })
})
