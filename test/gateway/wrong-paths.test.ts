import { connect } from 'node:http2'
import { expect, onTestFinished, test } from 'vitest'
import { startSink } from './accepting-sink.ts'
import { exportOnce } from './export-client.ts'
import { openGrpcCall } from './grpc-call.ts'
import { logged, metricLines } from './metrics-page.ts'
import { type RunningGateway, startGateway } from './running-gateway.ts'

interface Reply {
  readonly code: number
  readonly message: string
}

interface WrongPathRow {
  readonly token_id: string
  readonly path: string
  readonly right_paths: readonly string[]
  readonly count: number
}

type Reader = (gateway: RunningGateway, path: string, token?: string) => Promise<Reply>

const overHttp1: Reader = async ({ otlpUrl }, path, token) => {
  const response = await fetch(`${otlpUrl}${path}`, { method: 'POST', headers: headers(token), body: '{}' })
  return { code: response.status, message: ((await response.json()) as Reply).message }
}

const overHttp2: Reader = async ({ otlpUrl }, path, token) => {
  const session = connect(otlpUrl)
  onTestFinished(() => session.close())
  const stream = session.request({ ':method': 'POST', ':path': path, ...headers(token) })
  stream.end('{}')
  let code = 0
  stream.on('response', (fields) => {
    code = Number(fields[':status'])
  })
  const parts: Buffer[] = []
  for await (const part of stream) parts.push(part)
  return { code, message: JSON.parse(Buffer.concat(parts).toString()).message }
}

const overGrpc: Reader = async ({ otlpUrl }, path, token) => {
  const session = connect(otlpUrl)
  onTestFinished(() => session.close())
  const stream = openGrpcCall(session, path, new Uint8Array(), token)
  return new Promise((resolve, reject) => {
    stream.on('response', (fields) => {
      resolve({ code: Number(fields['grpc-status']), message: decodeURIComponent(String(fields['grpc-message'])) })
    })
    stream.on('error', reject)
    stream.resume()
  })
}

const headers = (token: string | undefined) => ({
  'content-type': 'application/json',
  ...(token !== undefined && { authorization: `Bearer ${token}` }),
})

const httpPaths = {
  traces: ['/v1/traces'],
  metrics: ['/v1/metrics'],
  logs: ['/v1/logs'],
  profiles: ['/v1development/profiles'],
} as const
const all = Object.values(httpPaths).flat()
const service = (name: string) => `/opentelemetry.proto.collector.${name}/Export`
const grpcMethods = {
  traces: [service('trace.v1.TraceService')],
  profiles: [service('profiles.v1development.ProfilesService')],
}

/** The wrong path, the path that is sent, if it differs, the signal and the right paths. */
const http = [
  { path: '/v1/traces/v1/traces', signal: 'traces', right: httpPaths.traces },
  { path: '/v1/traces/v1/metrics', signal: 'metrics', right: httpPaths.metrics },
  { path: '/v1/trace', signal: 'traces', right: httpPaths.traces },
  { path: '/v1/traces/', signal: 'traces', right: httpPaths.traces },
  { path: '//v1/logs', signal: 'logs', right: httpPaths.logs },
  { path: '/V1/Metrics', signal: 'metrics', right: httpPaths.metrics },
  { path: '/otlp/v1/traces', signal: 'traces', right: httpPaths.traces },
  { path: '/api/v2/spans', signal: 'traces', right: httpPaths.traces },
  { path: '/v1/profiles', signal: 'profiles', right: httpPaths.profiles },
  { path: service('trace.v1.TraceService'), signal: 'traces', right: httpPaths.traces },
  { path: '/', signal: 'unknown', right: all },
  { path: '/v1', signal: 'unknown', right: all },
  { path: '/login', signal: 'unknown', right: all },
  { path: '/v1/%zz', signal: 'unknown', right: all },
  { path: '/v1/a b', sent: '/v1/a%20b?x=y', signal: 'unknown', right: all },
]
const grpc = [
  { path: '/v1/traces', signal: 'traces', right: grpcMethods.traces },
  {
    path: service('profiles.v1experimental.ProfilesService'),
    signal: 'profiles',
    right: grpcMethods.profiles,
  },
  { path: '/opentelemetry.proto.collector.trace.v1.TraceService/Send', signal: 'traces', right: grpcMethods.traces },
]

for (const fastPath of ['true', 'false']) {
  const readers = [
    { name: 'HTTP/1.1', transport: 'http', status: 404, ask: overHttp1, paths: http },
    { name: 'HTTP/2', transport: 'http', status: 404, ask: overHttp2, paths: http },
    { name: 'gRPC', transport: 'grpc', status: 12, ask: overGrpc, paths: grpc },
  ].map((reader) => ({ ...reader, fastPath }))
  test.each(readers)(
    'a valid token on a wrong path is visible over $name, with the fast path: $fastPath',
    async (reader) => {
      const { transport, status, ask, paths } = reader
      const sink = await startSink()
      const gateway = await startGateway({ PENSTOCK_UPSTREAM: sink.url, PENSTOCK_FAST_PATH: fastPath })
      const expected = new Map<string, (typeof paths)[number]>()
      for (const row of paths) {
        // A token of its own, because the log has one line per token in 10 seconds.
        const { id, token } = await gateway.token({ signals: ['logs'] })
        expected.set(id, row)
        const sent = 'sent' in row && row.sent !== undefined ? row.sent : row.path
        const replies = [
          await ask(gateway, sent, token),
          await ask(gateway, sent),
          await ask(gateway, sent, 'bad'.repeat(20)),
        ]
        for (const reply of replies) {
          // The same answer for all, so that it does not reveal whether a token is valid.
          expect(reply).toEqual({ code: status, message: replies[0]!.message })
          for (const right of row.right) expect(reply.message).toContain(right)
        }
      }

      const { json } = await gateway.call<{ wrong_paths: WrongPathRow[]; clients: unknown[]; requests: number }>(
        'GET',
        '/readiness',
      )
      expect(json).toMatchObject({ clients: [], requests: 0, would_reject: 0 })
      const byToken = new Map(json.wrong_paths.map((row) => [row.token_id, row]))
      expect(byToken.size).toBe(paths.length)
      const lines = logged(gateway, 'ingest.refused')
      expect(lines).toHaveLength(paths.length)
      for (const [id, { path, right }] of expected) {
        expect(byToken.get(id)).toMatchObject({
          path,
          right_paths: right,
          transport,
          network: '127.0.0.0/24',
          count: 1,
        })
        const line = lines.find(({ token_id }) => token_id === id)
        expect(line).toMatchObject({ reason: 'path', path, right_paths: right, transport, status, source: '127.0.0.1' })
      }
      const counted = new Map<string, number>()
      for (const line of await metricLines(gateway, 'otelcol_ingestauth_decisions')) {
        expect(line).toContain(`decision="reject",mode="off",reason="path"`)
        counted.set(/signal="(\w+)"/.exec(line)![1]!, Number(line.split(' ').at(-1)))
      }
      const wanted = new Map<string, number>()
      for (const { signal } of paths) wanted.set(signal, (wanted.get(signal) ?? 0) + 1)
      expect(counted).toEqual(wanted)
      expect(sink.requests).toEqual([])
    },
  )
}

test('lines about wrong paths are limited, and neither they nor the report contain secrets', async () => {
  const sink = await startSink()
  const gateway = await startGateway({ PENSTOCK_UPSTREAM: sink.url, PENSTOCK_CREDENTIAL_SOURCES: 'query' })
  const { token } = await gateway.token({ allow_query: true })
  for (let count = 0; count < 5; count += 1) await overHttp1(gateway, `/v1/trace/${token}`, token)
  await overHttp1(gateway, `/v1/traces/%70sin_${token.slice('psin_'.length)}`, token)
  await overHttp1(gateway, `/?access_token=${token}`)
  await exportOnce(gateway.otlpPort, 'HTTP protobuf', { token })

  expect(logged(gateway, 'ingest.refused')).toHaveLength(1)
  const { json } = await gateway.call<{ wrong_paths: WrongPathRow[] }>('GET', '/readiness')
  expect(json.wrong_paths).toMatchObject([
    { path: '', right_paths: ['/v1/traces'], count: 6 },
    { path: '/', count: 1 },
  ])
  expect(JSON.stringify(json) + gateway.logs()).not.toContain(token.slice(20))
})
