import { describe, expect, test } from 'vitest'
import { LinearRegex } from './linear-regex.ts'
import { compileRegex, RegexError } from './regex-compiler.ts'

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
  ['a{,2}', ['a{,2}'], ['aa']],
])('%s', (expression, matching, others) => {
  const regex = new LinearRegex(expression)
  expect(matching.filter((text) => !regex.test(text))).toEqual([])
  expect(others.filter((text) => regex.test(text))).toEqual([])
})

test.each(['(', ')', '[a', '*', 'a**', '(?=a)', '(?<!a)', '(a)\\1', '[b-a]', 'a{2,1}', 'a{1001}', '\\', '(?z)', '\\y'])(
  '%s is not valid',
  (expression) => {
    expect(() => new LinearRegex(expression)).toThrow(RegexError)
  },
)

describe('an expression that makes others take exponential time', () => {
  test.each(['(a+)+$', '^(a|aa)*$', '(.*a){12}$', '(a*)*b'])('%s', (expression) => {
    expect(new LinearRegex(expression).test(`${'a'.repeat(5_000)}!`)).toBe(false)
  })

  test('by repeating a long class shares one', () => {
    const regex = new LinearRegex(`^[${'a'.repeat(3_900)}b]{990}c`)
    expect(regex.test(`${'ab'.repeat(495)}c`)).toBe(true)
    expect(regex.test('ab'.repeat(495))).toBe(false)
    expect(compileRegex('[ab]{9}').states.reduce((set, { accepts }) => set.add(accepts), new Set()).size).toBe(2)
  })

  test('is refused if it is too large', () => {
    expect(() => new LinearRegex('((a{100}){100}){100}')).toThrow(RegexError)
    expect(() => new LinearRegex('('.repeat(1_000))).toThrow(RegexError)
    expect(() => new LinearRegex(`${'('.repeat(150)}b{0,900}${')*'.repeat(150)}c`)).toThrow(RegexError)
  })
})
