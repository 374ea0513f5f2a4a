import { HttpClient } from '@penstock/delivery'
import { type EncodedChunk, type Signal, signalNames } from '@penstock/otlp'
import { Gate, ManualClock, type RecordedRequest, type ScriptedReply, ScriptedServer } from '@penstock/testkit'
import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { type DeliverAllOptions, deliverAll } from './deliver-all.ts'
import { DeliveryStops } from './delivery-stops.ts'
import { type ChunkDelivery, OtlpEndpoint } from './otlp-endpoint.ts'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function setUp(replyTo: (request: RecordedRequest, index: number) => ScriptedReply) {
  const server = await ScriptedServer.start(replyTo)
  const client = new HttpClient()
  cleanups.push(
    () => server.close(),
    () => client.close(),
  )
  const clock = new ManualClock()
  const endpoint = new OtlpEndpoint({ url: server.url, version: '0', client, clock, random: () => 0.5 })
  return { server, clock, endpoint }
}

const chunkOf = (signal: Signal, items = 10): EncodedChunk => ({
  signal,
  encoding: 'json',
  items,
  body: Buffer.from(`${signal} ${items}`),
})
const chunksOf = (signal: Signal, count: number) => Array.from({ length: count }, () => chunkOf(signal))

const accepted: ScriptedReply = { play: 'reply', status: 200 }
const status = (status: number): ScriptedReply => ({ play: 'reply', status })
const refusing = (path: string, refusal: ScriptedReply) => (request: RecordedRequest) =>
  request.path === path ? refusal : accepted

test('reports complete if everything is accepted', async () => {
  const { server, endpoint } = await setUp(() => accepted)
  const settled: string[] = []
  const report = await deliverAll(endpoint, [chunkOf('traces', 3), chunkOf('traces', 4), chunkOf('logs', 5)], {
    onSettled: (chunk, { outcome }) => settled.push(`${chunk.signal} ${outcome.kind}`),
  })
  expect(report).toMatchObject({ complete: true, stopped: undefined })
  expect(report.totals.traces).toEqual({
    chunks: 2,
    items: 7,
    deliveredItems: 7,
    rejectedItems: 0,
    failedItems: 0,
    skippedItems: 0,
    attempts: 2,
    wireBytes: 16,
    messages: new Map(),
  })
  expect(report.totals.metrics).toMatchObject({ chunks: 0, items: 0 })
  expect(report.totals.logs).toMatchObject({ chunks: 1, deliveredItems: 5 })
  expect(settled.toSorted()).toEqual(['logs delivered', 'traces delivered', 'traces delivered'])
  expect(server.requests.length).toBe(3)
})

test('reports complete if there is nothing to deliver', async () => {
  const { endpoint } = await setUp(() => accepted)
  expect(await deliverAll(endpoint, [])).toMatchObject({ complete: true, stopped: undefined })
})

test('counts and explains a partial success', async () => {
  const headers = { 'content-type': 'application/json' }
  const body = '{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}}'
  const { endpoint } = await setUp(() => ({ play: 'reply', status: 200, headers, body }))
  const { totals, complete } = await deliverAll(endpoint, chunksOf('traces', 3))
  expect(complete).toBe(false)
  expect(totals.traces).toMatchObject({
    deliveredItems: 30,
    rejectedItems: 6,
    messages: new Map([['too old', 3]]),
  })
})

test('limits chunks in progress, and asks the source only when there is room', async () => {
  const gates = Array.from({ length: 5 }, () => new Gate())
  const { server, endpoint } = await setUp(
    (_, index) => ({ ...accepted, after: gates[index]!.opened }) as ScriptedReply,
  )
  let produced = 0
  async function* source() {
    for (; produced < 5; ) {
      produced += 1
      yield chunkOf('traces')
    }
  }
  const delivering = deliverAll(endpoint, source(), { concurrency: 2 })
  await server.received(2)
  expect(produced).toBe(2)
  gates[0]!.open()
  await server.received(3)
  expect(produced).toBe(3)
  for (const gate of gates) gate.open()
  expect(await delivering).toMatchObject({ complete: true })
})

test('a failed signal does not affect the others', async () => {
  const { endpoint } = await setUp(refusing('/v1/traces', status(400)))
  const { totals, complete, stopped } = await deliverAll(endpoint, [...chunksOf('traces', 2), ...chunksOf('logs', 2)])
  expect(totals.traces).toMatchObject({ failedItems: 20, messages: new Map([['HTTP 400 Bad Request', 2]]) })
  expect(totals.logs).toMatchObject({ deliveredItems: 20 })
  expect({ complete, stopped }).toEqual({ complete: false, stopped: undefined })
})

test('a 401 ends the run: waiting chunks are dropped and the source is closed', async () => {
  const { server, clock, endpoint } = await setUp(refusing('/v1/logs', status(401)))
  const unavailable = await setUp(() => status(503))
  let left = false
  async function* source() {
    try {
      yield chunkOf('traces')
      await unavailable.clock.untilSleeping()
      yield chunkOf('logs')
      for (;;) yield chunkOf('metrics')
    } finally {
      left = true
    }
  }
  const both: Pick<OtlpEndpoint, 'sendChunk'> = {
    sendChunk: (chunk, options) =>
      (chunk.signal === 'traces' ? unavailable.endpoint : endpoint).sendChunk(chunk, options),
  }
  const report = await deliverAll(both, source(), { concurrency: 2 })
  expect(report).toMatchObject({ complete: false, stopped: 'HTTP 401 Unauthorized' })
  expect(report.totals.traces).toMatchObject({ skippedItems: 10 })
  expect(report.totals.logs).toMatchObject({ failedItems: 10 })
  expect(report.totals.metrics).toMatchObject({ chunks: 0 })
  expect(left).toBe(true)
  expect(server.requests.length).toBe(1)
  expect(clock.wakeTimesMs).toEqual([])
})

test('a 401 ends the run without waiting for a silent source', async () => {
  const { endpoint } = await setUp(() => status(401))
  const more = new Gate()
  let left = false
  async function* source() {
    try {
      yield chunkOf('traces')
      await more.opened
      yield chunkOf('traces')
    } finally {
      left = true
    }
  }
  const report = await deliverAll(endpoint, source())
  expect(report).toMatchObject({ stopped: 'HTTP 401 Unauthorized', totals: { traces: { chunks: 1 } } })
  expect(left).toBe(false)
  more.open()
  await new Promise((resolve) => setImmediate(resolve))
  expect(left).toBe(true)
})

test('closes the source when every signal in use has stopped', async () => {
  const { server, endpoint } = await setUp(() => status(403))
  let made = 0
  function* source() {
    for (; made < 10_000; made += 1) yield chunkOf(made % 2 === 0 ? 'traces' : 'logs')
  }
  const stops = new DeliveryStops(['traces', 'logs'])
  const report = await deliverAll(endpoint, source(), { stops, concurrency: 2 })
  expect(report).toMatchObject({ complete: false, stopped: 'HTTP 403 Forbidden' })
  expect(made).toBeLessThan(100)
  expect(server.requests.length).toBeLessThan(100)
})

test('deliveries that share their stops stop together', async () => {
  const { endpoint } = await setUp(refusing('/v1/traces', status(401)))
  const stops = new DeliveryStops()
  await deliverAll(endpoint, chunksOf('traces', 2), { stops })
  const report = await deliverAll(endpoint, chunksOf('logs', 2), { stops })
  expect(report).toMatchObject({ complete: false, stopped: 'HTTP 401 Unauthorized', totals: { logs: { chunks: 0 } } })
})

test('gives the event loop a turn after every chunk, sent or not', async () => {
  const stops = new DeliveryStops()
  stops.stop('traces', 'HTTP 403 Forbidden')
  let turns = 0
  let running = true
  const count = () => {
    turns += 1
    if (running) setImmediate(count)
  }
  setImmediate(count)
  const broken = { sendChunk: () => Promise.reject(new Error('must not be sent')) }
  await deliverAll(broken, chunksOf('traces', 50), { stops })
  running = false
  expect(turns).toBeGreaterThanOrEqual(49)
})

test('a 403 ends its signal only, because the token may be valid for another', async () => {
  const { server, endpoint } = await setUp(refusing('/v1/traces', status(403)))
  const chunks = [...chunksOf('traces', 5), ...chunksOf('logs', 2)]
  const report = await deliverAll(endpoint, chunks, { concurrency: 1 })
  expect(report).toMatchObject({ complete: false, stopped: undefined })
  expect(report.totals.traces).toMatchObject({ failedItems: 10, skippedItems: 40, attempts: 1 })
  expect(report.totals.logs).toMatchObject({ deliveredItems: 20 })
  expect(server.requests.length).toBe(3)
})

/** Advances the clock over every wait for a retry, until the time for retries is over. */
async function throughFiveMinutes<T>(clock: ManualClock, delivering: Promise<T>): Promise<T> {
  while (clock.nowMs() < 5 * 60_000) {
    await Promise.race([clock.untilSleeping(), delivering])
    await clock.advance(15_000)
  }
  return delivering
}

test('detects a receiver that is down once, not once per chunk', async () => {
  const { clock, endpoint } = await setUp(refusing('/v1/traces', status(503)))
  const chunks = [...chunksOf('traces', 100), ...chunksOf('logs', 2)]
  const delivering = deliverAll(endpoint, chunks, { concurrency: 1 })
  const { totals } = await throughFiveMinutes(clock, delivering)
  expect(totals.traces).toMatchObject({ failedItems: 10, skippedItems: 990 })
  expect(totals.logs).toMatchObject({ deliveredItems: 20 })
})

test('a chunk that always fails does not stop the others', async () => {
  const { clock, endpoint } = await setUp(({ body }) => (`${body}` === 'traces 13' ? status(503) : accepted))
  const chunks = [chunkOf('traces', 13), ...chunksOf('traces', 20)]
  const delivering = deliverAll(endpoint, chunks, { concurrency: 2 })
  const { totals } = await throughFiveMinutes(clock, delivering)
  expect(totals.traces).toMatchObject({ failedItems: 13, deliveredItems: 200, skippedItems: 0 })
})

test('an abort ends the run', async () => {
  const { server, endpoint } = await setUp(() => ({ play: 'silence' }))
  const stop = new AbortController()
  const delivering = deliverAll(endpoint, chunksOf('traces', 10), { concurrency: 3, signal: stop.signal })
  await server.received(3)
  stop.abort()
  const report = await delivering
  expect(report).toMatchObject({ complete: false, stopped: 'aborted' })
  expect(report.totals.traces).toMatchObject({ skippedItems: 30, attempts: 3 })

  const late = await deliverAll(endpoint, chunksOf('traces', 10), { signal: stop.signal })
  expect(late).toMatchObject({ complete: false, stopped: 'aborted', totals: { traces: { chunks: 0 } } })
})

test('finishes deliveries in progress before it throws an error of the source', async () => {
  const gate = new Gate()
  const { server, endpoint } = await setUp(() => ({ play: 'reply', status: 200, after: gate.opened }))
  const settled: ChunkDelivery[] = []
  async function* source() {
    yield chunkOf('traces')
    await server.received(1)
    gate.open()
    throw new Error('line 2 is not JSON')
  }
  const options: DeliverAllOptions = { onSettled: (_, delivery) => settled.push(delivery) }
  await expect(deliverAll(endpoint, source(), options)).rejects.toThrow('line 2 is not JSON')
  expect(settled).toMatchObject([{ outcome: { kind: 'delivered' } }])
})

test('throws a bug even while the source is slow', async () => {
  const broken = { sendChunk: () => Promise.reject(new TypeError('a bug')) }
  async function* source() {
    yield chunkOf('traces')
    await new Promise((resolve) => setImmediate(resolve))
    yield chunkOf('traces')
  }
  await expect(deliverAll(broken, source())).rejects.toThrow('a bug')
})

test('limits the number of messages', async () => {
  const headers = { 'content-type': 'text/plain' }
  const { endpoint } = await setUp((_, index) => ({ play: 'reply', status: 400, headers, body: `reason ${index}` }))
  const { totals } = await deliverAll(endpoint, chunksOf('traces', 25))
  expect(totals.traces.failedItems).toBe(250)
  expect(totals.traces.messages.size).toBe(10)
})

test('accounts for every item, and never exceeds the limit of chunks in progress', async () => {
  const outcomes: ChunkDelivery['outcome'][] = [
    { kind: 'delivered', rejectedItems: 1, message: '' },
    { kind: 'dead', reason: 'no', authentication: false },
    { kind: 'dead', reason: 'who are you', authentication: true },
    { kind: 'expired', reason: 'gave up' },
    { kind: 'aborted', reason: 'stopped' },
  ]
  const chunks = fc.array(
    fc.record({
      signal: fc.constantFrom(...signalNames),
      items: fc.integer({ min: 1, max: 512 }),
      outcome: fc.constantFrom(...outcomes),
      status: fc.constantFrom(401, 403),
      turns: fc.nat({ max: 3 }),
    }),
    { maxLength: 40 },
  )
  await fc.assert(
    fc.asyncProperty(chunks, fc.integer({ min: 1, max: 6 }), async (script, concurrency) => {
      const source = script.map(({ signal, items }) => chunkOf(signal, items))
      let inProgress = 0
      const endpoint: Pick<OtlpEndpoint, 'sendChunk'> = {
        async sendChunk(chunk) {
          const { outcome, status, turns } = script[source.indexOf(chunk)]!
          inProgress += 1
          expect(inProgress).toBeLessThanOrEqual(concurrency)
          for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve))
          inProgress -= 1
          return { outcome, status, attempts: 1, wireBytes: 1 }
        },
      }
      const { totals, stopped, complete } = await deliverAll(endpoint, source, { concurrency })
      const all = Object.values(totals)
      for (const { items, deliveredItems, failedItems, skippedItems } of all) {
        expect(deliveredItems + failedItems + skippedItems).toBe(items)
      }
      const chunksSeen = all.reduce((sum, { chunks }) => sum + chunks, 0)
      if (stopped === undefined) expect(chunksSeen).toBe(source.length)
      if (complete) expect(script.every(({ outcome }) => outcome.kind === 'delivered')).toBe(true)
    }),
  )
})
