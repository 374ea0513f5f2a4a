import { encodeExportResponse, encodeRpcStatus } from '@penstock/otlp'
import { refusedUrl, type ScriptedReply } from '@penstock/testkit'
import { expect, test } from 'vitest'
import { startSink } from './accepting-sink.ts'
import { type ClientKind, clientKinds, type ExportReply, exportOnce } from './export-client.ts'
import { logged } from './metrics-page.ts'
import { startGateway } from './running-gateway.ts'

const page = '<html><h1>Bad Gateway of some load balancer</h1></html>'
const protobuf = { 'content-type': 'application/x-protobuf' }
const inAnHour = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + 3_600_000).toUTCString()
const reply = (
  status: number,
  headers: Record<string, string> = {},
  body: string | Uint8Array = '',
): ScriptedReply => ({
  play: 'reply',
  status,
  headers,
  body,
})
const html = (status: number): ScriptedReply => reply(status, { 'content-type': 'text/html' }, page)
const ownStatus = (code: number, message: string, retryDelayMs?: number) =>
  encodeRpcStatus({ code, message, retryDelayMs }, 'protobuf')

interface Row {
  readonly upstream: ScriptedReply
  /** The HTTP status, the code in its Status, and Retry-After. */
  readonly http: readonly [number, number | undefined, string?]
  /** The gRPC code and the seconds of RetryInfo. */
  readonly grpc: readonly [number, string?]
  readonly message: string
}

/** The replies of an upstream, and the answers that clients get (P-6, P-13 to P-15). */
const rows: Readonly<Record<string, Row>> = {
  'reset before a reply': row({ play: 'reset' }, [502, 14], [14], 'the connection to the upstream broke'),
  'reset after the head of a 200': row(
    { play: 'reset', status: 200 },
    [502, 14],
    [14],
    'the connection to the upstream broke',
  ),
  'reset in the middle of a 200': row(
    { play: 'reset', status: 200, body: '{"par' },
    [502, 14],
    [14],
    'the connection to the upstream broke',
  ),
  'something that is no HTTP': row(
    { play: 'raw', bytes: 'hello\n' },
    [502, 14],
    [14],
    'the connection to the upstream broke',
  ),
  '429, Retry-After 7': row(
    reply(429, { 'retry-after': '7' }),
    [429, 14, '7'],
    [14, '7'],
    'the upstream answered HTTP 429',
  ),
  '429, Retry-After 0': row(
    reply(429, { 'retry-after': '0' }),
    [429, 14, '1'],
    [14, '1'],
    'the upstream answered HTTP 429',
  ),
  '429, Retry-After with a date': row(
    reply(429, { 'retry-after': inAnHour }),
    [429, 14, inAnHour],
    [14, 'about an hour'],
    'the upstream answered HTTP 429',
  ),
  '429 without a wait': row(reply(429), [429, 14, '2'], [14, '2'], 'the upstream answered HTTP 429'),
  '503, Retry-After 5': row(
    reply(503, { 'retry-after': '5' }),
    [503, 14, '5'],
    [14, '5'],
    'the upstream answered HTTP 503',
  ),
  '503 with RetryInfo alone': row(
    reply(503, protobuf, ownStatus(14, 'come back', 9_000)),
    [503, 14, '9'],
    [14, '9'],
    'come back',
  ),
  '503, HTML': row(html(503), [503, 14, '2'], [14, '2'], 'the upstream answered HTTP 503'),
  408: row(reply(408), [503, 14, '2'], [14, '2'], 'the upstream answered HTTP 408'),
  '500, HTML': row(html(500), [500, 2], [2], 'the upstream answered HTTP 500'),
  '500 with a Status': row(reply(500, protobuf, ownStatus(13, 'broken')), [500, 13], [13], 'broken'),
  501: row(reply(501), [501, 2], [2], 'the upstream answered HTTP 501'),
  '502, HTML': row(html(502), [502, 14], [14], 'the upstream answered HTTP 502'),
  504: row(reply(504), [504, 4], [4], 'the upstream answered HTTP 504'),
  520: row(html(520), [503, 14, '2'], [14, '2'], 'the upstream answered HTTP 520'),
  599: row(reply(599), [503, 14, '2'], [14, '2'], 'the upstream answered HTTP 599'),
  302: row(reply(302, { location: 'http://127.0.0.1:1/' }), [502, 14], [14], 'the upstream answered HTTP 302'),
  307: row(reply(307, { location: '/v1/traces' }), [502, 14], [14], 'the upstream answered HTTP 307'),
  '404, HTML': row(html(404), [503, 14, '2'], [14, '2'], 'the upstream does not serve OTLP where it should: HTTP 404'),
  405: row(reply(405), [503, 14, '2'], [14, '2'], 'the upstream does not serve OTLP where it should: HTTP 405'),
  400: row(reply(400), [400, 3], [3], 'the upstream answered HTTP 400'),
  '400 with a Status': row(
    reply(400, protobuf, ownStatus(3, 'span without a name')),
    [400, 3],
    [3],
    'span without a name',
  ),
  '413, HTML': row(html(413), [413, 8], [8], 'the upstream answered HTTP 413'),
  '401 of our own credential': row(
    reply(401),
    [503, 14, '2'],
    [14, '2'],
    'the upstream does not accept the gateway itself',
  ),
  '403 of our own credential': row(
    reply(403, protobuf, ownStatus(7, 'key revoked')),
    [503, 14, '2'],
    [14, '2'],
    'the upstream does not accept the gateway itself',
  ),
  'a 503 without end': row({ play: 'flood', status: 503 }, [503, 14, '2'], [14, '2'], 'the upstream answered HTTP 503'),
  'a 400 without end': row({ play: 'flood', status: 400 }, [500, 13], [13], 'the upstream answered HTTP 400'),
  'a 200 without end': row({ play: 'flood', status: 200 }, [200, undefined], [0], ''),
  204: row(reply(204), [200, undefined], [0], ''),
  '200, an empty partial success': row(reply(200, protobuf, Buffer.of(0x0a, 0)), [200, undefined], [0], ''),
  '200, a partial success': row(
    reply(200, protobuf, encodeExportResponse('traces', { rejected: 3n, message: 'too old' }, 'protobuf')),
    [200, undefined],
    [0],
    '3 rejected: too old',
  ),
  '200, a warning in JSON': row(
    reply(200, { 'content-type': 'application/json' }, '{"partialSuccess":{"errorMessage":"soon"}}'),
    [200, undefined],
    [0],
    '0 rejected: soon',
  ),
}

function row(upstream: ScriptedReply, http: Row['http'], grpc: Row['grpc'], message: string): Row {
  return { upstream, http, grpc, message }
}

const expectedOf = ({ http: [status, code, wait], grpc, message }: Row, kind: ClientKind): unknown[] =>
  kind === 'gRPC' ? [grpc[0], grpc[1], message] : [status, code, wait, message]

function toRow({ code, statusCode, retryAfter, message, partial }: ExportReply, kind: ClientKind): unknown[] {
  const text = partial === undefined ? message : `${partial.rejected} rejected: ${partial.message}`
  if (kind !== 'gRPC') return [code, statusCode, retryAfter, text]
  const isAnHour = Number(retryAfter) > 3_500 && Number(retryAfter) <= 3_601
  return [code, isAnHour ? 'about an hour' : retryAfter, text]
}

test.each(clientKinds.flatMap((kind) => ['true', 'false'].map((coalesce) => [kind, coalesce] as const)))(
  'every reply of an HTTP upstream gives the expected answer (%s, coalescing: %s)',
  async (kind, coalesce) => {
    let upstream: ScriptedReply = { play: 'silence' }
    const sink = await startSink(() => upstream)
    const gateway = await startGateway({ PENSTOCK_UPSTREAM: sink.url, PENSTOCK_COALESCE: coalesce })
    const { token } = await gateway.token()
    await gateway.enforce(true)
    const answers: Record<string, unknown[]> = {}
    const types = new Set<string | undefined>()
    for (const [name, { upstream: next }] of Object.entries(rows)) {
      upstream = next
      const answer = await exportOnce(gateway.otlpPort, kind, { token })
      answers[name] = toRow(answer, kind)
      if (kind !== 'gRPC') types.add(answer.headers['content-type'])
    }
    expect(answers).toEqual(
      Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, expectedOf(row, kind)])),
    )
    // P-5: the encoding is that of the request, whatever the upstream used.
    if (kind !== 'gRPC')
      expect([...types]).toEqual([kind === 'HTTP JSON' ? 'application/json' : 'application/x-protobuf'])
    // One warning of each kind per minute, and nothing was sent twice.
    expect(sink.requests).toHaveLength(Object.keys(rows).length)
    expect(logged(gateway, 'upstream.credential')).toHaveLength(1)
    expect(logged(gateway, 'upstream.misplaced')).toHaveLength(1)
  },
)

test.each(clientKinds)('an upstream that refuses connections is unreachable (%s)', async (kind) => {
  const gateway = await startGateway({ PENSTOCK_UPSTREAM: await refusedUrl() })
  const { token } = await gateway.token()
  const answer = await exportOnce(gateway.otlpPort, kind, { token })
  expect([answer.code, answer.retryAfter, answer.message]).toEqual([
    kind === 'gRPC' ? 14 : 503,
    '2',
    'the upstream cannot be reached',
  ])
})

test.each(clientKinds)(
  'if credentials are passed through, a 401 or 403 of the upstream is passed to the client (%s)',
  async (kind) => {
    const sink = await startSink([reply(401), reply(403)])
    const gateway = await startGateway({ PENSTOCK_UPSTREAM: sink.url, PENSTOCK_PASS_CREDENTIAL_THROUGH: 'true' })
    const options = { headers: { authorization: 'Bearer of-the-client' } }
    const codes = [
      (await exportOnce(gateway.otlpPort, kind, options)).code,
      (await exportOnce(gateway.otlpPort, kind, options)).code,
    ]
    expect(codes).toEqual(kind === 'gRPC' ? [16, 7] : [401, 403])
    expect(sink.requests[0]!.headers.authorization).toBe('Bearer of-the-client')
  },
)
