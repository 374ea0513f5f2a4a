import { expect, test } from 'vitest'
import { endNote } from './session-note.ts'

test('a browser that had no session gets no sentence, and one without its former cookie gets the possible causes', () => {
  expect(endNote({ details: null }, false)).toBeNull()
  expect(endNote({ details: null }, true)?.text).toContain('another tab')
  expect(endNote({ details: { session_ended: 'toString' } }, false)?.text).toBe('Your session has ended.')
})
