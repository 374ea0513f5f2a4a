import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { drain, named, sent, setUp, turn } from './coalescer.harness.ts'
import { accepted, exportCall, ModelUpstream, refusal, spanNames, traceBody } from './model-upstream.harness.ts'

describe('natural batching', () => {
  test('sends a body immediately and unchanged if the lane is idle', async () => {
    const { upstream, submit } = setUp()
    const body = gzipSync(traceBody(['a']))
    const answer = submit(body, exportCall({ contentEncoding: 'gzip', deadlineMs: 12_000 }))
    expect(upstream.requests).toMatchObject([
      { signal: 'traces', encoding: 'protobuf', contentEncoding: 'gzip', deadlineMs: 12_000 },
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

  test('waits for the senders of an accepted batch, until all have sent again', async () => {
    const { upstream, joined, start } = setUp()
    await joined(named(6))
    upstream.pending[0]?.answerByContent()
    await turn()
    expect(sent(upstream)).toEqual([1, 6])
    for (const body of named(5)) start(body)
    expect(sent(upstream)).toEqual([1, 6])
    for (const body of named(2)) start(body)
    expect(sent(upstream)).toEqual([1, 6, 6])
  })

  test('counts the bodies that wait when a batch is accepted', async () => {
    const { upstream, joined, start } = setUp()
    await joined(named(4))
    for (const body of named(3)) start(body)
    upstream.pending[0]?.answerByContent()
    await turn()
    for (const body of named(3)) start(body)
    expect(sent(upstream)).toEqual([1, 4])
    start(traceBody(['last']))
    expect(sent(upstream)).toEqual([1, 4, 7])
  })

  test('waits two milliseconds at most for the senders of a batch', async () => {
    const { clock, upstream, joined, start } = setUp()
    await joined(named(4))
    start(traceBody(['waits for the answer']))
    upstream.pending[0]?.answerByContent()
    await turn()
    await clock.advance(1)
    start(traceBody(['waits with it']))
    expect(sent(upstream)).toEqual([1, 4])
    await clock.advance(1)
    expect(sent(upstream)).toEqual([1, 4, 2])
    await drain(upstream, (pending) => pending.answerByContent())
    start(traceBody(['late']))
    expect(sent(upstream)).toEqual([1, 4, 2, 1])
  })

  test('does not wait after a batch of three, or one that was refused', async () => {
    const few = setUp()
    await few.joined(named(3))
    few.upstream.pending[0]?.answerByContent()
    await turn()
    few.start(traceBody(['next']))
    expect(sent(few.upstream)).toEqual([1, 3, 1])

    const refused = setUp()
    await refused.joined(named(4))
    refused.upstream.pending[0]?.answer(refusal('unknown', 502))
    await turn()
    refused.start(traceBody(['next']))
    expect(sent(refused.upstream)).toEqual([1, 4, 1])
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

describe('C-7: each body has its own deadline', () => {
  test('answers a member with 504 when its deadline passes, and keeps the others', async () => {
    const { clock, upstream, joined } = setUp()
    const calls = [exportCall({ deadlineMs: 7_000 }), exportCall(), exportCall({ deadlineMs: 8_000 })]
    const answers = await joined(named(3), calls)
    expect(upstream.requests[1]?.deadlineMs).toBe(35_000)
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
