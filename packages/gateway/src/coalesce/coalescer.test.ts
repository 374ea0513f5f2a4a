import { gunzipSync, gzipSync } from 'node:zlib'
import { ManualClock } from '@penstock/testkit'
import { describe, expect, test } from 'vitest'
import type { Answer } from '../contract/answer.ts'
import { type CoalesceSettings, defaultCoalesceSettings } from '../contract/coalesce-settings.ts'
import type { ExportCall } from '../contract/export-call.ts'
import { MetricRegistry } from '../metrics/registry.ts'
import { Coalescer } from './coalescer.ts'
import {
  accepted,
  exportCall,
  ModelUpstream,
  type Pending,
  refusal,
  spanNames,
  token,
  traceBody,
} from './model-upstream.harness.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

function setUp(settings: Partial<CoalesceSettings> = {}, upstream = new ModelUpstream()) {
  const clock = new ManualClock(1_000_000)
  const metrics = new MetricRegistry()
  const coalescer = new Coalescer({
    settings: { ...defaultCoalesceSettings, ...settings },
    clock,
    random: () => 0.5,
    metrics,
  })
  const submit = (body: Uint8Array, call: ExportCall = exportCall()) => coalescer.submit(call, body, upstream)
  const start = (body: Uint8Array, call?: ExportCall) => {
    void submit(body, call)
  }
  /** Submits the bodies while a first one is in flight; the answer to the first releases them as one batch. */
  const joined = async (bodies: readonly Uint8Array[], calls: readonly ExportCall[] = []) => {
    const first = submit(traceBody(['first']))
    const answers = bodies.map((body, index) => submit(body, calls[index]))
    upstream.pending[0]!.answerByContent()
    await first
    await turn()
    return answers
  }
  const count = (name: string) =>
    metrics.report().cells.flatMap((cell) => (cell.name === name && cell.value > 0 ? [[cell.labels, cell.value]] : []))
  return { clock, metrics, coalescer, upstream, submit, start, joined, count }
}

const named = (count: number) => Array.from({ length: count }, (_, index) => traceBody([`s${index}`]))
const sent = (upstream: ModelUpstream) => upstream.requests.map((request) => upstream.read(request)?.length ?? -1)

async function drain(upstream: ModelUpstream, play: (pending: Pending) => void): Promise<void> {
  while (upstream.pending.length > 0) {
    for (const pending of upstream.pending) play(pending)
    await turn()
  }
}

describe('natural batching', () => {
  test('sends a body immediately and unchanged if the lane is idle', async () => {
    const { upstream, submit } = setUp()
    const body = gzipSync(traceBody(['a']))
    const answer = submit(body, exportCall({ contentEncoding: 'gzip', deadlineMs: 1_007_000 }))
    expect(upstream.requests).toMatchObject([
      { signal: 'traces', encoding: 'protobuf', contentEncoding: 'gzip', deadlineMs: 1_007_000 },
    ])
    expect(upstream.requests[0]?.body).toBe(body)
    upstream.pending[0]?.answerByContent()
    expect(await answer).toEqual(accepted)
  })

  test('collects bodies until an answer arrives, and sends them together', async () => {
    const { upstream, joined, metrics } = setUp()
    const answers = await joined(named(5))
    expect(sent(upstream)).toEqual([1, 5])
    expect(upstream.requests[1]).toMatchObject({
      contentEncoding: '',
      headers: ['user-agent', 'sdk/1'],
      contentLength: named(5).reduce((sum, body) => sum + body.length, 0),
    })
    upstream.pending[0]?.answerByContent()
    expect(await Promise.all(answers)).toEqual(Array(5).fill(accepted))
    const bodies = metrics.report().histograms.find(({ name }) => name === 'otelcol_ingestauth_coalesced_requests')
    expect(bodies).toMatchObject({ counts: [1, 0, 0, 1, 0, 0, 0, 0], sum: 6 })
  })

  test('collects bodies until the window ends', async () => {
    const { clock, upstream, coalescer, start } = setUp()
    start(traceBody(['first']))
    start(traceBody(['a']))
    await clock.advance(3)
    start(traceBody(['b']))
    await clock.advance(1)
    expect(sent(upstream)).toEqual([1])
    await clock.advance(1)
    expect(sent(upstream)).toEqual([1, 2])
    await drain(upstream, (pending) => pending.answerByContent())
    await coalescer.flush()
    expect(clock.wakeTimesMs).toEqual([])
  })

  test('collects bodies until there are enough bodies or bytes', async () => {
    const many = setUp({ maxBodies: 3 })
    many.start(traceBody(['first']))
    for (const body of named(7)) many.start(body)
    expect(sent(many.upstream)).toEqual([1, 3, 3])

    const [body] = named(1)
    const heavy = setUp({ maxBytes: body!.length * 2 })
    heavy.start(body!)
    for (const other of named(5)) heavy.start(other)
    expect(sent(heavy.upstream)).toEqual([1, 2, 2])
  })

  test('C-6: keeps batches below half of the body limit of upstream', async () => {
    const [body] = named(1)
    const { upstream, start } = setUp({}, new ModelUpstream(body!.length * 4))
    for (const other of named(6)) start(other)
    expect(sent(upstream)).toEqual([1, 2, 2])
  })

  test('flush sends the waiting bodies, and resolves when all are answered', async () => {
    const { coalescer, upstream, submit } = setUp()
    const answers = named(3).map((body) => submit(body))
    let isIdle = false
    const idle = coalescer.flush().then(() => (isIdle = true))
    expect(sent(upstream)).toEqual([1, 2])
    upstream.pending[0]?.answerByContent()
    await turn()
    expect(isIdle).toBe(false)
    upstream.pending[0]?.answerByContent()
    await Promise.all(answers)
    await idle
  })

  test('C-4: compresses joined bodies again if that is configured', async () => {
    const { upstream, joined } = setUp({ compression: 'gzip' })
    const answers = await joined(named(4))
    while (upstream.requests.length < 2) await turn()
    expect(upstream.requests[1]?.contentEncoding).toBe('gzip')
    expect(gunzipSync(upstream.requests[1]?.body as Uint8Array)).toEqual(Buffer.concat(named(4)))
    upstream.pending[0]?.answerByContent()
    expect(await Promise.all(answers)).toEqual(Array(4).fill(accepted))
  })

  test('C-3: joins small gzip bodies uncompressed', async () => {
    const { upstream, joined } = setUp()
    const call = () => exportCall({ contentEncoding: 'gzip' })
    await joined([gzipSync(traceBody(['a'])), gzipSync(traceBody(['b']))], [call(), call()])
    expect(upstream.requests[1]?.contentEncoding).toBe('')
    expect(spanNames(upstream.requests[1]?.body as Uint8Array)).toEqual(['a', 'b'])
  })

  test('C-3: forwards a gzip body alone and unchanged if inflating it costs more than its own request', async () => {
    const { coalescer, upstream, joined } = setUp()
    const names = Array.from({ length: 2_000 }, (_, index) => `${(index * 7919) % 100_003}`)
    const large = gzipSync(traceBody(names))
    const dense = gzipSync(traceBody(Array.from({ length: 2_000 }, () => 'the same')))
    const gzip = exportCall({ contentEncoding: 'gzip' })
    expect([large, dense].map((body) => coalescer.accepts(gzip, body.length))).toEqual([false, true])
    await joined([traceBody(['a']), large, dense, traceBody(['b'])], [exportCall(), gzip, { ...gzip }])
    expect(upstream.requests.slice(1).map(({ body, contentEncoding }) => [body, contentEncoding])).toEqual([
      [large, 'gzip'],
      [dense, 'gzip'],
      [Buffer.concat([traceBody(['a']), traceBody(['b'])]), ''],
    ])
  })
})

describe('C-1: never joins', () => {
  test.each<[string, Partial<Parameters<typeof exportCall>[0]>]>([
    ['two tokens', { owner: token('b') }],
    ['two tenants', { owner: token('a', 'x') }],
    ['two signals', { signal: 'logs' }],
    ['two protocols', { transport: 'grpc' }],
    ['two sets of headers', { headers: ['user-agent', 'sdk/2'] }],
    ['different numbers of headers', { headers: ['user-agent', 'sdk/1', 'x-a', ''] }],
  ])('%s', async (_, changes) => {
    const { upstream, joined } = setUp()
    await joined(
      [traceBody(['a1']), traceBody(['a2']), traceBody(['b1'])],
      [exportCall(), exportCall(), exportCall(changes)],
    )
    expect(upstream.requests.map((request) => upstream.read(request))).toEqual([['first'], ['b1'], ['a1', 'a2']])
  })

  test.each<[string, Partial<ExportCall>]>([
    ['JSON', { encoding: 'json' }],
    ['profiles', { signal: 'profiles' }],
    ['an unsupported content encoding', { contentEncoding: 'zstd' }],
    ['no token', { admitted: { ...exportCall().admitted, token: undefined, auth: 'off' } }],
  ])('%s: does not accept the body, and sends it alone if submitted', async (_, changes) => {
    const { coalescer, upstream, joined } = setUp()
    expect(coalescer.accepts(exportCall(), 10)).toBe(true)
    expect(coalescer.accepts(exportCall(changes), 10)).toBe(false)
    await joined(named(3), [exportCall(), exportCall(), exportCall(changes)])
    expect(upstream.requests.map((request) => upstream.read(request))).toEqual([['first'], ['s2'], ['s0', 's1']])
  })

  test('does not accept bodies longer than 16 KiB', async () => {
    const { coalescer } = setUp()
    expect([16 * 1024, 16 * 1024 + 1].map((bytes) => coalescer.accepts(exportCall(), bytes))).toEqual([true, false])
  })

  test('bodies for two upstreams', async () => {
    const { coalescer, upstream, start } = setUp()
    const other = new ModelUpstream()
    start(traceBody(['a']))
    void coalescer.submit(exportCall(), traceBody(['b']), other)
    expect([sent(upstream), sent(other)]).toEqual([[1], [1]])
  })

  test('sends a body with an unknown top-level field alone and unchanged', async () => {
    const { upstream, joined } = setUp()
    const strange = Buffer.concat([traceBody(['x']), Uint8Array.of(0x12, 0x00)])
    await joined([traceBody(['a']), strange, traceBody(['b'])])
    expect(upstream.requests.map((request) => upstream.read(request))).toEqual([['first'], ['x'], ['a', 'b']])
    expect(upstream.requests[1]?.body).toBe(strange)
  })
})

describe('joining cannot be abused', () => {
  const victim = traceBody(['victim'])

  test('a record that claims the next body: simple concatenation would swallow it', async () => {
    const thief = Uint8Array.of(0x0a, victim.length)
    expect(spanNames(Buffer.concat([thief, victim]))).not.toContain('victim')
    const { upstream, joined } = setUp()
    const answers = await joined([thief, victim])
    await drain(upstream, (pending) => pending.answerByContent())
    expect(await Promise.all(answers)).toEqual([refusal('rejected', 400), accepted])
    expect(upstream.accepted).toEqual(['first', 'victim'])
  })

  test('a group opened before and closed after a body: simple concatenation would hide it', async () => {
    const start = Uint8Array.of(0x13)
    const end = Uint8Array.of(0x14)
    expect(spanNames(Buffer.concat([start, victim, end]))).toEqual([])
    const { upstream, joined } = setUp()
    const answers = await joined([start, victim, end])
    await drain(upstream, (pending) => pending.answerByContent())
    expect(await Promise.all(answers)).toEqual([refusal('rejected', 400), accepted, refusal('rejected', 400)])
    expect(upstream.accepted).toEqual(['first', 'victim'])
  })

  test('zero bytes after a gzip member: simple concatenation would drop what follows', async () => {
    const padded = Buffer.concat([gzipSync(traceBody(['padded'])), Buffer.alloc(4)])
    const packed = gzipSync(victim)
    expect(spanNames(gunzipSync(Buffer.concat([padded, packed])))).toEqual(['padded'])
    const { upstream, joined } = setUp()
    const gzip = () => exportCall({ contentEncoding: 'gzip' })
    const answers = await joined([padded, packed], [gzip(), gzip()])
    await drain(upstream, (pending) => pending.answerByContent())
    expect(await Promise.all(answers)).toEqual([accepted, accepted])
    expect(upstream.accepted.toSorted()).toEqual(['first', 'padded', 'victim'])
  })
})

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

describe('C-7: each body has its own deadline', () => {
  test('answers a member with 504 when its deadline passes, and keeps the others', async () => {
    const { clock, upstream, joined } = setUp()
    const calls = [exportCall({ deadlineMs: 1_002_000 }), exportCall(), exportCall({ deadlineMs: 1_003_000 })]
    const answers = await joined(named(3), calls)
    expect(upstream.requests[1]?.deadlineMs).toBe(1_030_000)
    await clock.advance(2_000)
    expect(await answers[0]).toMatchObject({ cause: 'unknown', httpStatus: 504, grpcCode: 4 })
    await clock.advance(1_000)
    expect(await answers[2]).toMatchObject({ httpStatus: 504 })
    upstream.pending[0]?.answerByContent()
    expect(await answers[1]).toEqual(accepted)
    expect(upstream.aborted).toBe(0)
  })

  test('X-5: drops members without a client, and aborts the request when none is left', async () => {
    const { upstream, joined } = setUp()
    const calls = [exportCall(), exportCall(), exportCall()]
    const answers = await joined(named(3), calls)
    calls[0]?.onClientGone?.()
    expect(upstream.aborted).toBe(0)
    upstream.pending[0]?.answer(refusal('rejected', 400))
    await turn()
    expect(upstream.requests.slice(2).map((request) => upstream.read(request))).toEqual([['s1'], ['s2']])
    calls[1]?.onClientGone?.()
    expect(upstream.aborted).toBe(1)
    await drain(upstream, (pending) => pending.answerByContent())
    expect(await answers[2]).toEqual(accepted)
    await Promise.all(answers)
  })

  test('X-5: does not send a waiting body after its client has gone', async () => {
    const { upstream, start } = setUp()
    start(traceBody(['first']))
    const call = exportCall()
    start(traceBody(['gone']), call)
    start(traceBody(['here']))
    call.onClientGone?.()
    await drain(upstream, (pending) => pending.answerByContent())
    expect(upstream.accepted).toEqual(['first', 'here'])
  })

  test('X-2, C-7: answers no client before upstream has answered', async () => {
    const { upstream, submit } = setUp({ maxBodies: 2 })
    let answered = 0
    const answers = named(9).map((body) => submit(body).then(() => (answered += 1)))
    await turn()
    expect(answered).toBe(0)
    upstream.pending[0]?.answerByContent()
    await turn()
    expect(answered).toBe(1)
    await drain(upstream, (pending) => pending.answerByContent())
    await Promise.all(answers)
  })
})
