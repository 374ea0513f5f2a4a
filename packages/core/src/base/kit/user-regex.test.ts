import { describe, expect, test } from 'vitest'
import { compiledRegex, MAX_REGEX } from './user-regex.ts'

test.each<[expression: string, matching: string[], others: string[]]>([
  ['', ['', 'a'], []],
  ['main', ['main', 'domain'], ['mai', '']],
  ['^(main|release/.*)$', ['main', 'release/', 'release/1/x'], ['main2', 'a/main']],
  ['^a*b+c?$', ['b', 'aabbc', 'ab'], ['ac', 'abcc']],
  ['^(?:ab){2,3}$', ['abab', 'ababab'], ['ab', 'abababab']],
  ['^a{2}$', ['aa'], ['a', 'aaa']],
  ['^a{2,}$', ['aa', 'aaaa'], ['a']],
  ['^(a|b{2})*$', ['', 'a', 'bb', 'abba'], ['b', 'abbb']],
  ['^[a-c_.-]+$', ['a-b_c.'], ['d', '']],
  ['^[^/]+$', ['main'], ['a/b']],
  ['^[]a]+$', [']a'], ['b']],
  ['^[\\d\\-]+$', ['1-2'], ['a']],
  ['^[[:upper:][:digit:]]+$', ['A1'], ['a']],
  ['^\\w+\\.\\d\\s$', ['a_1.2 '], ['a.b ']],
  ['(?i)^MAIN$', ['main', 'Main'], ['mains']],
  ['^a(?i)b$', ['ab', 'aB'], ['Ab']],
  ['^(?i:a)b$', ['Ab'], ['AB']],
  ['(?P<name>x)$', ['ax'], ['xa']],
  ['\\bfix\\b', ['a/fix-1', 'fix'], ['prefix', 'fixed']],
  ['\\Aa\\z', ['a'], ['ab']],
  ['^\\x41\\x{1F600}$', ['A😀'], ['A']],
  ['^.$', ['😀', 'a'], ['', 'ab', '\n']],
  ['(?s)^.$', ['\n'], []],
  ['(?m)^b$', ['a\nb\nc'], ['ab']],
  ['\\Qa.b\\E$', ['a.b'], ['axb']],
  ['^a*?b$', ['aab'], ['a']],
  ['{', ['{'], ['a']],
  ['^\\p{Greek}+$', ['λόγος'], ['logos']],
  ['^x{100}$', ['x'.repeat(100)], ['x'.repeat(99)]],
  ['a{,2}', ['a{,2}'], ['aa']],
])('%s', (expression, matching, others) => {
  const regex = compiledRegex(expression)!
  expect(matching.filter((text) => !regex.test(text))).toEqual([])
  expect(others.filter((text) => regex.test(text))).toEqual([])
})

test.each(['(', ')', '[a', '*', 'a**', '(?=a)', '(?<!a)', '(a)\\1', '[b-a]', 'a{2,1}', 'a{1001}', '\\', '(?z)', '\\y'])(
  '%s is not valid',
  (expression) => {
    expect(compiledRegex(expression)).toBeUndefined()
  },
)

describe('an expression that makes others take exponential time', () => {
  test.each(['(a+)+$', '^(a|aa)*$', '(.*a){12}$', '(a*)*b'])('%s', (expression) => {
    expect(compiledRegex(expression)!.test(`${'a'.repeat(5_000)}!`)).toBe(false)
  })

  test.each(['(a{100}){2}', 'x{50}'.repeat(3), 'a'.repeat(MAX_REGEX + 1), '('.repeat(1_000)])(
    'is refused if it is too large: %s',
    (expression) => {
      expect(compiledRegex(expression)).toBeUndefined()
    },
  )
})
