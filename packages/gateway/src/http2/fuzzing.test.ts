import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { CoverageFuzzer } from './coverage-fuzzer.harness.ts'
import { fuzzTargets } from './fuzz-targets.harness.ts'

const DURATION_MS = 20_000

const corpusOf = (name: string): Buffer[] =>
  readFileSync(new URL(`../../../../fixtures/fuzz/${name}.txt`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => Buffer.from(line, 'hex'))

/** A generator of random numbers from a seed, so that a fault is found again (xorshift32). */
function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}

test.each(Object.entries(fuzzTargets))('finds no fault: %s', (name, target) => {
  const fuzzer = new CoverageFuzzer(/gateway\/src\/(http2\/(hpack|frame)|http1\/fast-head)/, seededRandom(1))
  const endMs = performance.now() + DURATION_MS
  const seeds = corpusOf(name)
  const { runs, corpus, blocks, faults } = fuzzer.fuzz(target, seeds, () => performance.now() > endMs)
  fuzzer.close()
  expect(faults).toEqual([])
  expect(runs).toBeGreaterThan(1_000)
  // The search found more than the seeds had reached.
  expect(corpus.length).toBeGreaterThan(seeds.length)
  expect(blocks).toBeGreaterThan(20)
})
