import { gzipSync } from 'node:zlib'
import { encodeRpcStatus } from '@penstock/otlp'
import { Gate, type RecordedRequest, type ScriptedReply, type ScriptedServer } from '@penstock/testkit'
import { describe, expect, test } from 'vitest'
import { accept, itemsOf, startSink } from './accepting-sink.ts'
import { type ClientKind, type Export, type ExportReply, exportOnce, exportWith, grpcClient } from './export-client.ts'
import { metricLines } from './metrics-page.ts'
import { startGatewayAt } from './stepped-clock.ts'
import { exportBody } from './telemetry.ts'

const startMs = Date.parse('2026-11-21T07:03:00Z')
const numbers = Array.from({ length: 64 }, (_, index) => index)
const items = (requests: readonly RecordedRequest[]): string[] => requests.flatMap(itemsOf)

/** Answers as a collector does: it refuses a whole body that it cannot decode, or that contains a poisoned record. */
function respond(request: RecordedRequest): ScriptedReply {
  const refuse = (message: string): ScriptedReply => ({
    play: 'reply',
    status: 400,
    headers: { 'content-type': 'application/x-protobuf' },
    body: encodeRpcStatus({ code: 3, message, retryDelayMs: undefined }, 'protobuf'),
  })
  try {
    const poisoned = itemsOf(request).find((item) => item.startsWith('poison'))
    return poisoned === undefined ? accept() : refuse(`${poisoned} is not accepted`)
  } catch {
    return refuse('cannot be decoded')
  }
}

/**
 * Starts a gateway with a clock that stands still and an upstream that holds the request of each opener. All later
 * requests wait until 64 bodies can be sent together.
 */
async function startHeld(env: Record<string, string> = {}) {
  const held = new Gate()
  const accepted: RecordedRequest[] = []
  const sink: ScriptedServer = await startSink((request) => {
    const reply = respond(request)
    if (reply.play !== 'reply' || reply.status !== 200) return reply
    accepted.push(request)
    return itemsOf(request).some((item) => item.endsWith('opener')) ? { ...reply, after: held.opened } : reply
  })
  const gateway = await startGatewayAt(startMs, { PENSTOCK_UPSTREAM: sink.url, ...env })
  const { token } = await gateway.token()
  await gateway.enforce(true)
  const client = grpcClient(gateway.otlpPort)
  const send = (kind: ClientKind, options: Export): Promise<ExportReply> =>
    kind === 'gRPC'
      ? exportWith(client, { token, ...options })
      : exportOnce(gateway.otlpPort, kind, { token, ...options })
  const opener = async (kind: ClientKind) => {
    const first = send(kind, { items: ['opener'] })
    await sink.received(1)
    return first
  }
  return { gateway, sink, accepted, held, send, opener, close: () => client.close() }
}

describe.each(['HTTP protobuf', 'gRPC'] as const)('%s', (kind) => {
  const ok = kind === 'gRPC' ? 0 : 200

  test('C-7: 64 exports are sent in one request, and each is answered', async () => {
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

  test('the poisoned one of 64 exports gets its own 400, the others 200, and each record arrives once', async () => {
    const { sink, accepted, held, send, opener, close } = await startHeld()
    const first = opener(kind)
    await sink.received(1)
    const all = await Promise.all(
      numbers.map((number) => send(kind, { items: [number === 37 ? 'poison of 37' : `${number}/a`, `${number}/b`] })),
    )
    held.open()
    await first
    const refused = all.flatMap(({ code, message }, index) => (code === ok ? [] : [[index, code, message]]))
    expect(refused).toEqual([[37, kind === 'gRPC' ? 3 : 400, 'poison of 37 is not accepted']])
    const good = numbers.filter((number) => number !== 37).flatMap((number) => [`${number}/a`, `${number}/b`])
    expect(items(accepted).toSorted()).toEqual(['opener', ...good].toSorted())
    // The opener, all exports together, and two halves at each of six splits.
    expect(sink.requests).toHaveLength(1 + 1 + 12)
    close()
  })

  test('C-2: a body that claims the bytes after it affects no other export', async () => {
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
    expect(new Set(all.map((reply) => reply.code))).toEqual(new Set([ok]))
    expect(items(accepted).toSorted()).toEqual(['opener', ...numbers.map(String)].toSorted())
    close()
  })

  test('C-2: two bodies that form the start and the end of a group affect no export between them', async () => {
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

test('C-3: bodies with and without gzip are sent together', async () => {
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

test('bodies of unknown length, as the JavaScript SDK sends them, are coalesced', async () => {
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

test('C-3: gzip with trailing zeros is sent alone, and affects no other export', async () => {
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

test('C-1: exports with different tokens, signals, protocols or headers never share a request', async () => {
  const { gateway, sink, accepted, held, send, close } = await startHeld()
  const other = await gateway.token({ name: 'other' })
  const groups: Record<string, (item: string) => Promise<ExportReply>> = {
    mine: (item) => send('HTTP protobuf', { items: [item] }),
    other: (item) => send('HTTP protobuf', { items: [item], token: other.token }),
    logs: (item) => send('HTTP protobuf', { items: [item], signal: 'logs' }),
    tagged: (item) => send('HTTP protobuf', { items: [item], headers: { 'x-tag': '1' } }),
    grpc: (item) => send('gRPC', { items: [item] }),
    json: (item) => send('HTTP JSON', { items: [item] }),
  }
  const firsts = Object.entries(groups).map(([name, one]) => one(`${name}:opener`))
  await sink.received(firsts.length)
  const replies = await Promise.all(
    numbers.flatMap((number) => Object.entries(groups).map(([name, one]) => one(`${name}:${number}`))),
  )
  held.open()
  await Promise.all(firsts)
  expect(new Set(replies.map(({ code }) => code))).toEqual(new Set([200, 0]))
  const expected = Object.keys(groups).flatMap((name) => ['opener', ...numbers].map((number) => `${name}:${number}`))
  expect(items(accepted).toSorted()).toEqual(expected.toSorted())
  const joined = sink.requests.map(itemsOf).filter((names) => names.length > 1)
  const owners = joined.map((names) => [...new Set(names.map((name) => name.split(':')[0]))].join(' and '))
  expect(owners.toSorted()).toEqual(['grpc', 'logs', 'mine', 'other', 'tagged'])
  expect(new Set(joined.map((names) => names.length))).toEqual(new Set([64]))
  close()
})

test('C-1: exports without a token are never coalesced', async () => {
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
