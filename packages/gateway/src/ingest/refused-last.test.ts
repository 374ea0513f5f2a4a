import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Line, RefusedLast } from './refused-last.ts'

class TestLine implements Line {
  refusals = 0
  isHeld = false
  releases = 0
  hold(): void {
    this.isHeld = true
  }
  release(): void {
    this.isHeld = false
    this.releases += 1
  }
}

/** What was planned with `setImmediate` before has run. */
const turn = () => new Promise(setImmediate)

function refuse(refusedLast: RefusedLast, lines: readonly TestLine[], times: number): void {
  for (const line of lines) for (let at = 0; at < times; at += 1) refusedLast.refused(line)
}

test('T-12: as long as few are refused in a turn, nobody is held', async () => {
  const refusedLast = new RefusedLast()
  const lines = Array.from({ length: 8 }, () => new TestLine())
  refuse(refusedLast, lines, 1)
  await turn()
  expect(lines.map(({ isHeld }) => isHeld)).toEqual(Array(8).fill(false))
})

test('T-12: of many refused connections, each turn reads as many as were refused eight times in all', async () => {
  const refusedLast = new RefusedLast()
  const lines = Array.from({ length: 6 }, () => new TestLine())
  refuse(refusedLast, lines, 4)
  const heldPerTurn: number[] = []
  for (let at = 0; at < 3; at += 1) {
    await turn()
    heldPerTurn.push(lines.filter(({ isHeld }) => isHeld).length)
  }
  expect(heldPerTurn).toEqual([4, 2, 0])
})

test('T-12: one that was refused more often than a turn allows is read again nevertheless', async () => {
  const refusedLast = new RefusedLast()
  const [greedy, modest] = [new TestLine(), new TestLine()]
  refuse(refusedLast, [greedy, modest], 1_000)
  await turn()
  expect([greedy.isHeld, modest.isHeld]).toEqual([false, true])
  await turn()
  expect(modest.isHeld).toBe(false)
})

test('whoever is refused, however often and whenever, is read again in the end', async () => {
  const rounds = fc.array(fc.array(fc.record({ line: fc.nat(4_000), times: fc.integer({ min: 1, max: 40 }) })), {
    minLength: 1,
    maxLength: 20,
  })
  await fc.assert(
    fc.asyncProperty(rounds, async (given) => {
      const refusedLast = new RefusedLast()
      const lines = new Map<number, TestLine>()
      let refusals = 0
      for (const round of given) {
        for (const { line, times } of round) {
          const known = lines.get(line) ?? new TestLine()
          lines.set(line, known)
          // A connection that is not read brings no requests.
          if (known.isHeld) continue
          refuse(refusedLast, [known], times)
          refusals += times
        }
        await turn()
      }
      for (let at = 0; at <= refusals; at += 1) await turn()
      for (const line of lines.values()) {
        expect(line.isHeld).toBe(false)
        expect(line.refusals).toBe(0)
      }
    }),
    { numRuns: 50 },
  )
})
