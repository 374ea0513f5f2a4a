import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { CredentialSource } from '../contract/gateway-config.ts'
import { HeadReader } from './http-headers.ts'

const credentialOf = (rawHeaders: string[], credentialSources: readonly CredentialSource[], inQuery?: string) =>
  new HeadReader({ credentialSources, passCredentialThrough: false }).read(rawHeaders, inQuery).credential

const malformed = { kind: 'malformed' }
const bearer = (value: string, from = 'header') => ({ kind: 'bearer', value, from })

describe('T-9: exactly one Authorization, scheme Bearer', () => {
  test.each([
    ['Bearer abc', bearer('abc')],
    ['bearer abc', bearer('abc')],
    ['BEARER   abc', bearer('abc')],
    ['Bearer abc  \t', bearer('abc')],
    ['Bearer', malformed],
    ['Bearer ', malformed],
    ['Bearer \t ', malformed],
    ['Bearerabc', malformed],
    ['', malformed],
    ['\n', malformed],
    ['Basic YTpi', malformed],
    ['abc', malformed],
    ['Bearer a b', malformed],
    ['Bearer a, Bearer b', malformed],
  ])('%j', (value, expected) => {
    expect(credentialOf(['Authorization', value], [])).toEqual(expected)
  })

  test('distinguishes a missing credential from a malformed one', () => {
    expect(credentialOf(['host', 'x'], [])).toEqual({ kind: 'none' })
  })

  test.each([
    ['authorization', 'AUTHORIZATION'],
    ['Authorization', 'Authorization'],
  ])('rejects two headers %s and %s', (first, second) => {
    expect(credentialOf([first, 'Bearer good', second, 'Bearer good'], [])).toEqual(malformed)
  })

  test('accepts at most 512 characters, including the scheme', () => {
    expect(credentialOf(['authorization', `Bearer ${'x'.repeat(505)}`], [])).toEqual(bearer('x'.repeat(505)))
    expect(credentialOf(['authorization', `Bearer ${'x'.repeat(506)}`], [])).toEqual(malformed)
  })
})

describe('T-9: compatibility sources', () => {
  const headers: readonly CredentialSource[] = ['x-api-key', 'signoz-ingestion-key', 'x-honeycomb-team']

  test.each(headers)('reads %s only if it is configured', (name) => {
    expect(credentialOf([name.toUpperCase(), 'abc'], [name])).toEqual(bearer('abc'))
    expect(credentialOf([name, 'abc'], [])).toEqual({ kind: 'none' })
  })

  test('counts another source beside Authorization as a second credential', () => {
    expect(credentialOf(['authorization', 'Bearer a', 'x-api-key', 'b'], ['x-api-key'])).toEqual(malformed)
    expect(credentialOf(['authorization', 'Bearer a', 'x-api-key', 'b'], [])).toEqual(bearer('a'))
    expect(credentialOf(['authorization', 'Bearer a'], ['query'], 'b')).toEqual(malformed)
  })

  test('accepts a bare Authorization value if that is configured', () => {
    expect(credentialOf(['authorization', 'abc'], ['bare-authorization'])).toEqual(bearer('abc'))
    expect(credentialOf(['authorization', 'Bearer abc'], ['bare-authorization'])).toEqual(bearer('abc'))
    expect(credentialOf(['authorization', 'Bearer'], ['bare-authorization'])).toEqual(malformed)
    expect(credentialOf(['authorization', 'Basic YTpi'], ['bare-authorization'])).toEqual(malformed)
  })

  test('reads the query parameter, and records its place', () => {
    expect(credentialOf([], ['query'], 'abc')).toEqual(bearer('abc', 'query'))
    expect(credentialOf(['x-api-key', 'abc'], ['query', 'x-api-key'])).toEqual(bearer('abc', 'header'))
    expect(credentialOf([], ['query'], '')).toEqual(malformed)
  })
})

test('T-9: an accepted credential is not empty, has no white space and is part of the header', () => {
  fc.assert(
    fc.property(fc.string(), fc.constantFrom('Bearer ', 'bearer\t', 'BEARER  ', ''), (text, scheme) => {
      const credential = credentialOf(['authorization', `${scheme}${text}`], ['bare-authorization'])
      if (credential.kind !== 'bearer') return
      expect(credential.value).not.toBe('')
      expect(credential.value).not.toMatch(/[ \t]/)
      expect(`${scheme}${text}`).toContain(credential.value)
    }),
  )
})
