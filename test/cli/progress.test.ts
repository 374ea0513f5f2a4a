import { Readable } from 'node:stream'
import { ManualClock } from '@penstock/testkit'
import { expect, test } from 'vitest'
import { penstock, Sink } from '../command-line.ts'
import { hookLine, ndjson } from './hook-line.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const slowStdin = (clock: ManualClock, count: number, stepMs: number) =>
  Readable.from(
    (async function* () {
      for (let id = 1; id <= count; id++) {
        await clock.advance(stepMs)
        yield Buffer.from(`${hookLine(id)}\n`)
      }
    })(),
    { objectMode: false },
  )

test('is silent on short runs', async () => {
  const clock = new ManualClock(1_000_000)
  const { stderr } = await penstock(['convert', '-'], { clock, stdin: slowStdin(clock, 5, 1_000) })
  expect(stderr).toBe('')
})

test('is a line every few seconds if standard error is not a terminal', async () => {
  const clock = new ManualClock(1_000_000)
  const { stderr } = await penstock(['convert', '-'], { clock, stdin: slowStdin(clock, 25, 1_000) })
  const lines = stderr.trimEnd().split('\n')
  expect(lines).toHaveLength(2)
  expect(lines[0]).toMatch(/^converting: \d+ records, \d\.\d kB read$/)
})

test('is a bar on a terminal, which is removed at the end', async () => {
  await using directory = await temporaryDirectory()
  const file = await directory.file('many.ndjson', ndjson(Array.from({ length: 400 }, (_, at) => hookLine(at + 1))))
  const clock = new ManualClock(1_000_000)
  const stdout = new Sink().onWrite(() => void clock.advance(50))
  const stderr = new Sink({ isTTY: true, columns: 100 })
  await penstock(['convert', file], { clock, stdout, stderr })
  expect(stderr.text).toMatch(/\[K█+░+ +\d+% {2}converting: \d+ records, \d+ kB of \d+ kB read/)
  expect(stderr.text.endsWith('\r\u001b[K')).toBe(true)
})

test('is not shown on a terminal that shows the output', async () => {
  const clock = new ManualClock(1_000_000)
  const stderr = new Sink({ isTTY: true })
  const stdout = new Sink({ isTTY: true })
  await penstock(['convert', '-'], { clock, stdout, stderr, stdin: slowStdin(clock, 25, 1_000) })
  expect(stderr.text).toBe('')
})
