import { createHash } from 'node:crypto'
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
  abandoned: 0,
  progress,
})
const chunk = (text: string, encoding: EncodedChunk['encoding'] = 'protobuf'): EncodedChunk => ({
  signal: 'traces',
  encoding,
  items: 1,
  body: Buffer.from(text),
})

/** A receiver that returns the outcome of `answer` for each body, and keeps the accepted bodies. */
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

/** Subjects are texts that are sent unchanged; '|' separates chunks. */
function setUp(endpoint: PlannedExport['endpoint'], change: Partial<SendExportsOptions> = {}) {
  const kept: string[] = []
  const clock = new ManualClock()
  const send = sendExports({
    plan: async (subject) => ({
      endpoint,
      chunks: subject === '' ? [] : subject.split('|').map((text) => chunk(text)),
    }),
    saveProgress: async (_, progress) => {
      kept.push(progress)
      return true
    },
    clock,
    budgetMs: 1_000,
    maxSharedBytes: 100,
    onError: () => {},
    ...change,
  })
  return { send, kept, clock }
}
const never = new AbortController().signal

test('small exports to one endpoint share a request, and each gets its outcome', async () => {
  const receiver = new Receiver()
  const { send } = setUp(receiver)
  expect(await send([delivery('a'), delivery('b'), delivery('c')], never)).toEqual(
    Array.from({ length: 3 }, () => ({ outcome: accepted, progress: '' })),
  )
  expect(receiver.asked).toEqual(['abc'])
})

test('limits shared requests by size, and to one endpoint', async () => {
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

test('sends JSON exports separately', async () => {
  const receiver = new Receiver()
  const { send } = setUp(receiver, {
    plan: async (subject) => ({ endpoint: receiver, chunks: [chunk(subject, 'json')] }),
  })
  await send([delivery('a'), delivery('b')], never)
  expect(receiver.asked).toEqual(['a', 'b'])
})

test('finds a malformed export by halving, and delivers the others', async () => {
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
])('sends nothing more in this batch to an endpoint that $name', async ({ outcome }) => {
  const receiver = new Receiver(() => outcome)
  const { send } = setUp(receiver, { maxSharedBytes: 1 })
  expect(await send([delivery('a'), delivery('b'), delivery('c|d')], never)).toEqual([
    { outcome, progress: '' },
    undefined,
    undefined,
  ])
  expect(receiver.asked).toEqual(['a'])
})

test('sends a large export chunk by chunk, and does not send accepted chunks again', async () => {
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

test('completes a large export without a request if every chunk was accepted, and marks the outcome as local', async () => {
  const receiver = new Receiver()
  const { send, kept } = setUp(receiver)
  await send([delivery('a|b')], never)
  const [attempt] = await send([delivery('a|b', kept.at(-1))], never)
  expect(attempt?.outcome).toEqual({ ...accepted, isLocal: true })
  expect(receiver.asked).toEqual(['a', 'b'])
})

test('does not halve a request that was refused locally', async () => {
  const blocked: Outcome = { ...malformed, isLocal: true }
  const receiver = new Receiver(() => blocked)
  const { send } = setUp(receiver)
  const attempts = await send([delivery('a'), delivery('b')], never)
  expect(attempts.map((attempt) => attempt?.outcome)).toEqual([blocked, blocked])
  expect(receiver.asked).toEqual(['ab'])
})

test('skips only equal chunks if a record is converted differently by now', async () => {
  const receiver = new Receiver((text) => (text === 'c' ? busy : accepted))
  const { send } = setUp(receiver)
  const [attempt] = await send([delivery('a|b|c')], never)
  await send([delivery('a|B|d', attempt!.progress)], never)
  expect(receiver.acceptedTexts).toEqual(['a', 'b', 'B', 'd'])
})

test('stops when the claim is lost', async () => {
  const receiver = new Receiver()
  const { send } = setUp(receiver, { saveProgress: async () => false })
  expect(await send([delivery('a|b|c')], never)).toEqual([undefined])
  expect(receiver.asked).toEqual(['a'])
})

test('says that rejected items of a shared request belong to any of its exports', async () => {
  const receiver = new Receiver(() => ({ kind: 'delivered', rejectedItems: 2, message: 'too old' }))
  const { send } = setUp(receiver)
  const [first] = await send([delivery('a'), delivery('b')], never)
  expect(first?.outcome).toMatchObject({ rejectedItems: 2, message: 'of 2 exports in one request: too old' })
  const [alone] = await send([delivery('a')], never)
  expect(alone?.outcome).toMatchObject({ rejectedItems: 2, message: 'too old' })
})

test('an export that cannot be sent is dead, with the reason; an empty one is delivered', async () => {
  const receiver = new Receiver()
  const { send } = setUp(receiver, {
    plan: async (subject) => (subject === 'gone' ? 'the record was removed' : { endpoint: receiver, chunks: [] }),
  })
  expect(await send([delivery('gone'), delivery('')], never)).toMatchObject([
    { outcome: { kind: 'dead', reason: 'the record was removed', authentication: false, isLocal: true } },
    { outcome: { kind: 'delivered', rejectedItems: 0, isLocal: true } },
  ])
})

test('sends nothing more when the process ends or the time is over', async () => {
  const receiver = new Receiver()
  const { send, clock } = setUp(receiver, {
    maxSharedBytes: 1,
    onAttempt: () => void clock.advance(600),
  })
  expect(await send([delivery('a'), delivery('b'), delivery('c')], never)).toMatchObject([{}, {}, undefined])
  expect(await send([delivery('a')], AbortSignal.abort())).toEqual([undefined])
  expect(receiver.asked).toEqual(['a', 'b'])
})

test('delivers every export that is not refused, and no chunk twice', async () => {
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
      // Equal chunks of one record are counted as one, because the receiver has it already.
      for (const count of accounted.values()) expect(count).toBe(1)
      for (const text of texts) expect(dead.has(text)).toBe(text.includes('!'))
    }),
  )
})

test('sends a small export before the large ones after it', async () => {
  const receiver = new Receiver()
  const { send, clock } = setUp(receiver, { onAttempt: () => void clock.advance(600) })
  expect(await send([delivery('a'), delivery('b|c|d')], never)).toMatchObject([{ outcome: accepted }, undefined])
  expect(receiver.asked).toEqual(['a', 'b'])
})

test.each([
  {
    name: 'a conversion that fails',
    change: {},
    breaksAt: 2,
  },
  {
    name: 'progress that cannot be stored',
    change: {
      saveProgress: async () => {
        throw new Error('the database is away')
      },
    },
    breaksAt: Number.POSITIVE_INFINITY,
  },
])('$name does not affect others, and accepted chunks are not sent again', async ({ change, breaksAt }) => {
  const receiver = new Receiver()
  const errors: unknown[] = []
  const { send } = setUp(receiver, {
    plan: async (subject) => ({
      endpoint: receiver,
      chunks: {
        *[Symbol.iterator]() {
          for (const [index, text] of subject.split('|').entries()) {
            if (index === breaksAt) throw new Error('a bug')
            yield chunk(text)
          }
        },
      },
    }),
    onError: (error) => errors.push(error),
    ...change,
  })
  const [small, large, behind] = await send([delivery('a'), delivery('b|c|d'), delivery('e')], never)
  expect([small?.outcome, behind?.outcome]).toEqual([accepted, accepted])
  expect(large?.outcome).toEqual({ kind: 'retry', retryAfterMs: 0, reason: 'internal error', isLocal: true })
  expect(errors).toHaveLength(1)
  await send([delivery('b|c|d', large!.progress)], never)
  expect(receiver.acceptedTexts.toSorted()).toEqual([...new Set(receiver.acceptedTexts)].toSorted())
})

test('an error in a request does not change earlier outcomes', async () => {
  const receiver = new Receiver((text) => {
    if (text === 'b') throw new Error('a bug')
    return accepted
  })
  const { send } = setUp(receiver, { maxSharedBytes: 1 })
  expect(await send([delivery('a'), delivery('b'), delivery('c')], never)).toMatchObject([
    { outcome: accepted },
    { outcome: { kind: 'retry', reason: 'internal error', isLocal: true } },
    { outcome: accepted },
  ])
})

test('counts an attempt if the time runs out while halving, so that halving ends eventually', async () => {
  const receiver = new Receiver(() => malformed)
  const { send, clock } = setUp(receiver, { onAttempt: () => void clock.advance(600) })
  const attempts = await send(
    ['a', 'b', 'c', 'd'].map((subject) => delivery(subject)),
    never,
  )
  expect(receiver.asked).toEqual(['abcd', 'ab'])
  for (const attempt of attempts) expect(attempt?.outcome).toEqual({ ...malformedLater, reason: 'HTTP 400' })
})
const malformedLater = { kind: 'retry', retryAfterMs: 0 }

test('lets other work run while chunks are skipped', async () => {
  const receiver = new Receiver()
  const { send } = setUp(receiver)
  const texts = Array.from({ length: 50 }, (_, index) => `${index}`)
  const digests = texts.slice(1).map((text) => createHash('sha256').update(text).digest('base64url').slice(0, 22))
  const ticks = countTicks()
  await send([delivery(texts.join('|'), digests.join(' '))], never)
  expect(receiver.asked).toEqual(['0'])
  expect(ticks()).toBeGreaterThanOrEqual(49)
})

/** Returns the number of turns of the event loop since the call. */
function countTicks(): () => number {
  let ticks = 0
  let isOver = false
  const tick = () => {
    ticks += 1
    if (!isOver) setImmediate(tick)
  }
  setImmediate(tick)
  return () => {
    isOver = true
    return ticks
  }
}
