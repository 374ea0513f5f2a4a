import { expect, test } from 'vitest'
import { compareSessions, seededRandom } from './compare-sessions.harness.ts'
import { MutatedSessions } from './mutated-sessions.harness.ts'

test('receives every request like nghttp2, or refuses it', async () => {
  const result = await compareSessions(new MutatedSessions(seededRandom(1)), 8_000)
  expect(result.faults).toEqual([])
  // The comparison means something only if both readers receive a good part of the requests.
  expect(result.complete).toBeGreaterThan(3_000)
  expect(result.mutated).toBeGreaterThan(1_000)
})
