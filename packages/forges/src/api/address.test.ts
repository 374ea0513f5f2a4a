import { expect, test } from 'vitest'
import { RecordError } from '../record/record-error.ts'
import { requestUrl } from './address.ts'

const base = new URL('https://forge.example/api/v3/')

test('the URL of a request is below the URL of the API', () => {
  const url = requestUrl(base, { path: '/repos/a%2Fb', query: { page: 2, status: undefined, ref: 'a&b' } })
  expect(url.href).toBe('https://forge.example/api/v3/repos/a%2Fb?page=2&ref=a%26b')
  expect(requestUrl(new URL('https://forge.example'), { path: '//x' }).origin).toBe('https://forge.example')
})

test.each([
  '/repos/../../user',
  '/a/%2e%2e/user',
  '/a/%2E./user',
  '/a?b=c',
  '/a#b',
  '/a\\..\\user',
  'http://x.example/',
])('a path that leads elsewhere is refused: %s', (path) => {
  expect(() => requestUrl(base, { path })).toThrow(RecordError)
})
