import { expect, test } from 'vitest'
import { suggestPath } from '../contract/suggest-path.ts'
import { tokenRecord } from '../contract/token-record.harness.ts'
import { mergeWrongPaths, WrongPaths } from './wrong-paths.ts'

const NOW_MS = Date.UTC(2026, 10, 21, 12)
const token = tokenRecord({ id: 'a' })
const sentTo = (path: string) => ({
  transport: 'http' as const,
  path,
  suggestion: suggestPath(path),
  credential: { kind: 'bearer' as const, value: 'an-imported-token-without-a-prefix', from: 'header' as const },
  source: '192.0.2.7',
  userAgent: 'curl/8',
  requestId: undefined,
  declaredBytes: 1,
})

test('keeps the 100 rows that were seen last', () => {
  const wrongPaths = new WrongPaths()
  for (let index = 0; index < 100; index += 1) wrongPaths.record(sentTo(`/${index}`), token, NOW_MS + index)
  wrongPaths.record(sentTo('/0'), token, NOW_MS + 100)
  wrongPaths.record(sentTo('/new'), token, NOW_MS + 101)

  const rows = wrongPaths.report()
  expect(rows).toHaveLength(100)
  expect(rows.find(({ path }) => path === '/1')).toBeUndefined()
  expect(rows.find(({ path }) => path === '/0')).toMatchObject({
    count: 2,
    firstSeenMs: NOW_MS,
    lastSeenMs: NOW_MS + 100,
  })
})

test('shows no path that contains a secret, and cuts long ones', () => {
  const wrongPaths = new WrongPaths()
  for (const path of ['/psin_x', '/psak_x', '/an-imported-token-without-a-prefix/x', `/${'x'.repeat(300)}`]) {
    wrongPaths.record(sentTo(path), token, NOW_MS)
  }
  expect(wrongPaths.report().map(({ path, count }) => [path, count])).toEqual([
    ['', 3],
    [`/${'x'.repeat(199)}`, 1],
  ])
})

test('adds up the rows of several processes', () => {
  const [first, second] = [new WrongPaths(), new WrongPaths()]
  first.record(sentTo('/v1/trace'), token, NOW_MS + 1)
  second.record(sentTo('/v1/trace'), token, NOW_MS)
  second.record(sentTo('/v1/log'), token, NOW_MS)
  expect(mergeWrongPaths([first.report(), second.report()])).toMatchObject([
    { path: '/v1/trace', count: 2, firstSeenMs: NOW_MS, lastSeenMs: NOW_MS + 1, rightPaths: ['/v1/traces'] },
    { path: '/v1/log', count: 1, rightPaths: ['/v1/logs'] },
  ])
})
