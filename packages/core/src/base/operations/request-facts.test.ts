import { describe, expect, test } from 'vitest'
import { toRequestFacts, UnmodifiedCheck } from './request-facts.ts'

const sent = { source: '192.0.2.7', userAgent: undefined, eventUuid: undefined, ifUnmodifiedSince: undefined }
const uuid = '3c1e5d0a-58f1-4a0b-9b3c-0d6f0f2b7a11'
const at = Date.UTC(2026, 1, 3, 4, 5, 6)

describe('request facts', () => {
  test.each([
    [{ userAgent: 'glab/1.2' }, { userAgent: 'glab/1.2' }],
    [{ userAgent: 'x'.repeat(5_000) }, { userAgent: 'x'.repeat(1_024) }],
    [{ eventUuid: ` ${uuid.toUpperCase()} ` }, { eventUuid: uuid }],
    [{ eventUuid: 'not a UUID' }, {}],
    [{ ifUnmodifiedSince: 'Tue, 03 Feb 2026 04:05:06 GMT' }, { ifUnmodifiedSinceMs: at }],
    [{ ifUnmodifiedSince: 'Tuesday, 03-Feb-26 04:05:06 GMT' }, { ifUnmodifiedSinceMs: at }],
    [{ ifUnmodifiedSince: 'Tue Feb  3 04:05:06 2026' }, { ifUnmodifiedSinceMs: at }],
    [{ ifUnmodifiedSince: '2026-02-03T04:05:06.789Z' }, { ifUnmodifiedSinceMs: at + 789 }],
    [{ ifUnmodifiedSince: '2026-02-03T05:05:06+01:00' }, { ifUnmodifiedSinceMs: at }],
    [{ ifUnmodifiedSince: 'Tue, 99 Feb 2026 04:05:06 GMT' }, {}],
    [{ ifUnmodifiedSince: 'yesterday' }, {}],
    [{ ifUnmodifiedSince: '1770091506' }, {}],
  ])('of %j', (given, expected) => {
    expect(toRequestFacts({ ...sent, ...given })).toEqual({ address: '192.0.2.7', ...expected })
  })
})

describe('the check of If-Unmodified-Since', () => {
  const failure = { failure: { code: 'changed_since' } }

  test('fails if the object changed later, by a millisecond', () => {
    const check = new UnmodifiedCheck('removeThing', true, { ifUnmodifiedSinceMs: at })
    expect(() => check.require(at)).not.toThrow()
    expect(() => check.require(undefined)).not.toThrow()
    expect(() => check.require(at + 1)).toThrow(expect.objectContaining(failure))
  })

  test('accepts any object without the header', () => {
    expect(() => new UnmodifiedCheck('removeThing', true, {}).require(at)).not.toThrow()
  })

  test('is made by exactly those operations that declare it', () => {
    expect(() => new UnmodifiedCheck('removeThing', false, {}).require(at)).toThrow('is not conditional')
    expect(() => new UnmodifiedCheck('removeThing', true, {}).requireDone()).toThrow('must call requireUnmodified')
    expect(() => new UnmodifiedCheck('removeThing', false, {}).requireDone()).not.toThrow()
  })
})
