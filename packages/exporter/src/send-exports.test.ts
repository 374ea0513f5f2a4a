import type { ClaimedDelivery, Outcome } from '@penstock/delivery'
import type { EncodedChunk } from '@penstock/otlp'
import { ManualClock } from '@penstock/testkit'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type PlannedExport, type SendExportsOptions, sendExports } from './send-exports.ts'

const accepted: Outcome = { kind: 'delivered', rejectedItems: 0, message: '' }
const busy: Outcome = { kind: 'retry', retryAfterMs: 5_000, reason: 'HTTP 429' }
const malformed: Outcome = { kind: 'dead', reason: 'HTTP 400', authentication: false }
const unauthorized: Outcome = { kind: 'dead', reason: 'HTTP 401', authentication: true }

const delivery = (subject: string, progress = ''): ClaimedDelivery => ({
  id: 1,
  key: subject,
  lane: 'traces',
  subject,
  claim: 'c',
  enqueuedAtMs: 0,
  attemptsMade: 0,
  progress,
})
const chunk = (text: string, encoding: EncodedChunk['encoding'] = 'protobuf'): EncodedChunk => ({
  signal: 'traces',
  encoding,
  items: 1,
  body: Buffer.from(text),
})

/** A receiver that says of each body what `answer` says, and keeps what it has accepted. */
class Receiver {
  readonly asked: string[] = []
  readonly acceptedTexts: string[] = []
  readonly #answer: (text: string) => Outcome

  constructor(answer: (text: string) => Outcome = () => accepted) {
    this.#answer = answer
  }

  async tryChunk({ body }: EncodedChunk) {
    const text = Buffer.from(body).toString()
    this.asked.push(text)
    const outcome = this.#answer(text)
    if (outcome.kind === 'delivered') this.acceptedTexts.push(text)
    return { outcome, status: 200 }
  }
}

/** Subjects are texts that are sent as they are; '|' parts chunks. */
function setUp(endpoint: PlannedExport['endpoint'], change: Partial<SendExportsOptions> = {}) {
  const kept: string[] = []
  const clock = new ManualClock()
  const send = sendExports({
    plan: async (subject) => ({
      endpoint,
      chunks: subject === '' ? [] : subject.split('|').map((text) => chunk(text)),
    }),
    keepProgress: async (_, progress) => {
      kept.push(progress)
      return true
    },
    clock,
    budgetMs: 1_000,
    maxSharedBytes: 100,
    onTrouble: () => {},
    ...change,
  })
  return { send, kept, clock }
}
const never = new AbortController().signal

test('small exports of one endpoint share a request; each gets the answer', async () => {
  const receiver = new Receiver()
  const { send } = setUp(receiver)
  expect(await send([delivery('a'), delivery('b'), delivery('c')], never)).toEqual(
    Array.from({ length: 3 }, () => ({ outcome: accepted, progress: '' })),
  )
  expect(receiver.asked).toEqual(['abc'])
})

test('as many as the size allows, and never two endpoints', async () => {
  const [one, other] = [new Receiver(), new Receiver()]
  const { send } = setUp(one, {
    plan: async (subject) => ({ endpoint: subject.startsWith('x') ? other : one, chunks: [chunk(subject)] }),
    maxSharedBytes: 4,
  })
  await send(
    ['aa', 'x1', 'bb', 'c', 'x2', 'dddddd', 'e'].map((subject) => delivery(subject)),
    never,
  )
  expect([one.asked, other.asked]).toEqual([['aabb', 'c', 'dddddd', 'e'], ['x1x2']])
})

test('JSON goes alone', async () => {
  const receiver = new Receiver()
  const { send } = setUp(receiver, {
    plan: async (subject) => ({ endpoint: receiver, chunks: [chunk(subject, 'json')] }),
  })
  await send([delivery('a'), delivery('b')], never)
  expect(receiver.asked).toEqual(['a', 'b'])
})

test('one that is malformed is found by halving, and takes nobody with it', async () => {
  const receiver = new Receiver((text) => (text.includes('!') ? malformed : accepted))
  const { send } = setUp(receiver)
  const attempts = await send(
    ['a', 'b', '!', 'd', 'e'].map((subject) => delivery(subject)),
    never,
  )
  expect(attempts.map((attempt) => attempt?.outcome.kind)).toEqual([
    'delivered',
    'delivered',
    'dead',
    'delivered',
    'delivered',
  ])
  expect(receiver.asked).toEqual(['ab!de', 'ab!', 'ab', '!', 'de'])
})

test.each([
  { name: 'is busy', outcome: busy },
  { name: 'refuses the credential', outcome: unauthorized },
])('an endpoint that $name is asked no more in this batch; the rest was not sent', async ({ outcome }) => {
  const receiver = new Receiver(() => outcome)
  const { send } = setUp(receiver, { maxSharedBytes: 1 })
  expect(await send([delivery('a'), delivery('b'), delivery('c|d')], never)).toEqual([
    { outcome, progress: '' },
    undefined,
    undefined,
  ])
  expect(receiver.asked).toEqual(['a'])
})

test('a large export goes chunk by chunk; what was accepted is kept, and not sent again', async () => {
  let isDown = false
  const receiver = new Receiver((text) => {
    if (isDown) return busy
    isDown = text === 'b'
    return accepted
  })
  const { send, kept } = setUp(receiver)
  const [attempt] = await send([delivery('a|b|c|d')], never)
  expect(attempt).toEqual({ outcome: busy, progress: kept.at(-1) })
  isDown = false
  expect(await send([delivery('a|b|c|d', attempt!.progress)], never)).toEqual([{ outcome: accepted, progress: '' }])
  expect(receiver.acceptedTexts).toEqual(['a', 'b', 'c', 'd'])
})

test('a record that converts differently by now: only what is the same is left out', async () => {
  const receiver = new Receiver((text) => (text === 'c' ? busy : accepted))
  const { send } = setUp(receiver)
  const [attempt] = await send([delivery('a|b|c')], never)
  await send([delivery('a|B|d', attempt!.progress)], never)
  expect(receiver.acceptedTexts).toEqual(['a', 'b', 'B', 'd'])
})

test('a lost claim ends it at once', async () => {
  const receiver = new Receiver()
  const { send } = setUp(receiver, { keepProgress: async () => false })
  expect(await send([delivery('a|b|c')], never)).toEqual([undefined])
  expect(receiver.asked).toEqual(['a'])
})

test('rejected items of a shared request: nobody knows whose', async () => {
  const receiver = new Receiver(() => ({ kind: 'delivered', rejectedItems: 2, message: 'too old' }))
  const { send } = setUp(receiver)
  const [first] = await send([delivery('a'), delivery('b')], never)
  expect(first?.outcome).toMatchObject({ rejectedItems: 2, message: 'of 2 exports in one request: too old' })
  const [alone] = await send([delivery('a')], never)
  expect(alone?.outcome).toMatchObject({ rejectedItems: 2, message: 'too old' })
})

test('what can never be sent is dead, with the reason; what converts to nothing is done', async () => {
  const receiver = new Receiver()
  const { send } = setUp(receiver, {
    plan: async (subject) => (subject === 'gone' ? 'the record was removed' : { endpoint: receiver, chunks: [] }),
  })
  expect(await send([delivery('gone'), delivery('')], never)).toMatchObject([
    { outcome: { kind: 'dead', reason: 'the record was removed', authentication: false } },
    { outcome: { kind: 'delivered', rejectedItems: 0 } },
  ])
})

test('nothing is sent any more once the process ends or the time is over', async () => {
  const receiver = new Receiver()
  const { send, clock } = setUp(receiver, {
    maxSharedBytes: 1,
    onAttempt: () => void clock.advance(600),
  })
  expect(await send([delivery('a'), delivery('b'), delivery('c')], never)).toMatchObject([{}, {}, undefined])
  expect(await send([delivery('a')], AbortSignal.abort())).toEqual([undefined])
  expect(receiver.asked).toEqual(['a', 'b'])
})

test('until all are settled nothing is accepted twice, and all that is not refused is accepted', async () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', '!'), minLength: 1, maxLength: 3 })
  const subjects = fc.uniqueArray(
    fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join('|')),
    { maxLength: 8 },
  )
  const answers = fc.array(fc.constantFrom(accepted, busy), { maxLength: 20 })
  await fc.assert(
    fc.asyncProperty(subjects, answers, async (texts, script) => {
      const accounted = new Map<string, number>()
      const receiver = new Receiver((text) => {
        const outcome = script.shift() ?? accepted
        return outcome.kind === 'delivered' && text.includes('!') ? malformed : outcome
      })
      const { send } = setUp(receiver, {
        onAttempt: ({ outcome }, exports, sent) => {
          if (outcome.kind !== 'delivered') return
          for (const { key } of exports) {
            const which = `${key} ${exports.length === 1 ? Buffer.from(sent.body).toString() : 'small'}`
            accounted.set(which, (accounted.get(which) ?? 0) + 1)
          }
        },
      })
      let open = texts.map((text) => delivery(text))
      const dead = new Set<string>()
      while (open.length > 0) {
        const attempts = await send(open, never)
        open = open.flatMap((one, index) => {
          const attempt = attempts[index]
          if (attempt?.outcome.kind === 'dead') dead.add(one.key)
          return attempt === undefined || attempt.outcome.kind === 'retry'
            ? [{ ...one, progress: attempt?.progress ?? one.progress }]
            : []
        })
      }
      // Equal chunks of one record count as one: the receiver has them.
      for (const count of accounted.values()) expect(count).toBe(1)
      for (const text of texts) expect(dead.has(text)).toBe(text.includes('!'))
    }),
  )
})
