import { expect, test } from 'vitest'
import { maskVariables } from './redaction.ts'

test('the values of variables are hidden, the longest first', () => {
  const variables = { host: 'ci.example', token: 'ci.example/s$cret', dot: '.*' }
  expect(maskVariables('at ci.example/s$cret of ci.example, not ciXexample.*', variables)).toBe(
    'at {token} of {host}, not ciXexample{dot}',
  )
  expect(maskVariables('nothing', {})).toBe('nothing')
})

test('the result is bounded, whatever the keys and values are', () => {
  const letters = 'abcdefghijklmnopqrst'
  const variables = Object.fromEntries([...letters].map((letter) => [letter + letters.repeat(12), letter]))
  expect(maskVariables(letters.repeat(400), variables).length).toBe(8_000)
  expect(maskVariables('a'.repeat(10), variables).length).toBe(1_024)
})
