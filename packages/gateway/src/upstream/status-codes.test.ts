import fc from 'fast-check'
import { expect, test } from 'vitest'
import { retryAfterSeconds } from '../contract/retry-after.ts'
import { meaningOfGrpcCode, meaningOfHttpStatus, meaningWithoutGrpcStatus, type StatusMeaning } from './status-codes.ts'

/** The retryable codes of the OTLP specification. It also allows 8 with RetryInfo. */
const retryableCodes = [1, 4, 10, 11, 14, 15]
const retryableStatuses = [429, 502, 503, 504]

const isRetryable = ({ httpStatus }: StatusMeaning) => retryableStatuses.includes(httpStatus)

test('HTTP clients may retry exactly the failures that gRPC clients may retry', () => {
  for (let code = 1; code <= 20; code++) {
    if ([7, 8, 12, 16].includes(code)) continue
    expect([code, isRetryable(meaningOfGrpcCode(code, false, 'gateway'))]).toEqual([
      code,
      retryableCodes.includes(code),
    ])
    expect(meaningOfGrpcCode(code, true, 'gateway').grpcCode).toBe(code)
  }
  expect(isRetryable(meaningOfGrpcCode(8, true, 'gateway'))).toBe(true)
  expect(isRetryable(meaningOfGrpcCode(8, false, 'gateway'))).toBe(false)
})

test('failures that only the operator can fix are retryable over both protocols', () => {
  const later = { httpStatus: 503, grpcCode: 14 }
  for (const code of [7, 12, 16]) expect(meaningOfGrpcCode(code, false, 'gateway')).toMatchObject(later)
  for (const status of [401, 403, 404, 405]) expect(meaningOfHttpStatus(status, 'gateway')).toMatchObject(later)
})

test.each([
  [400, 'rejected', 400, 3],
  [401, 'credential', 503, 14],
  [403, 'credential', 503, 14],
  [404, 'throttled', 503, 14],
  [405, 'throttled', 503, 14],
  [408, 'throttled', 503, 14],
  [413, 'too_large', 413, 8],
  [415, 'rejected', 415, 3],
  [422, 'rejected', 422, 3],
  [429, 'throttled', 429, 14],
  [500, 'rejected', 500, 2],
  [501, 'rejected', 501, 2],
  [502, 'unknown', 502, 14],
  [503, 'throttled', 503, 14],
  [504, 'unknown', 504, 4],
  [520, 'throttled', 503, 14],
  [599, 'throttled', 503, 14],
  [301, 'unknown', 502, 14],
  [101, 'unknown', 502, 14],
])('P-14: maps HTTP %i to %s, HTTP %i and code %i', (status, cause, httpStatus, grpcCode) => {
  expect(meaningOfHttpStatus(status, 'gateway')).toEqual({ cause, httpStatus, grpcCode })
})

test('X-9: passes refusals of the client’s own credential on', () => {
  expect(meaningOfHttpStatus(401, 'client')).toEqual({ cause: 'credential', httpStatus: 401, grpcCode: 16 })
  expect(meaningOfHttpStatus(403, 'client')).toEqual({ cause: 'credential', httpStatus: 403, grpcCode: 7 })
  expect(meaningOfGrpcCode(16, false, 'client')).toEqual({ cause: 'credential', httpStatus: 401, grpcCode: 16 })
  expect(meaningOfGrpcCode(7, false, 'client')).toEqual({ cause: 'credential', httpStatus: 403, grpcCode: 7 })
})

test('P-14, P-25: answers only 400 to 599, equally retryable over both protocols', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 100, max: 999 }),
      fc.constantFrom('gateway' as const, 'client' as const),
      (status, owner) => {
        if (status >= 200 && status < 300) return
        for (const meaning of [meaningOfHttpStatus(status, owner), meaningWithoutGrpcStatus(status, owner)]) {
          expect(meaning.httpStatus).toBeGreaterThanOrEqual(400)
          expect(meaning.httpStatus).toBeLessThanOrEqual(599)
          expect(retryableCodes.includes(meaning.grpcCode)).toBe(isRetryable(meaning))
        }
      },
    ),
  )
})

test('P-13: waits 2 to 4 whole seconds', () => {
  expect([0, 0.34, 0.5, 0.999].map((roll) => retryAfterSeconds(() => roll))).toEqual([2, 3, 3, 4])
})
