import { expect, test } from 'vitest'
import { redactedJson } from './redaction.ts'

test('hides e-mail addresses and keeps clone addresses, which look like them', () => {
  const kept = { git_ssh_url: 'git@core.example.test:field/crops.git', message: 'ask ada@example.test' }
  const hidden = { email: 'ada@example.test', commits: [{ author: { email: 'ada+ci@mail.example.test' } }] }
  expect(JSON.parse(redactedJson(JSON.stringify({ ...kept, ...hidden })))).toEqual({
    ...kept,
    email: '[REDACTED]',
    commits: [{ author: { email: '[REDACTED]' } }],
  })
})
