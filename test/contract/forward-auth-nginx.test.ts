import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as grpc from '@grpc/grpc-js'
import { decodeRpcStatus } from '@penstock/otlp'
import { ScriptedServer } from '@penstock/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../collector/free-port.ts'
import { damage } from '../gateway/damaged-file.ts'
import { ProcessGateway } from '../gateway/process-gateway.ts'
import { type Nginx, startNginx } from '../proxies/nginx.ts'
import { describeWithNginx } from '../proxies/nginx-suite.ts'
import { RecordingProxy } from './recording-proxy.ts'

/** The configuration file that docs/guides/forward-auth.md publishes. */
const published = readFileSync(join(import.meta.dirname, '../../docs/guides/forward-auth/nginx.conf'), 'utf8')

const exportMethod = '/opentelemetry.proto.collector.trace.v1.TraceService/Export'

function config(ports: readonly number[], auth: number, http: number, rpc: number): string {
  return published
    .replace('server 127.0.0.1:8081;', `server 127.0.0.1:${auth};`)
    .replace('server 127.0.0.1:14318;', `server 127.0.0.1:${http};`)
    .replace('server 127.0.0.1:14317;', `server 127.0.0.1:${rpc};`)
    .replace('listen 4318;', `listen 127.0.0.1:${ports[0]};`)
    .replace('listen 4317 http2;', `listen 127.0.0.1:${ports[1]} http2;`)
}

describeWithNginx('nginx in front of a backend, with a check of every request', () => {
  /** The tokens by the result of their check. */
  const tokens: Record<string, string> = { bad: 'psin_unknown' }
  let goodId: string
  let gateway: ProcessGateway
  let recorder: RecordingProxy
  let backend: ScriptedServer
  let grpcBackend: grpc.Server
  let nginx: Nginx
  let url: string
  const grpcReceived: grpc.Metadata[] = []

  beforeAll(async () => {
    gateway = await ProcessGateway.start({ upstream: 'http://127.0.0.1:9', env: { PENSTOCK_TENANT_HEADER: 'true' } })
    const good = await gateway.token({ name: 'ci-runners', signals: ['traces'] })
    goodId = good.id
    tokens.good = good.token
    tokens.narrow = (await gateway.token({ name: 'narrow', signals: ['logs'] })).token
    const greedy = { name: 'greedy', limits: { all: { day: { requests: 1 } } } }
    tokens.greedy = (await gateway.token(greedy)).token
    await gateway.enforce(true)
    recorder = new RecordingProxy(gateway.ports.management)
    backend = await ScriptedServer.start(() => ({
      play: 'reply',
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: '{}',
    }))
    grpcBackend = new grpc.Server()
    const grpcPort = await serveExports(grpcBackend, grpcReceived)
    const backendPort = Number(new URL(backend.url).port)
    const recorderPort = await recorder.listen()
    nginx = await startNginx({ ports: 2, config: (ports) => config(ports, recorderPort, backendPort, grpcPort) })
    url = `http://127.0.0.1:${nginx.ports[0]}`
    expect((await send('greedy')).status).toBe(200)
  })

  afterAll(async () => {
    await nginx?.stop()
    recorder?.close()
    await gateway?.[Symbol.asyncDispose]()
    await backend?.close()
    grpcBackend?.forceShutdown()
  })

  const send = (token: string, headers: Record<string, string> = {}, path = '/v1/traces') =>
    fetch(`${url}${path}`, {
      method: 'POST',
      body: '{"resourceSpans":[]}',
      headers: { authorization: `Bearer ${tokens[token]}`, 'content-type': 'application/json', ...headers },
    })

  test('F-1: forwards an allowed request with the id of its token and without its credential', async () => {
    const { status } = await send('good')
    expect(status).toBe(200)
    const { headers, body } = backend.requests.at(-1)!
    expect(headers).toMatchObject({
      'x-ingest-token-id': goodId,
      'x-ingest-token-name': 'ci-runners',
      'x-ingest-auth': 'verified',
    })
    expect(headers).not.toHaveProperty('authorization')
    expect(Buffer.from(body).toString()).toBe('{"resourceSpans":[]}')
  })

  test('sends the check with the data of nginx, not of the client, and without the body', async () => {
    recorder.sent = ''
    await send('good', {
      'x-forwarded-for': '203.0.113.9',
      'x-original-uri': '/v1/logs',
      'x-original-content-length': '1',
    })
    const [head, body] = recorder.sent.split('\r\n\r\n')
    const lines = head!.split('\r\n')
    expect(lines[0]).toBe('GET /forward-auth?proxy=nginx HTTP/1.1')
    const shown = lines.filter((line) => /^(x-|content-length)/i.test(line)).toSorted()
    expect(shown).toEqual(['X-Forwarded-For: 127.0.0.1', 'X-Original-Content-Length: 20', 'X-Original-URI: /v1/traces'])
    expect(body).toBe('')
  })

  test('X-10: removes ingest headers that a client has set itself', async () => {
    const claims = {
      'x-ingest-token-id': 'someone',
      'x-ingest-token-name': 'else',
      'x-ingest-auth': 'verified',
      'x-ingest-would-reject': 'no',
      'x-ingest-capabilities': 'all',
      'x-scope-orgid': 'theirs',
      x_ingest_token_id: 'someone',
      x_scope_orgid: 'theirs',
    }
    await gateway.enforce(false)
    await send('bad', claims).finally(() => gateway.enforce(true))
    const { headers } = backend.requests.at(-1)!
    expect(headers['x-ingest-auth']).toBe('unverified')
    const arrived = Object.keys(headers).filter((name) => /^x[-_](ingest|scope)/.test(name))
    expect(arrived).toEqual(['x-ingest-auth'])
  })

  test.each([
    ['bad', 401, null, 16, 'The ingest token is not valid.'],
    ['narrow', 403, null, 7, expect.stringMatching(/^The ingest token \w{12} may not be used for this signal\.$/)],
    ['greedy', 429, expect.stringMatching(/^[1-9]\d*$/), 14, expect.stringContaining('limit')],
  ])(
    'rejects a request with a complete answer: %s → %i, Retry-After %s',
    async (token, status, retryAfter, code, message) => {
      const sentBefore = backend.requests.length
      const response = await send(token)
      expect(response.status).toBe(status)
      expect(response.headers.get('retry-after')).toEqual(retryAfter)
      expect(response.headers.get('content-type')).toBe('application/json')
      expect(decodeRpcStatus(new Uint8Array(await response.arrayBuffer()), 'json')).toMatchObject({ code, message })
      expect(backend.requests).toHaveLength(sentBefore)
    },
  )

  test.each([
    ['bad', 401],
    ['narrow', 403],
    ['greedy', 429],
  ])('P-5: answers a sender of protobuf in protobuf: %s → %i', async (token, status) => {
    const response = await send(token, { 'content-type': 'application/x-protobuf' })
    expect(response.status).toBe(status)
    expect(response.headers.get('content-type')).toBe('application/x-protobuf')
    expect(decodeRpcStatus(new Uint8Array(await response.arrayBuffer()), 'protobuf').code).toBe(0)
  })

  test('P-12: relays the challenge once', async () => {
    const response = await send('bad')
    expect(response.headers.get('www-authenticate')).toBe(
      'Bearer realm="otlp", error="invalid_token", error_description="The ingest token is not valid."',
    )
    expect((await send('greedy')).headers.has('www-authenticate')).toBe(false)
  })

  test('P-11: an error reaches a client that is still sending', async () => {
    const response = await fetch(`${url}/v1/traces`, {
      method: 'POST',
      body: Buffer.alloc(8 * 1024 * 1024),
      headers: { authorization: `Bearer ${tokens.bad}`, 'content-type': 'application/x-protobuf' },
    })
    expect(response.status).toBe(401)
  })

  test('rejects a path without a signal', async () => {
    expect((await send('good', {}, '/v1/other')).status).toBe(403)
    expect((await send('good', {}, '/v1//traces')).status).toBe(403)
  })

  test.each([
    ['good', grpc.status.OK],
    ['bad', grpc.status.UNAUTHENTICATED],
    ['narrow', grpc.status.PERMISSION_DENIED],
    ['greedy', grpc.status.UNAVAILABLE],
  ])('F-4: gRPC clients map the HTTP statuses of nginx to codes: %s → %i', async (token, code) => {
    expect(await exportOverGrpc(`127.0.0.1:${nginx.ports[1]}`, tokens[token]!)).toBe(code)
  })

  test('F-4: forwards the id of the token and removes the credential over gRPC too', async () => {
    await exportOverGrpc(`127.0.0.1:${nginx.ports[1]}`, tokens.good!)
    const metadata = grpcReceived.at(-1)!
    expect(metadata.get('x-ingest-token-id')).toEqual([goodId])
    expect(metadata.get('authorization')).toEqual([])
  })

  test('asks clients to retry if the gateway is unreachable', async () => {
    const unused = await freePort()
    const unchecked = await startNginx({ ports: 2, config: (ports) => config(ports, unused, unused, unused) })
    try {
      const response = await fetch(`http://127.0.0.1:${unchecked.ports[0]}/v1/traces`, { method: 'POST', body: '{}' })
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2'])
    } finally {
      await unchecked.stop()
    }
  })

  test('P-5: asks clients to retry while the gateway cannot check tokens', async () => {
    await using stale = await ProcessGateway.start({
      upstream: 'http://127.0.0.1:9',
      env: { PENSTOCK_MAX_STALE_MS: '1000' },
    })
    await stale.token()
    await stale.enforce(true)
    damage(join(stale.dataDir, 'gateway.db'))
    damage(join(stale.dataDir, 'gateway.db-wal'))
    await expect.poll(() => stale.page('/readyz')).toMatchObject({ text: 'not ready: stale\n' })
    const unused = await freePort()
    const nginx = await startNginx({
      ports: 2,
      config: (ports) => config(ports, stale.ports.management, unused, unused),
    })
    try {
      for (const type of ['application/json', 'application/x-protobuf']) {
        const headers = { authorization: 'Bearer x', 'content-type': type }
        const sent = { method: 'POST', headers, body: '{}' }
        const response = await fetch(`http://127.0.0.1:${nginx.ports[0]}/v1/traces`, sent)
        expect([response.status, response.headers.get('content-type')]).toEqual([503, type])
        expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
        const encoding = type === 'application/json' ? 'json' : 'protobuf'
        const { code, message } = decodeRpcStatus(new Uint8Array(await response.arrayBuffer()), encoding)
        const isJson = encoding === 'json'
        expect([code, message]).toEqual([isJson ? 14 : 0, isJson ? 'The ingest token cannot be checked now.' : ''])
      }
      expect(await exportOverGrpc(`127.0.0.1:${nginx.ports[1]}`, 'x')).toBe(grpc.status.UNAVAILABLE)
    } finally {
      await nginx.stop()
    }
  })
})

describeWithNginx('the harness', () => {
  test('loads another configuration with new workers', async () => {
    const answering = (text: string) => (ports: readonly number[]) =>
      `server { listen 127.0.0.1:${ports[0]}; location / { return 200 ${text}; } }`
    const nginx = await startNginx({ config: answering('one'), workers: 2 })
    try {
      const before = nginx.workerPids
      await nginx.reload(answering('two'))
      expect(nginx.workerPids).toHaveLength(2)
      expect(nginx.workerPids.filter((pid) => before.includes(pid))).toEqual([])
      await expect(nginx.reload(() => 'nonsense;')).rejects.toThrow('unknown directive "nonsense"')
    } finally {
      await nginx.stop()
    }
  })

  test('reports the error of nginx for an invalid configuration', async () => {
    await expect(startNginx({ config: () => 'nonsense;' })).rejects.toThrow('unknown directive "nonsense"')
  })
})

const asBytes = (bytes: Buffer): Buffer => bytes

const exportDefinition = {
  path: exportMethod,
  requestStream: false,
  responseStream: false,
  requestSerialize: asBytes,
  requestDeserialize: asBytes,
  responseSerialize: asBytes,
  responseDeserialize: asBytes,
} as const

async function serveExports(server: grpc.Server, received: grpc.Metadata[]): Promise<number> {
  server.addService(
    { export: exportDefinition },
    {
      export: (call: grpc.ServerUnaryCall<Buffer, Buffer>, done: grpc.sendUnaryData<Buffer>) => {
        received.push(call.metadata)
        done(null, Buffer.alloc(0))
      },
    },
  )
  return new Promise((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, port) =>
      error ? reject(error) : resolve(port),
    )
  })
}

async function exportOverGrpc(target: string, token: string): Promise<grpc.status> {
  const client = new grpc.Client(target, grpc.credentials.createInsecure())
  const metadata = new grpc.Metadata()
  metadata.set('authorization', `Bearer ${token}`)
  try {
    return await new Promise((resolve) => {
      client.makeUnaryRequest(exportMethod, asBytes, asBytes, Buffer.alloc(10), metadata, (error) =>
        resolve(error?.code ?? grpc.status.OK),
      )
    })
  } finally {
    client.close()
  }
}
