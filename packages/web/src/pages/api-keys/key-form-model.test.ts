import { expect, test } from 'vitest'
import { NOW_MS } from '../ingest/management.harness.ts'
import { emptyKeyForm, keyDraft } from './key-form-model.ts'

test('a key is a Viewer that never expires unless the form says more', () => {
  expect(keyDraft({ ...emptyKeyForm, name: ' laptop ' }, NOW_MS)).toEqual({
    body: { name: 'laptop', role: 'Viewer', expires_at: null },
  })
  expect(keyDraft({ ...emptyKeyForm, name: 'ci', role: 'Editor', expiry: '90d' }, NOW_MS)).toEqual({
    body: { name: 'ci', role: 'Editor', expires_at: '2026-06-08T12:00:00.000Z' },
  })
})

test('names every field to correct', () => {
  const draft = keyDraft({ ...emptyKeyForm, name: ' ', expiry: 'date' }, NOW_MS)
  expect('errors' in draft && Object.keys(draft.errors)).toEqual(['name', 'expires_at'])
})
