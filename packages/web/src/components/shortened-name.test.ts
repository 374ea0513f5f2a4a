import { expect, test } from 'vitest'
import { shortenedName } from './shortened-name.ts'

test('long names keep their beginning and their end', () => {
  const matrix = `integration: [${'postgres-16, '.repeat(6)}node-24] 12/20`
  expect(shortenedName(matrix)).toBe('integration: [postgres-16,…tgres-16, node-24] 12/20')
  expect(shortenedName('a'.repeat(51))).toBe('a'.repeat(51))
  expect(shortenedName('😀'.repeat(240))).toBe(`${'😀'.repeat(26)}…${'😀'.repeat(24)}`)
})
