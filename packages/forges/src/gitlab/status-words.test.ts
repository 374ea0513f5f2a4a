import { expect, test } from 'vitest'
import { canonicalStatus } from './status-words.ts'

test.each([
  ['success', 'success'],
  ['failure', 'failed'],
  ['cancelled', 'canceled'],
  ['Cancelled', 'canceled'],
  ['SUCCESS', 'success'],
  [' Running\n', 'running'],
  ['canceling', 'canceling'],
  ['Shelved', 'Shelved'],
])('edge 3: %j is %j', (given, expected) => expect(canonicalStatus(given)).toBe(expected))
