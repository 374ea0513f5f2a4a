import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { inOwnTurn } from './own-turn.ts'

test('work of several callers is done in order, one piece in each turn of the event loop', async () => {
  let turn = 0
  const timer = setImmediate(function count() {
    turn += 1
    if (done < 10) setImmediate(count)
  })
  let done = 0
  const turns = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      inOwnTurn(() => {
        done += 1
        return { index, order: done - 1, turn }
      }),
    ),
  )
  clearImmediate(timer)
  expect(turns.map(({ order }) => order)).toEqual(turns.map(({ index }) => index))
  expect(new Set(turns.map((one) => one.turn)).size).toBe(10)
})

test('work that fails does not stop the work after it', async () => {
  const failing = inOwnTurn(() => {
    throw new Error('bug')
  })
  const next = inOwnTurn(() => 'done')
  await expect(failing).rejects.toThrow('bug')
  expect(await next).toBe('done')
})

test('every comparison of texts has a turn of its own', () => {
  const comparisons = {
    'commit-diff.ts': /\b(?:textDiff|countEditedLines)\(/,
    'blame.ts': /\bkeptLines\(/,
    'merge-trees.ts': /\bmergeLines\(/,
  }
  for (const [file, call] of Object.entries(comparisons)) {
    const calls = readFileSync(join(import.meta.dirname, file), 'utf8')
      .split('\n')
      .filter((line) => call.test(line) && !/^(?:import|function|export|const)\b/.test(line))
    expect(calls.length).toBeGreaterThan(0)
    for (const line of calls) expect(line).toContain('inOwnTurn(')
  }
})
