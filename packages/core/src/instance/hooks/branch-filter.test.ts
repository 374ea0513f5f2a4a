import { expect, test } from 'vitest'
import { type BranchFilterStrategy, isBranchFilter, matchesBranch } from './branch-filter.ts'
import { alertStatusOf, healthAfterFailure } from './hook.ts'
import { targetOf, withoutCredentials } from './hook-url.ts'

test.each<[BranchFilterStrategy, string | undefined, string, boolean]>([
  ['wildcard', undefined, 'main', true],
  ['wildcard', 'main', 'main', true],
  ['wildcard', 'main', 'main2', false],
  ['wildcard', '*', 'a/b', true],
  ['wildcard', 'release/*', 'release/1/x', true],
  ['wildcard', '*-stable', 'a/1-stable', true],
  ['wildcard', 'a*b*c', 'abc', true],
  ['wildcard', 'a*a', 'a', false],
  ['wildcard', 'a*bc*c', 'abc', false],
  ['regex', '^(main|release/.*)$', 'release/1', true],
  ['regex', 'ain', 'main', true],
  ['regex', '^ain', 'main', false],
  ['regex', '(a+)+$', `${'a'.repeat(40)}b`, false],
  ['all_branches', 'x', 'main', true],
])('%s %s with %s: %s', (strategy, filter, branch, expected) => {
  expect(matchesBranch(strategy, filter, branch)).toBe(expected)
})

test.each<[BranchFilterStrategy, string, boolean]>([
  ['wildcard', 'release/*', true],
  ['wildcard', 'a b', false],
  ['wildcard', 'a..b', false],
  ['regex', '[', false],
  ['regex', '(?=a)', false],
  ['regex', '(?<!a)', false],
])('%s %s can be stored: %s', (strategy, filter, expected) => {
  expect(isBranchFilter(strategy, filter)).toBe(expected)
})

test('pauses double from the fourth failure on, up to a day; the fortieth disables', () => {
  const minutes = [4, 5, 6, 7, 8, 14, 15, 39].map((failures) => {
    const { disabledUntilMs } = healthAfterFailure({ recentFailures: failures - 1, disabledUntilMs: undefined }, 0)
    return disabledUntilMs! / 60_000
  })
  expect(minutes).toEqual([1, 2, 4, 8, 16, 1_024, 1_440, 1_440])
  const third = healthAfterFailure({ recentFailures: 2, disabledUntilMs: undefined }, 0)
  expect(third).toEqual({ recentFailures: 3, disabledUntilMs: undefined })
  const fourth = healthAfterFailure(third, 0)
  expect([59_999, 60_000].map((nowMs) => alertStatusOf(fourth, nowMs))).toEqual(['temporarily_disabled', 'executable'])
  expect(alertStatusOf(healthAfterFailure({ recentFailures: 39, disabledUntilMs: 0 }, 0), 1e15)).toBe('disabled')
})

test('credentials of a URL become Basic authentication, and are hidden in the log', () => {
  const target = targetOf('https://u%40x:p%3A@h.example.test:8443/a?b#c')!
  expect(target.url.href).toBe('https://h.example.test:8443/a?b')
  expect(Buffer.from(target.authorization!.slice('Basic '.length), 'base64').toString()).toBe('u@x:p:')
  expect(withoutCredentials('https://u:p@h.example.test/a')).toBe('https://*****:*****@h.example.test/a')
  for (const text of ['http:h.test', 'https:///h.test', 'https://h.test/\n', 'https://h\t.test/', ' https://h.test/']) {
    expect(targetOf(text)).toBeUndefined()
  }
})
