import { expect, test } from 'vitest'
import { EndpointError } from './endpoint-url.ts'
import { parseHeaderList, requestHeaders, secretsIn } from './request-headers.ts'

test('reads a list with percent-encoded values', () => {
  expect(parseHeaderList('x-honeycomb-team=abc, Authorization=Basic%20YTpi==,x-scope=a%2Cb,')).toEqual({
    'x-honeycomb-team': 'abc',
    authorization: 'Basic YTpi==',
    'x-scope': 'a,b',
  })
  expect(parseHeaderList(' ')).toEqual({})
})

test.each([
  ['no name', 'SECRET', 'header 1 of the list has no ='],
  ['a bad escape', 'x=%zzSECRET', 'header 1 of the list is not percent-encoded correctly'],
  ['a line break', 'x=SECRET%0d%0ay: z', 'the value of the header x must have 1 to 8192 printable ASCII characters'],
  ['no value', 'x=', 'the value of the header x must have'],
  ['a header of the request', 'Content-Length=7', 'the header content-length is set by the request itself'],
  ['a name with blanks', 'a b=SECRET', 'a header has a name with invalid characters'],
  ['two values', 'x=SECRET,X=SECRET', 'the header x is given twice'],
])('%s is refused without the value', (_, list, message) => {
  const read = () => parseHeaderList(list)
  expect(read).toThrow(EndpointError)
  expect(read).toThrow(message)
  expect(read).not.toThrow('SECRET')
})

test('the number of headers is limited', () => {
  const entries = (count: number) => Array.from({ length: count }, (_, index) => [`x-${index}`, 'v'] as const)
  expect(Object.keys(requestHeaders(entries(32)))).toHaveLength(32)
  expect(() => requestHeaders(entries(33))).toThrow('at most 32 headers')
})

test('a credential is a secret with and without its scheme', () => {
  expect(secretsIn({ authorization: 'Bearer abc', 'x-key': 'k' })).toEqual(['Bearer abc', 'abc', 'k', 'k'])
})
