import { expect, test } from 'vitest'
import { fuzz } from './fuzz-run.ts'

/** `npm run soak graphql-fuzz` sends 10,000 documents. */
const DOCUMENTS = 2_000
const SEED = 20_260_203

test('answers valid and corrupted random documents as documented', {
  timeout: 600_000,
}, async () => {
  const figures = await fuzz(DOCUMENTS, SEED)
  expect(figures.documents).toBe(DOCUMENTS)
  // Ensures that the generator does not only produce rejected documents.
  expect(figures.executed).toBeGreaterThan(DOCUMENTS / 4)
  expect(figures.withoutErrors).toBeGreaterThan(DOCUMENTS / 8)
  expect(figures.rejected).toBeGreaterThan(DOCUMENTS / 10)
})
