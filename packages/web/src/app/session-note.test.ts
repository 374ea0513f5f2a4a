import { expect, test } from 'vitest'
import { endNote } from './session-note.ts'

/** As in packages/gateway/src/sessions/session-end.ts. */
const sessionEnds = ['max_age', 'unused', 'signed_out', 'key_revoked', 'key_expired', 'too_many']

test('every end of a session has its own sentence', () => {
  const texts = sessionEnds.map((end) => endNote({ details: { session_ended: end } }, true)?.text)
  expect(new Set(texts).size).toBe(sessionEnds.length)
  for (const text of texts) expect(text).toMatch(/^Your session .{20,}\.$/)
})

test('a browser that had no session gets no sentence, and one without its former cookie gets the possible causes', () => {
  expect(endNote({ details: null }, false)).toBeNull()
  expect(endNote({ details: null }, true)?.text).toContain('another tab')
  expect(endNote({ details: { session_ended: 'toString' } }, false)?.text).toBe('Your session has ended.')
})
