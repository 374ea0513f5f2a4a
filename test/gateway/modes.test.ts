import { Agent, request as httpRequest } from 'node:http'
import { connect } from 'node:http2'
import { Gate } from '@penstock/testkit'
import { describe, expect, test } from 'vitest'
import { accept, startSink } from './accepting-sink.ts'
import { clientKinds, exportOnce, exportWith, grpcClient, okCode } from './export-client.ts'
import { metricLines } from './metrics-page.ts'
import { startGateway } from './running-gateway.ts'
import { startGatewayAt } from './stepped-clock.ts'
import { exportBody } from './telemetry.ts'

const startMs = Date.parse('2026-11-21T07:03:00Z')
const HOUR_MS = 3_600_000
const warning =
  'This export will be refused once ingest enforcement is on. No ingest token. ' +
  'Send one in the header "Authorization: Bearer <token>".'

const setMode = async (
  gateway: Awaited<ReturnType<typeof startGateway>>,
  mode: 'off' | 'report' | 'warn' | 'enforce',
): Promise<void> => gateway.enforce(mode === 'enforce', { mode })

describe.each(clientKinds)('%s', (kind) => {
  const refused = kind === 'gRPC' ? 16 : 401

  test('E-1: the verdict is the same in every mode, and only the decision differs', async () => {
    const sink = await startSink()
    const gateway = await startGateway({ PENSTOCK_UPSTREAM: sink.url })
    const { token } = await gateway.token()
    const seen: unknown[] = []
    for (const mode of ['off', 'report', 'warn', 'enforce'] as const) {
      await setMode(gateway, mode)
      const stranger = await exportOnce(gateway.otlpPort, kind)
      const wrong = await exportOnce(gateway.otlpPort, kind, { signal: 'logs', token: `${token.slice(0, -1)}!` })
      const known = await exportOnce(gateway.otlpPort, kind, { token })
      seen.push([mode, stranger.code, stranger.partial?.message, wrong.code, known.code, known.partial])
    }
    const ok = okCode[kind]
    expect(seen).toEqual([
      ['off', ok, undefined, ok, ok, undefined],
      ['report', ok, undefined, ok, ok, undefined],
      ['warn', ok, warning, ok, ok, undefined],
      ['enforce', refused, undefined, refused, ok, undefined],
    ])
    expect(sink.requests.map(({ headers }) => headers['x-ingest-auth'])).toEqual([
      ...['off', 'off', 'verified'],
      ...['unverified', 'unverified', 'verified'],
      ...['unverified', 'unverified', 'verified'],
      'verified',
    ])
    const transport = kind === 'gRPC' ? 'grpc' : 'http'
    const decisions = await metricLines(gateway, 'otelcol_ingestauth_decisions{')
    for (const mode of ['off', 'report', 'warn', 'enforce']) {
      const decision = mode === 'enforce' ? 'reject' : 'would_reject'
      expect(decisions).toContain(
        `otelcol_ingestauth_decisions{decision="${decision}",mode="${mode}",reason="missing",signal="traces",transport="${transport}"} 1`,
      )
      expect(decisions).toContain(
        `otelcol_ingestauth_decisions{decision="${decision}",mode="${mode}",reason="malformed",signal="logs",transport="${transport}"} 1`,
      )
      expect(decisions).toContain(
        `otelcol_ingestauth_decisions{decision="allow",mode="${mode}",signal="traces",transport="${transport}"} 1`,
      )
    }
    expect(await metricLines(gateway, 'otelcol_ingestauth_enforcement_mode')).toEqual([
      'otelcol_ingestauth_enforcement_mode 3',
    ])
  })

  test('E-5: warns with rejected 0, once an hour for each signal, and not in a reply that is an error', async () => {
    let reply = accept()
    const sink = await startSink(() => reply)
    const gateway = await startGatewayAt(startMs, { PENSTOCK_UPSTREAM: sink.url })
    await setMode(gateway, 'warn')

    const first = await exportOnce(gateway.otlpPort, kind)
    expect(first.partial).toEqual({ rejected: 0n, message: warning })
    if (kind === 'HTTP JSON') {
      expect(JSON.parse(first.body.toString())).toEqual({ partialSuccess: { errorMessage: warning } })
    } else {
      expect(first.body).toEqual(
        // Field 1 has 134 bytes and contains field 2 with 131 bytes.
        Buffer.concat([Buffer.of(0x0a, 0x86, 0x01, 0x12, 0x83, 0x01), Buffer.from(warning)]),
      )
    }
    expect((await exportOnce(gateway.otlpPort, kind)).partial).toBeUndefined()
    expect((await exportOnce(gateway.otlpPort, kind, { signal: 'logs' })).partial?.message).toBe(warning)
    await gateway.advanceTo(startMs + HOUR_MS - 1)
    expect((await exportOnce(gateway.otlpPort, kind)).partial).toBeUndefined()
    await gateway.advanceTo(startMs + HOUR_MS)
    reply = { play: 'reply', status: 400 }
    const broken = await exportOnce(gateway.otlpPort, kind, { signal: 'metrics' })
    expect(broken.code).toBe(kind === 'gRPC' ? 3 : 400)
    expect(broken.message).toBe('the upstream answered HTTP 400')
    reply = accept()
    expect((await exportOnce(gateway.otlpPort, kind)).partial?.message).toBe(warning)
  })
})

test('E-5: a partial success of the upstream is not replaced by the warning', async () => {
  const body = Buffer.from('{"partialSuccess":{"rejectedSpans":"1","errorMessage":"one was too old"}}')
  const sink = await startSink(() => ({
    play: 'reply',
    status: 200,
    headers: { 'content-type': 'application/json' },
    body,
  }))
  const gateway = await startGateway({ PENSTOCK_UPSTREAM: sink.url })
  await setMode(gateway, 'warn')
  const answer = await exportOnce(gateway.otlpPort, 'HTTP JSON')
  expect(answer.partial).toEqual({ rejected: 1n, message: 'one was too old' })
})

describe('E-2, E-3: a change applies from the next request', () => {
  test('on a persistent HTTP/1.1 connection', async () => {
    const sink = await startSink()
    const gateway = await startGateway({ PENSTOCK_UPSTREAM: sink.url })
    const body = exportBody({}, 'protobuf')
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const ports = new Set<number | undefined>()
    const send = () =>
      new Promise<number>((resolve, reject) => {
        const request = httpRequest(
          `${gateway.otlpUrl}/v1/traces`,
          {
            method: 'POST',
            agent,
            headers: { 'content-type': 'application/x-protobuf', 'content-length': body.length },
          },
          (response) => response.resume().on('end', () => resolve(response.statusCode!)),
        )
        request.on('socket', (socket) => socket.once('ready', () => ports.add(socket.localPort)))
        request.on('error', reject)
        request.end(body)
      })
    const codes: number[] = []
    for (const enabled of [false, true, false, true]) {
      await gateway.enforce(enabled)
      codes.push(await send())
    }
    agent.destroy()
    expect([codes, ports.size]).toEqual([[200, 401, 200, 401], 1])
  })

  test('on an open HTTP/2 connection, over OTLP/HTTP and gRPC', async () => {
    const sink = await startSink()
    const gateway = await startGateway({ PENSTOCK_UPSTREAM: sink.url })
    const session = connect(gateway.otlpUrl)
    const send = () =>
      new Promise<number>((resolve, reject) => {
        const stream = session.request({
          ':method': 'POST',
          ':path': '/v1/traces',
          'content-type': 'application/x-protobuf',
        })
        stream.on('response', (headers) => {
          stream.resume()
          resolve(Number(headers[':status']))
        })
        stream.on('error', reject)
        stream.end(exportBody({}, 'protobuf'))
      })
    const client = grpcClient(gateway.otlpPort)
    const codes: number[][] = []
    for (const enabled of [false, true, false]) {
      await gateway.enforce(enabled)
      codes.push([await send(), (await exportWith(client, {})).code])
    }
    client.close()
    session.close()
    expect(codes).toEqual([
      [200, 0],
      [401, 16],
      [200, 0],
    ])
  })

  test.each(clientKinds)('an admitted request is not aborted (%s)', async (kind) => {
    const held = new Gate()
    const sink = await startSink(() => ({ play: 'reply', status: 200, after: held.opened }))
    const gateway = await startGateway({ PENSTOCK_UPSTREAM: sink.url })
    const underWay = exportOnce(gateway.otlpPort, kind)
    await sink.received(1)
    await gateway.enforce(true)
    held.open()
    expect((await underWay).code).toBe(okCode[kind])
  })
})

test('E-7: enforcement stays on however many requests are refused', async () => {
  const sink = await startSink()
  const gateway = await startGateway({ PENSTOCK_UPSTREAM: sink.url })
  await gateway.token()
  await gateway.enforce(true)
  const { epoch } = (await gateway.call<{ epoch: number }>('GET', '/state')).json
  const codes = new Set<number>()
  for (let round = 0; round < 20; round += 1) {
    const all = await Promise.all(Array.from({ length: 20 }, () => exportOnce(gateway.otlpPort, 'HTTP protobuf')))
    for (const { code } of all) codes.add(code)
  }
  expect([...codes]).toEqual([401])
  expect((await gateway.call('GET', '/state')).json).toMatchObject({ enabled: true, mode: 'enforce', epoch })
  expect(sink.requests).toHaveLength(0)
})

test.each(clientKinds)(
  'E-8: a token expires exactly at its expiry, and the refusal names the reason (%s)',
  async (kind) => {
    const sink = await startSink()
    const gateway = await startGatewayAt(startMs, { PENSTOCK_UPSTREAM: sink.url })
    const { id, token } = await gateway.token({ expires_at: '2026-11-21T07:03:10.500Z' })
    await gateway.enforce(true)
    await gateway.advanceTo(startMs + 10_499)
    expect((await exportOnce(gateway.otlpPort, kind, { token })).code).toBe(okCode[kind])
    await gateway.advanceTo(startMs + 10_500)
    expect(await exportOnce(gateway.otlpPort, kind, { token })).toMatchObject({
      code: kind === 'gRPC' ? 16 : 401,
      message: `The ingest token ${id} has expired.`,
    })
    const wrongSecret = await gateway.token()
    const forged = await exportOnce(gateway.otlpPort, kind, { token: wrongSecret.token.replace(/.{6}$/, 'AAAAAA') })
    expect(forged.message).toBe('The ingest token is not valid.')
  },
)

test.each(['off', 'report', 'warn'] as const)(
  'E-9: in mode %s a token still determines limits, tenant and attribution',
  async (mode) => {
    const sink = await startSink()
    const gateway = await startGateway({ PENSTOCK_UPSTREAM: sink.url, PENSTOCK_TENANT_HEADER: 'true' })
    await setMode(gateway, mode)
    const { id, token } = await gateway.token({
      name: 'ci-runners',
      tenant: 'blue',
      limits: { all: { day: { requests: 1 } } },
    })
    expect((await exportOnce(gateway.otlpPort, 'HTTP protobuf', { token })).code).toBe(200)
    const over = await exportOnce(gateway.otlpPort, 'HTTP protobuf', { token })
    expect([over.code, over.message]).toEqual([429, `The ingest token ${id} is over its limit all.day.requests.`])
    expect(sink.requests[0]!.headers).toMatchObject({
      'x-ingest-token-id': id,
      'x-ingest-token-name': 'ci-runners',
      'x-ingest-auth': 'verified',
      'x-scope-orgid': 'blue',
    })
  },
)
