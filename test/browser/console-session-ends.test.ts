import { expect, test } from 'vitest'
import { sessionEnds } from '../../packages/gateway/src/sessions/session-end.ts'
import { endNote } from '../../packages/web/src/app/session-note.ts'

test('the console has a sentence of its own for every end of a session that the gateway reports', () => {
  const texts = [...sessionEnds, 'unknown'].map((end) => endNote({ details: { session_ended: end } }, true)?.text)
  expect(new Set(texts).size).toBe(sessionEnds.length + 1)
  for (const text of texts) expect(text).toMatch(/^Your session .+\.$/)
})
