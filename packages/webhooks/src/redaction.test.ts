import { noSecrets } from '@penstock/core'
import { expect, test } from 'vitest'
import { maskSecrets, redactedJson } from './redaction.ts'

const maskVariables = (text: string, urlVariables: Readonly<Record<string, string>>) =>
  maskSecrets(text, { ...noSecrets, urlVariables })

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

test('tokens and values of headers are hidden, unless they are short', () => {
  const signingToken = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  const customHeaders = { 'X-Key': 'k3y-of-x', 'X-Flag': '1' }
  const secrets = { ...noSecrets, token: 't(o)ken+1', signingToken, customHeaders }
  expect(maskSecrets(`1: got t(o)ken+1, k3y-of-x and ${signingToken}`, secrets)).toBe(
    '1: got [REDACTED], [REDACTED] and [REDACTED]',
  )
})
