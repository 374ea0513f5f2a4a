import { expect, test } from 'vitest'
import { PathTable } from './http-path.ts'

const paths = new PathTable({ '/otlp/v1/logs': 'logs' }, { healthPath: '/healthz', readsQuery: true })

test.each([
  ['/v1/traces', 'traces'],
  ['/v1/metrics', 'metrics'],
  ['/v1/logs', 'logs'],
  ['/v1development/profiles', 'profiles'],
  ['/otlp/v1/logs', 'logs'],
  ['/healthz', 'health'],
  ['/v1/traces?x=/v1/logs', 'traces'],
  ['/v1/%74races', 'traces'],
  ['/v1%2Ftraces', 'traces'],
  ['http://any.host/v1/traces', 'traces'],
  ['HTTPS://any.host:99/v1/traces?a', 'traces'],
  ['/', undefined],
  ['*', undefined],
  ['', undefined],
  ['/V1/traces', undefined],
  ['/v1/traces/', undefined],
  ['//v1/traces', undefined],
  ['/v1//traces', undefined],
  ['/v1/./traces', undefined],
  ['/v1/logs/../traces', undefined],
  ['/v1/traces#x', undefined],
  ['/v1/traces%', undefined],
  ['/v1/traces%00', undefined],
  ['/v1/traces;x', undefined],
  ['/%2Fv1/traces', undefined],
  ['/%252Fv1/traces', undefined],
  ['http://any.host?/v1/traces', undefined],
  ['http://any.host', undefined],
  ['ftp://any.host/v1/traces', undefined],
  ['/http://any.host/v1/traces', undefined],
])('P-2: maps %s to %s', (target, route) => {
  expect(paths.find(target).route).toBe(route)
})

test('X-14: has no health path unless it is configured', () => {
  expect(new PathTable({}, { readsQuery: false }).find('/healthz').route).toBeUndefined()
})

test.each([
  ['/v1/traces?access_token=abc', 'abc'],
  ['/v1/traces?a=1&access_token=a%62c#', 'abc#'],
  ['/v1/traces?access_token=a&access_token=b', 'a b'],
  ['/v1/traces?access_token=', ''],
  ['/v1/traces?token=abc', undefined],
  ['/v1/traces', undefined],
])('T-9: reads the credential in %s as %j', (target, expected) => {
  expect(paths.find(target).queryCredential).toBe(expected)
})

test('T-9: ignores the query if it is not a source', () => {
  const without = new PathTable({}, { readsQuery: false })
  expect(without.find('/v1/traces?access_token=abc')).toMatchObject({ route: 'traces', queryCredential: undefined })
})
