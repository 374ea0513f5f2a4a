import { encodeExportResponse, encodeRpcStatus } from '@penstock/otlp'
import { refusedUrl } from '@penstock/testkit'
import { expect, onTestFinished, test } from 'vitest'
import {
  type GrpcPlay,
  GrpcScript,
  ok,
  reply,
  trailersOnly,
} from '../../packages/gateway/src/upstream/grpc-script.harness.ts'
import { type ClientKind, clientKinds, type ExportReply, exportOnce } from './export-client.ts'
import { startGateway } from './running-gateway.ts'
import { itemsIn } from './telemetry.ts'

const details = (code: number, message: string, retryDelayMs?: number) =>
  Buffer.from(encodeRpcStatus({ code, message, retryDelayMs }, 'protobuf')).toString('base64')
const refused = (code: number, message = 'because', retryDelayMs?: number): GrpcPlay =>
  trailersOnly({
    'grpc-status': String(code),
    'grpc-message': message,
    ...(retryDelayMs !== undefined && { 'grpc-status-details-bin': details(code, message, retryDelayMs) }),
  })
const partial = (rejected: bigint, message: string): GrpcPlay =>
  reply({ message: encodeExportResponse('traces', { rejected, message }, 'protobuf') })

interface Row {
  readonly upstream: GrpcPlay
  /** The HTTP status and Retry-After. */
  readonly http: readonly [number, string?]
  /** The gRPC code and the seconds of RetryInfo. */
  readonly grpc: readonly [number, string?]
  readonly message: string
}

const row = (upstream: GrpcPlay, http: Row['http'], grpc: Row['grpc'], message = 'because'): Row => ({
  upstream,
  http,
  grpc,
  message,
})

/** The replies of a gRPC upstream, and the answers that clients get (P-14, P-24, P-25). */
const rows: Readonly<Record<string, Row>> = {
  'all accepted': row(ok, [200], [0], ''),
  'partial success': row(partial(3n, 'too old'), [200], [0], '3 rejected: too old'),
  'warning in the reply': row(partial(0n, 'soon'), [200], [0], '0 rejected: soon'),
  'code 1': row(refused(1), [502], [1]),
  'code 2': row(refused(2), [500], [2]),
  'code 3': row(refused(3), [400], [3]),
  'code 4': row(refused(4), [504], [4]),
  'code 5': row(refused(5), [400], [5]),
  'code 7, our own credential': row(
    refused(7),
    [503, '2'],
    [14, '2'],
    'upstream refuses the credential of the gateway',
  ),
  'code 8 without RetryInfo': row(refused(8), [413], [8]),
  'code 8 with RetryInfo': row(refused(8, 'because', 6_000), [429, '6'], [8, '6']),
  'code 10': row(refused(10), [502], [10]),
  'code 11': row(refused(11), [502], [11]),
  'code 12': row(refused(12), [503, '2'], [14, '2'], 'upstream does not take this kind of telemetry'),
  'code 13': row(refused(13), [500], [13]),
  'code 14 with RetryInfo': row(refused(14, 'because', 5_000), [503, '5'], [14, '5']),
  'code 14 without': row(refused(14), [503, '2'], [14, '2']),
  'code 15': row(refused(15), [502], [15]),
  'code 16, our own credential': row(
    refused(16),
    [503, '2'],
    [14, '2'],
    'upstream refuses the credential of the gateway',
  ),
  'HTTP 503 of a proxy': row(
    ({ stream }) => stream.respond({ ':status': 503, 'content-type': 'text/html' }, { endStream: true }),
    [503, '2'],
    [14, '2'],
    'upstream answered HTTP 503 without a gRPC status',
  ),
  'HTTP 404 of a proxy': row(
    ({ stream }) => stream.respond({ ':status': 404, 'content-type': 'text/html' }, { endStream: true }),
    [503, '2'],
    [14, '2'],
    'upstream answered HTTP 404 without a gRPC status',
  ),
  'reset of the stream': row(({ stream }) => stream.close(2), [502], [14], 'upstream broke off before its answer'),
}

function toRow({ code, retryAfter, message, partial: remark }: ExportReply): unknown[] {
  return [code, retryAfter, remark === undefined ? message : `${remark.rejected} rejected: ${remark.message}`]
}

const expectedOf = ({ http, grpc, message }: Row, kind: ClientKind): unknown[] =>
  kind === 'gRPC' ? [grpc[0], grpc[1], message] : [http[0], http[1], message]

test.each(clientKinds)('every reply of a gRPC upstream gives the expected answer (%s)', async (kind) => {
  let play: GrpcPlay = ok
  const upstream = await GrpcScript.start((request) => play(request))
  onTestFinished(() => upstream.close())
  const gateway = await startGateway({ PENSTOCK_UPSTREAM: upstream.url.href.replace(/\/$/, '') })
  const { token } = await gateway.token()
  const answers: Record<string, unknown[]> = {}
  for (const [name, { upstream: next }] of Object.entries(rows)) {
    play = next
    answers[name] = toRow(await exportOnce(gateway.otlpPort, kind, { token, items: [name] }))
  }
  expect(answers).toEqual(Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, expectedOf(row, kind)])))
  expect(upstream.requests.map(({ framed }) => itemsIn(framed.subarray(5), 'protobuf')[0])).toEqual(Object.keys(rows))
})

test.each(clientKinds)('a gRPC upstream that refuses connections is unreachable (%s)', async (kind) => {
  const gateway = await startGateway({ PENSTOCK_UPSTREAM: (await refusedUrl()).replace('http', 'grpc') })
  const answer = await exportOnce(gateway.otlpPort, kind)
  expect([answer.code, answer.retryAfter]).toEqual([kind === 'gRPC' ? 14 : 503, '2'])
})
