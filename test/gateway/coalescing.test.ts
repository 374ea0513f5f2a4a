import { gzipSync } from 'node:zlib'
import { encodeRpcStatus } from '@penstock/otlp'
import { Gate, type RecordedRequest, type ScriptedReply, type ScriptedServer } from '@penstock/testkit'
import { describe, expect, test } from 'vitest'
import { accept, itemsOf, startSink } from './accepting-sink.ts'
import { type ClientKind, type Export, exportOnce, exportWith, grpcClient, type Told } from './export-client.ts'
import { startGatewayAt } from './leaping-clock.ts'
import { metricLines } from './metrics-page.ts'
import { exportBody } from './telemetry.ts'

const startMs = Date.parse('2026-11-21T07:03:00Z')
const numbers = Array.from({ length: 64 }, (_, index) => index)
const items = (requests: readonly RecordedRequest[]): string[] => requests.flatMap(itemsOf)

/** Reads what it gets as a collector does: what cannot be decoded, or holds a poisoned record, is refused whole. */
function judge(request: RecordedRequest): ScriptedReply {
  const refuse = (message: string): ScriptedReply => ({
    play: 'reply',
    status: 400,
    headers: { 'content-type': 'application/x-protobuf' },
    body: encodeRpcStatus({ code: 3, message, retryDelayMs: undefined }, 'protobuf'),
  })
  try {
    const poisoned = itemsOf(request).find((item) => item.startsWith('poison'))
    return poisoned === undefined ? accept() : refuse(`${poisoned} is not welcome`)
  } catch {
    return refuse('cannot be decoded')
  }
}

/**
 * A gateway whose openers are held upstream, and whose time stands still: whatever follows one waits until 64 bodies
 * can go together.
 */
async function startHeld(env: Record<string, string> = {}) {
  const held = new Gate()
  const accepted: RecordedRequest[] = []
  const sink: ScriptedServer = await startSink((request) => {
    const reply = judge(request)
    if (reply.play !== 'reply' || reply.status !== 200) return reply
    accepted.push(request)
    return itemsOf(request).some((item) => item.endsWith('opener')) ? { ...reply, after: held.opened } : reply
  })
  const gateway = await startGatewayAt(startMs, { PENSTOCK_UPSTREAM: sink.url, ...env })
  const { token } = await gateway.token()
  await gateway.enforce(true)
  const client = grpcClient(gateway.otlpPort)
  const send = (kind: ClientKind, given: Export): Promise<Told> =>
    kind === 'gRPC' ? exportWith(client, { token, ...given }) : exportOnce(gateway.otlpPort, kind, { token, ...given })
  const opener = async (kind: ClientKind) => {
    const first = send(kind, { items: ['opener'] })
    await sink.received(1)
    return first
  }
  return { gateway, sink, accepted, held, send, opener, close: () => client.close() }
}

describe.each(['HTTP protobuf', 'gRPC'] as const)('%s', (kind) => {
  const ok = kind === 'gRPC' ? 0 : 200

  test('C-7: 64 senders travel together, and each is answered', async () => {
    const { gateway, sink, accepted, held, send, opener, close } = await startHeld()
    const first = opener(kind)
    await sink.received(1)
    const all = await Promise.all(numbers.map((number) => send(kind, { items: [`${number}`] })))
    expect(new Set(all.map(({ code }) => code))).toEqual(new Set([ok]))
    expect(sink.requests).toHaveLength(2)
    held.open()
    expect((await first).code).toBe(ok)
    expect(items(accepted).toSorted()).toEqual([...numbers.map(String), 'opener'].toSorted())
    expect(await metricLines(gateway, 'otelcol_ingestauth_coalesced_requests_')).toEqual(
      expect.arrayContaining([
        'otelcol_ingestauth_coalesced_requests_count 2',
        'otelcol_ingestauth_coalesced_requests_sum 65',
      ]),
    )
    close()
  })

  test('S3: of 64 the poisoned one gets its own 400, the others 200, and each record arrives once', async () => {
    const { sink, accepted, held, send, opener, close } = await startHeld()
    const first = opener(kind)
    await sink.received(1)
    const all = await Promise.all(
      numbers.map((number) => send(kind, { items: [number === 37 ? 'poison of 37' : `${number}/a`, `${number}/b`] })),
    )
    held.open()
    await first
    const refused = all.flatMap(({ code, message }, index) => (code === ok ? [] : [[index, code, message]]))
    expect(refused).toEqual([[37, kind === 'gRPC' ? 3 : 400, 'poison of 37 is not welcome']])
    const good = numbers.filter((number) => number !== 37).flatMap((number) => [`${number}/a`, `${number}/b`])
    expect(items(accepted).toSorted()).toEqual(['opener', ...good].toSorted())
    // The opener, all together, and two halves at each of six steps.
    expect(sink.requests).toHaveLength(1 + 1 + 12)
    close()
  })

  test('C-2, 6.1 (a): a body that claims the bytes after it swallows nobody', async () => {
    const { sink, accepted, held, send, opener, close } = await startHeld()
    const first = opener(kind)
    await sink.received(1)
    const victim = exportBody({ items: ['0'] }, 'protobuf')
    const claim = send(kind, { body: Buffer.of(0x0a, victim.length) })
    const all = await Promise.all(numbers.map((number) => send(kind, { items: [`${number}`] })))
    held.open()
    await first
    const { code, message } = await claim
    expect([code, message]).toEqual([kind === 'gRPC' ? 3 : 400, 'cannot be decoded'])
    expect(new Set(all.map((told) => told.code))).toEqual(new Set([ok]))
    expect(items(accepted).toSorted()).toEqual(['opener', ...numbers.map(String)].toSorted())
    close()
  })

  test('C-2, 6.1 (b): the two ends of a group erase nobody between them', async () => {
    const { sink, accepted, held, send, opener, close } = await startHeld()
    const first = opener(kind)
    await sink.received(1)
    const [startOfGroup, endOfGroup] = [Buffer.of(0x7b), Buffer.of(0x7c)]
    const before = send(kind, { body: startOfGroup })
    const victims = numbers.map((number) => send(kind, { items: [`${number}`] }))
    const after = send(kind, { body: endOfGroup })
    const codes = [await before, await after].map(({ code }) => code)
    const all = await Promise.all(victims)
    held.open()
    await first
    const bad = kind === 'gRPC' ? 3 : 400
    expect(codes).toEqual([bad, bad])
    expect(new Set(all.map(({ code }) => code))).toEqual(new Set([ok]))
    expect(items(accepted).toSorted()).toEqual(['opener', ...numbers.map(String)].toSorted())
    close()
  })
})

test('C-3: bodies with and without gzip travel together', async () => {
  const { sink, accepted, held, send, opener, close } = await startHeld()
  const first = opener('HTTP protobuf')
  await sink.received(1)
  const all = await Promise.all(
    numbers.map((number) => send('HTTP protobuf', { items: [`${number}`], gzip: number % 2 === 0 })),
  )
  expect(new Set(all.map(({ code }) => code))).toEqual(new Set([200]))
  expect(sink.requests).toHaveLength(2)
  held.open()
  await first
  expect(items(accepted).toSorted()).toEqual(['opener', ...numbers.map(String)].toSorted())
  close()
})

test('bodies of unknown length, as the JavaScript SDK sends them, are joined', async () => {
  const { sink, accepted, held, send, opener, close } = await startHeld()
  const first = opener('HTTP protobuf')
  await sink.received(1)
  const headers = { 'transfer-encoding': 'chunked' }
  const all = await Promise.all(numbers.map((number) => send('HTTP protobuf', { items: [`${number}`], headers })))
  expect(new Set(all.map(({ code }) => code))).toEqual(new Set([200]))
  expect(sink.requests).toHaveLength(2)
  held.open()
  await first
  expect(items(accepted).toSorted()).toEqual(['opener', ...numbers.map(String)].toSorted())
  close()
})

test('C-3: gzip with zeros behind it goes alone, and takes nobody with it', async () => {
  const { sink, accepted, held, send, opener, close } = await startHeld()
  const first = opener('HTTP protobuf')
  await sink.received(1)
  const body = Buffer.concat([gzipSync(exportBody({ items: ['tail'] }, 'protobuf')), Buffer.alloc(64)])
  const headers = { 'content-encoding': 'gzip' }
  const odd = await send('HTTP protobuf', { body, headers })
  const all = await Promise.all(numbers.map((number) => send('HTTP protobuf', { items: [`${number}`], gzip: true })))
  held.open()
  await first
  expect([odd.code, ...new Set(all.map(({ code }) => code))]).toEqual([200, 200])
  expect(itemsOf(sink.requests[1]!)).toEqual(['tail'])
  expect(items(accepted).toSorted()).toEqual(['opener', 'tail', ...numbers.map(String)].toSorted())
  close()
})

test('C-1: two tokens, two signals, two protocols or differing headers never share a request', async () => {
  const { gateway, sink, accepted, held, send, close } = await startHeld()
  const other = await gateway.token({ name: 'other' })
  const groups: Record<string, (item: string) => Promise<Told>> = {
    mine: (item) => send('HTTP protobuf', { items: [item] }),
    other: (item) => send('HTTP protobuf', { items: [item], token: other.token }),
    logs: (item) => send('HTTP protobuf', { items: [item], signal: 'logs' }),
    tagged: (item) => send('HTTP protobuf', { items: [item], headers: { 'x-tag': '1' } }),
    grpc: (item) => send('gRPC', { items: [item] }),
    json: (item) => send('HTTP JSON', { items: [item] }),
  }
  const firsts = Object.entries(groups).map(([name, one]) => one(`${name}:opener`))
  await sink.received(firsts.length)
  const told = await Promise.all(
    numbers.flatMap((number) => Object.entries(groups).map(([name, one]) => one(`${name}:${number}`))),
  )
  held.open()
  await Promise.all(firsts)
  expect(new Set(told.map(({ code }) => code))).toEqual(new Set([200, 0]))
  const expected = Object.keys(groups).flatMap((name) => ['opener', ...numbers].map((number) => `${name}:${number}`))
  expect(items(accepted).toSorted()).toEqual(expected.toSorted())
  const joined = sink.requests.map(itemsOf).filter((names) => names.length > 1)
  const owners = joined.map((names) => [...new Set(names.map((name) => name.split(':')[0]))].join(' and '))
  expect(owners.toSorted()).toEqual(['grpc', 'logs', 'mine', 'other', 'tagged'])
  expect(new Set(joined.map((names) => names.length))).toEqual(new Set([64]))
  close()
})

test('C-1: nobody who showed no token is joined', async () => {
  const { gateway, sink, held, opener, close } = await startHeld()
  await gateway.enforce(false)
  const first = opener('HTTP protobuf')
  await sink.received(1)
  await Promise.all(numbers.map((number) => exportOnce(gateway.otlpPort, 'HTTP protobuf', { items: [`${number}`] })))
  expect(sink.requests).toHaveLength(65)
  held.open()
  await first
  close()
})
