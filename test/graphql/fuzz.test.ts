import { expect, test } from 'vitest'
import { fuzz } from './fuzz-run.ts'

/** All 10,000 of them: `npm run soak graphql-fuzz`. */
const DOCUMENTS = 2_000
const SEED = 20_260_203

test('documents made from the schema, sound and spoilt, get an answer that keeps the promises', {
  timeout: 600_000,
}, async () => {
  const figures = await fuzz(DOCUMENTS, SEED)
  expect(figures.documents).toBe(DOCUMENTS)
  // Or the generator makes nothing but refusals.
  expect(figures.executed).toBeGreaterThan(DOCUMENTS / 4)
  expect(figures.withoutErrors).toBeGreaterThan(DOCUMENTS / 8)
  expect(figures.refused).toBeGreaterThan(DOCUMENTS / 10)
})
