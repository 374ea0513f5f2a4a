import { expect, test } from 'vitest'
import { maskVariables, redactedJson } from './redaction.ts'

test('hides e-mail addresses and keeps clone addresses, which look like them', () => {
  const kept = { git_ssh_url: 'git@core.example.test:field/crops.git', message: 'ask ada@example.test' }
  const hidden = { email: 'ada@example.test', commits: [{ author: { email: 'ada+ci@mail.example.test' } }] }
  expect(JSON.parse(redactedJson(JSON.stringify({ ...kept, ...hidden })))).toEqual({
    ...kept,
    email: '[REDACTED]',
    commits: [{ author: { email: '[REDACTED]' } }],
  })
})

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
