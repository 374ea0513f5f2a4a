import { expect, test } from 'vitest'
import type { JobDifference } from '../../api/answers.ts'
import { comparisonSentence, isSmall } from './comparison-sentence.ts'

const job = (name: string, change: JobDifference['change'], delta: number | null): JobDifference => ({
  ...{ name, change, delta_seconds: delta, stage: 'test', a_seconds: 10, b_seconds: 10 + (delta ?? 0) },
  ...{ a_status: 'success', b_status: 'success' },
})

const sentence = (base: 'a' | 'b', ...jobs: readonly JobDifference[]) =>
  comparisonSentence({ base, jobs })
    .map(({ text }) => text)
    .join('')
    .trim()

test('says what failed, and what is new or gone', () => {
  const jobs = [job('staging', 'failed', -3), job('unit', 'slower', 4), job('lint', 'gone', null)]
  expect(sentence('a', ...jobs)).toBe('staging failed in B. lint did not run in B.')
})

test('names three jobs and counts the others, and counts from the median to A', () => {
  const fixed = ['a', 'b', 'c', 'd'].map((name) => job(name, 'fixed', 0))
  expect(sentence('b', ...fixed)).toBe('a, b, c and 1 more passed again in A.')
})

test('is empty if no job differs by more than two seconds', () => {
  expect(sentence('a', job('unit', 'slower', 1.5), job('lint', 'same', 0))).toBe('')
  const changes = [job('a', 'slower', 2), job('a', 'faster', -2.1), job('a', 'failed', 0), job('a', 'new', null)]
  expect(changes.map(isSmall)).toEqual([true, false, false, false])
})
