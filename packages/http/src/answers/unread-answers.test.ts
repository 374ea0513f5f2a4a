import { expect, test } from 'vitest'
import { TooManyAnswers } from './build-queue.ts'
import { UnreadAnswers } from './unread-answers.ts'

function answers() {
  let now = 0
  const abandoned: string[] = []
  const unread = new UnreadAnswers({ maxBytes: 100, maxBytesPerAddress: 40, stalledMs: 1_000, nowMs: () => now })
  return {
    abandoned,
    hold: (name: string, bytes: number) =>
      unread.hold(name[0]!, bytes, { abandon: () => abandoned.push(name), mustSend: false }),
    mustHold: (name: string, bytes: number) =>
      unread.hold(name[0]!, bytes, { abandon: () => abandoned.push(name), mustSend: true }),
    wait: (ms: number) => {
      now += ms
    },
  }
}

test('an address with too many unread bytes is refused while its answers make progress', () => {
  const { hold, wait, abandoned } = answers()
  const [first] = [hold('a1', 20), hold('a2', 20)]
  expect(() => hold('a3', 10)).toThrow(TooManyAnswers)
  wait(999)
  first.sent(5)
  expect(() => hold('a3', 10)).toThrow(TooManyAnswers)
  first.sent(5)
  hold('a3', 10)
  expect(abandoned).toEqual([])
})

test('the answer of the address that waits longest without progress gives way', () => {
  const { hold, wait, abandoned } = answers()
  const [first] = [hold('a1', 20), hold('a2', 20)]
  wait(600)
  first.sent(1)
  wait(400)
  hold('a3', 10)
  expect(abandoned).toEqual(['a2'])
})

test('when all answers together have too many bytes, one of the address with most gives way', () => {
  const { hold, abandoned } = answers()
  for (const name of ['a1', 'b1', 'c1']) hold(name, 20)
  hold('a2', 20)
  hold('d1', 20)
  hold('d2', 15)
  hold('e1', 10)
  expect(abandoned).toEqual(['a1', 'd1'])
})

test('a released answer does not count, and a single answer may be larger than the limit of an address', () => {
  const { hold, abandoned } = answers()
  const large = hold('a1', 60)
  expect(() => hold('a2', 1)).toThrow(TooManyAnswers)
  large.release()
  large.release()
  hold('a2', 40)
  expect(abandoned).toEqual([])
})

test('an answer that must be sent is never refused; the oldest of its address gives way', () => {
  const { hold, mustHold, abandoned } = answers()
  hold('a1', 20)
  hold('a2', 20)
  mustHold('a3', 10)
  expect(abandoned).toEqual(['a1'])
})
