import { expect, test } from 'vitest'
import { matchPath } from './match-path.ts'

test.each([
  ['/pipelines', '/pipelines', {}],
  ['/pipelines', '/pipelines/', {}],
  ['/traces/:traceId', '/traces/4bf9', { traceId: '4bf9' }],
  ['/traces/:traceId', '/traces/a%2Fb', { traceId: 'a/b' }],
  ['/explore/metrics', '/explore/metrics', {}],
])('%s matches %s', (pattern, path, params) => {
  expect(matchPath(pattern, path)).toEqual(params)
})

test.each([
  ['/traces', '/traces/4bf9'],
  ['/traces/:traceId', '/traces'],
  ['/pipelines', '/Pipelines'],
  ['/traces/:traceId', '/traces/%E0%A4%A'],
])('%s does not match %s', (pattern, path) => {
  expect(matchPath(pattern, path)).toBeUndefined()
})
