import { expect, test } from 'vitest'
import type { Comparison, JobDifference, MedianRun, PipelineRun } from '../../api/answers.ts'
import { isSmall } from './comparison-sentence.ts'
import { durationSentence } from './duration-sentence.ts'

const job = (name: string, a: number | null, b: number | null, change: JobDifference['change'] = 'slower') =>
  ({ name, a_seconds: a, b_seconds: b, change }) as JobDifference

const run = (seconds: number) => ({ duration_ns: String(seconds * 1e9) }) as PipelineRun

const sentence = (a: number, b: number | MedianRun, jobs: readonly JobDifference[]) => {
  const sides = typeof b === 'number' ? { b: run(b), base: 'a' as const } : { b, base: 'b' as const }
  const comparison: Comparison = { a: run(a), ...sides, jobs }
  return durationSentence(comparison)
    .map(({ text }) => text)
    .join('')
    .trim()
}

test('names the job that explains at least half of the difference', () => {
  const jobs = [job('lint', 10, 14), job('unit', 60, 170), job('docs', 90, 20)]
  expect(sentence(200, 320, jobs)).toBe('B took 2m 00s longer than A: mostly unit (+1m 50s).')
  expect(sentence(320, 200, jobs)).toBe('B took 2m 00s less than A: mostly docs (−1m 10s).')
})

test('names the two largest of many small changes', () => {
  const jobs = [job('a', 10, 30), job('b', 10, 25), job('c', 10, 22)]
  expect(sentence(100, 160, jobs)).toBe(
    'B took 1m 00s longer than A: 3 jobs, most of all a (+20.0 s) and b (+15.0 s), 1 more.',
  )
})

test('a job that ran on one side only counts with its whole time', () => {
  const jobs = [job('deploy', 50, null, 'same'), job('unit', 30, 28, 'failed')]
  expect(sentence(100, 50, jobs)).toBe('B took 50.0 s less than A: mostly deploy (−50.0 s).')
})

test('small differences are none, and jobs that took as long explain nothing', () => {
  expect(sentence(100, 101.9, [job('unit', 10, 90)])).toBe('B took as long as A.')
  expect(sentence(1_000, 1_019, [])).toBe('B took as long as A.')
  expect(sentence(100, 130, [job('unit', 10, 15)])).toBe('B took 30.0 s longer than A, mostly in waiting between jobs.')
})

test('names only jobs that the table shows: also those that ran on one side, none that differ by two seconds', () => {
  const jobs = [
    job('deploy', 50, null, 'same'),
    job('build', null, 30, 'same'),
    job('unit', 10, 12),
    job('lint', 9, 40),
  ]
  for (const [a, b] of [
    [100, 50],
    [100, 130],
    [100, 102],
    [100, 180],
  ] as const) {
    const comparison: Comparison = { a: run(a), b: run(b), base: 'a', jobs }
    const names = durationSentence(comparison).flatMap(({ text, isName }) => (isName ? [text] : []))
    const hidden = jobs.filter(isSmall).map(({ name }) => name)
    expect(names.filter((name) => hidden.includes(name))).toEqual([])
    expect(hidden).toEqual(['unit'])
  }
})

test('a run is compared with the median', () => {
  const median = { kind: 'median', duration_seconds: 100 } as MedianRun
  expect(sentence(160, median, [job('unit', 80, 20)])).toBe(
    'A took 1m 00s longer than the median: mostly unit (+1m 00s).',
  )
  expect(sentence(160, { ...median, duration_seconds: null }, [])).toBe('')
})
