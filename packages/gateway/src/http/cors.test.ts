import { expect, test } from 'vitest'
import { Cors } from './cors.ts'

test('P-16: adds no headers if no origin is allowed', () => {
  const cors = new Cors([])
  expect(cors.replyHeaders('https://a.test')).toEqual([])
  expect(cors.preflightHeaders('https://a.test', 'authorization')).toEqual([])
})

test.each([
  ['https://app.a.test', true],
  ['https://x.y.b.test', true],
  ['https://b.test', false],
  ['https://evil.test/.b.test', false],
  ['http://app.a.test', false],
  ['null', false],
])('P-16: allows the origin %s: %s', (origin, isAllowed) => {
  const cors = new Cors(['https://app.a.test', 'https://*.b.test'])
  expect(cors.replyHeaders(origin)).toEqual(
    isAllowed
      ? [
          ...['vary', 'Origin', 'access-control-allow-origin', origin],
          ...['access-control-expose-headers', 'Retry-After, WWW-Authenticate'],
        ]
      : ['vary', 'Origin'],
  )
})

test('P-16: `*` allows any origin and all requested headers', () => {
  const cors = new Cors(['*'])
  expect(cors.replyHeaders('https://a.test')).toContain('*')
  expect(cors.preflightHeaders('https://a.test', 'authorization, content-type')).toEqual([
    ...['access-control-allow-methods', 'POST', 'access-control-max-age', '7200'],
    ...['access-control-allow-headers', 'authorization, content-type'],
  ])
})

test('P-16: adds Vary to the reply to a request without an origin', () => {
  expect(new Cors(['*']).replyHeaders(undefined)).toEqual(['vary', 'Origin'])
})
