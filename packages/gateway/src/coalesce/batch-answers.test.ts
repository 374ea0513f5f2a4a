import { describe, expect, test } from 'vitest'
import type { Answer } from '../contract/answer.ts'
import { drain, named, sent, setUp, turn } from './coalescer.harness.ts'
import {
  accepted,
  exportCall,
  ModelUpstream,
  type Pending,
  refusal,
  token,
  traceBody,
} from './model-upstream.harness.ts'

describe('C-7: answers to a batch', () => {
  test('answers one bad body among 64 with its own refusal, and accepts the others', async () => {
    const { upstream, joined, count } = setUp()
    const poison = Buffer.from('0a03120500', 'hex')
    const bodies = named(64)
    bodies[37] = poison
    const answers = await joined(bodies)
    const verbatim = { ...refusal('rejected', 400), message: 'record 0 is cut short' }
    const answer = (pending: Pending) => {
      if (pending.request.body === poison) pending.answer(verbatim)
      else pending.answerByContent()
    }
    await drain(upstream, answer)
    const expected: Answer[] = Array(64).fill(accepted)
    expected[37] = verbatim
    expect(await Promise.all(answers)).toEqual(expected)
    expect(upstream.accepted.length).toBe(64)
    expect(new Set(upstream.accepted).size).toBe(64)
    // The first body, the batch, and two halves on each of six levels.
    expect(upstream.requests.length).toBe(1 + 1 + 12)
    expect(count('otelcol_ingestauth_coalesce_splits')).toEqual([[{ cause: 'rejected' }, 6]])
    expect(count('otelcol_ingestauth_coalesce_duplicates_possible')).toEqual([])
  })

  test('sends at most 2n-1 requests if all n bodies are bad', async () => {
    const { upstream, joined } = setUp()
    const answers = await joined(Array(8).fill(Buffer.from('0a03120500', 'hex')))
    await drain(upstream, (pending) => pending.answerByContent())
    expect(await Promise.all(answers)).toEqual(Array(8).fill(refusal('rejected', 400)))
    expect(upstream.requests.length).toBe(1 + 15)
  })

  test('O-12: after 500 sends the batch again in halves, and counts possible duplicates', async () => {
    const { upstream, joined, count } = setUp()
    const answers = await joined(named(2))
    upstream.pending[0]?.answer(refusal('rejected', 500))
    await turn()
    await drain(upstream, (pending) => pending.answerByContent())
    expect(await Promise.all(answers)).toEqual([accepted, accepted])
    expect(count('otelcol_ingestauth_coalesce_duplicates_possible')).toEqual([[{}, 2]])
  })

  test('413: sends the batch again in halves, and lowers the batch limit', async () => {
    const { clock, upstream, joined, start } = setUp()
    const answers = await joined(named(8))
    upstream.pending[0]?.answer(refusal('too_large', 413))
    await turn()
    await drain(upstream, (pending) => pending.answerByContent())
    expect(await Promise.all(answers)).toEqual(Array(8).fill(accepted))
    expect(sent(upstream)).toEqual([1, 8, 4, 4])
    await clock.advance(2)
    for (const body of named(9)) start(body)
    await drain(upstream, (pending) => pending.answerByContent())
    expect(sent(upstream).slice(4)).toEqual([1, 4, 4])
    await clock.advance(600_000)
    for (const body of named(9)) start(body)
    await drain(upstream, (pending) => pending.answerByContent())
    expect(sent(upstream).slice(7)).toEqual([1, 8])
  })

  test('throttled: sends nothing again, and refuses bodies of the lane for the stated time', async () => {
    const { clock, upstream, submit, joined } = setUp()
    const answers = await joined(named(3))
    const waiting = submit(traceBody(['waiting']))
    upstream.pending[0]?.answer(refusal('throttled', 429, 7))
    expect(await Promise.all(answers)).toEqual(Array(3).fill(refusal('throttled', 429, 8)))
    const closed = { cause: 'throttled', httpStatus: 503, grpcCode: 14, retryAfter: 7 }
    expect(await waiting).toMatchObject(closed)
    await clock.advance(6_500)
    expect(await submit(traceBody(['a']))).toMatchObject({ ...closed, retryAfter: 1 })
    expect(upstream.requests.length).toBe(2)
    const other = submit(traceBody(['b']), exportCall({ owner: token('b') }))
    await clock.advance(500)
    const again = submit(traceBody(['c']))
    expect(upstream.requests.length).toBe(4)
    await drain(upstream, (pending) => pending.answerByContent())
    expect(await Promise.all([other, again])).toEqual([accepted, accepted])
  })

  test.each([refusal('unknown', 502), refusal('unknown', 504), refusal('credential', 503, 3)])(
    '$httpStatus $cause: answers all bodies alike, and sends nothing again',
    async (answer) => {
      const { upstream, joined } = setUp()
      const answers = await joined(named(3))
      upstream.pending[0]?.answer(answer)
      expect(await Promise.all(answers)).toEqual(Array(3).fill(answer))
      expect(upstream.requests.length).toBe(2)
    },
  )

  test('passes a warning to all bodies', async () => {
    const { upstream, joined } = setUp()
    const answers = await joined(named(2))
    const partialSuccess = { rejected: 0n, message: 'old SDK' }
    upstream.pending[0]?.answer({ kind: 'accepted', partialSuccess, body: undefined })
    expect(await Promise.all(answers)).toEqual(Array(2).fill({ kind: 'accepted', partialSuccess, body: undefined }))
  })

  test('some items rejected: gives each body its share, and sends bodies alone for a minute', async () => {
    const { clock, upstream, submit, joined, start } = setUp()
    const answers = await joined([traceBody(['a', 'b', 'c']), traceBody(['d'])])
    const waiting = [submit(traceBody(['w1'])), submit(traceBody(['w2']))]
    upstream.pending[0]?.answer({
      kind: 'accepted',
      partialSuccess: { rejected: 3n, message: 'too old' },
      body: { encoding: 'protobuf', bytes: Uint8Array.of(1) },
    })
    const part = (rejected: bigint) => ({
      kind: 'accepted',
      partialSuccess: { rejected, message: 'estimated, coalesced: too old' },
      body: undefined,
    })
    expect(await Promise.all(answers)).toEqual([part(2n), part(1n)])
    await turn()
    expect(sent(upstream)).toEqual([1, 4, 1, 1])
    await clock.advance(59_999)
    start(traceBody(['x']))
    start(traceBody(['y']))
    expect(sent(upstream).slice(4)).toEqual([1, 1])
    await drain(upstream, (pending) => pending.answerByContent())
    expect(await Promise.all(waiting)).toEqual([accepted, accepted])
    await clock.advance(1)
    for (const body of named(3)) start(body)
    await drain(upstream, (pending) => pending.answerByContent())
    expect(sent(upstream).slice(6)).toEqual([1, 2])
  })

  test('answers with a retryable error if the upstream throws', async () => {
    const { coalescer } = setUp()
    const broken = Object.assign(new ModelUpstream(), { send: () => Promise.reject(new Error('bug')) })
    expect(await coalescer.submit(exportCall(), traceBody(['a']), broken)).toMatchObject({
      kind: 'refused',
      cause: 'unknown',
      httpStatus: 503,
      retryAfter: 3,
    })
  })
})
