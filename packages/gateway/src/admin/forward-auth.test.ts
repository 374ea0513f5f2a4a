import { decodeRpcStatus } from '@penstock/otlp'
import { jsonLog, silentLog } from '@penstock/runtime'
import { describe, expect, test } from 'vitest'
import type { Admission, AdmissionRequest, Admitted } from '../contract/admission.ts'
import type { Refusal } from '../contract/refusals.ts'
import type { EnforcementMode } from '../contract/snapshot.ts'
import { tokenRecord } from '../contract/token-record.harness.ts'
import type { WrongPathRequest } from '../contract/wrong-path.ts'
import { type CheckAnswer, type ForwardAuthParts, forwardAuth, loopbackProxies } from './forward-auth.ts'

const token = tokenRecord({ name: 'Läufer', signals: new Set(['traces']), tenant: 'blue' })

const verified: Admitted = {
  admitted: true,
  token,
  auth: 'verified',
  wouldReject: undefined,
  warning: undefined,
  expiresAt: undefined,
  sample: undefined,
}
const admittedWithoutToken = (auth: Admitted['auth']): Admitted => ({
  ...verified,
  token: undefined,
  auth,
  wouldReject: 'missing',
})
const refusal = (made: Refusal): Admission => ({ admitted: false, refusal: made })
const badToken = refusal({
  kind: 'unauthenticated',
  message: 'The token is not valid.',
  challenge: 'Bearer realm="otlp"',
})
const overLimit = refusal({ kind: 'over_limit', message: 'Over its limit.', retryAfterSeconds: 7 })
const storeDown = refusal({ kind: 'store_unreadable', message: 'No tokens.', retryAfterSeconds: 3 })

const nginx = { url: '/forward-auth?proxy=nginx', headers: { 'X-Original-URI': '/v1/traces' } }
const traefik = { url: '/forward-auth', headers: { 'X-Forwarded-Uri': '/v1/traces' } }
const envoy = { url: '/forward-auth/v1/traces', headers: {} }

function ask(
  admission: Admission,
  { url, headers }: { url: string; headers: Record<string, string> | readonly (readonly [string, string])[] },
  rest: Partial<ForwardAuthParts> & { source?: string; enforcement?: EnforcementMode } = {},
): { answer: CheckAnswer; presented: AdmissionRequest[] } {
  const presented: AdmissionRequest[] = []
  const check = forwardAuth({
    admit: (shown) => {
      presented.push(shown)
      return admission
    },
    mode: () => rest.enforcement ?? 'enforce',
    proxies: loopbackProxies,
    credentialSources: [],
    extraPaths: {},
    tenantHeader: false,
    monotonicMs: () => 0,
    random: () => 0,
    log: silentLog,
    ...rest,
  })
  const pairs = Array.isArray(headers) ? headers : Object.entries(headers)
  return { answer: check({ url, rawHeaders: pairs.flat(), source: rest.source ?? '127.0.0.1' }), presented }
}

describe('the status by outcome and proxy', () => {
  test.each([
    ['allow', verified, 200, 200, 200],
    ['bad token', badToken, 401, 401, 401],
    ['not permitted', refusal({ kind: 'forbidden', message: 'no' }), 403, 403, 403],
    ['over limit', overLimit, 429, 429, 429],
    ['gateway unavailable', storeDown, 503, 429, 503],
  ])('%s', (_, admission, generic, forEnvoy, forNginx) => {
    expect(ask(admission, traefik).answer.status).toBe(generic)
    expect(ask(admission, envoy).answer.status).toBe(forEnvoy)
    expect(ask(admission, nginx).answer.status).toBe(forNginx)
  })

  test('a retryable refusal has Retry-After', () => {
    expect(ask(overLimit, traefik).answer.headers['retry-after']).toBe('7')
    expect(ask(storeDown, envoy).answer.headers['retry-after']).toBe('3')
  })

  test('P-12: a refusal contains the challenge', () => {
    expect(ask(badToken, nginx).answer.headers['www-authenticate']).toBe('Bearer realm="otlp"')
  })
})

describe('F-1, F-5: the headers of an admission', () => {
  test('contain token, verdict and tenant, and forbid caching', () => {
    expect(ask(verified, traefik, { tenantHeader: true }).answer).toEqual({
      status: 200,
      headers: {
        'cache-control': 'no-store',
        'x-ingest-capabilities': 'auth',
        'x-ingest-token-id': '7Hq2mK9sT4bZ',
        'x-ingest-token-name': 'L%C3%A4ufer',
        'x-ingest-auth': 'verified',
        'x-scope-orgid': 'blue',
      },
      body: undefined,
    })
  })

  test('instruct Envoy to remove the token, and reserved headers that the client may have sent', () => {
    const removed = (admission: Admission) =>
      ask(admission, envoy, { tenantHeader: true, credentialSources: ['x-api-key'] }).answer.headers[
        'x-envoy-auth-headers-to-remove'
      ]
    expect(removed(verified)).toBe('authorization,x-api-key')
    expect(removed(admittedWithoutToken('unverified'))).toBe(
      'authorization,x-api-key,x-ingest-token-id,x-ingest-token-name,x-scope-orgid',
    )
  })

  test('use is reported, with the bytes that nginx declares', () => {
    const uses: unknown[] = []
    const onAdmitted: ForwardAuthParts['onAdmitted'] = (admitted, signal, bytes) =>
      uses.push([admitted.token?.id, signal, bytes])
    ask(verified, { ...nginx, headers: { ...nginx.headers, 'X-Original-Content-Length': '512' } }, { onAdmitted })
    ask(verified, { ...traefik, headers: { ...traefik.headers, 'X-Original-Content-Length': '512' } }, { onAdmitted })
    ask(admittedWithoutToken('off'), traefik, { onAdmitted })
    expect(uses).toEqual([
      ['7Hq2mK9sT4bZ', 'traces', 512],
      ['7Hq2mK9sT4bZ', 'traces', 0],
    ])
  })
})

test.each(['off', 'unverified'] as const)(
  'F-2: without enforcement the answer is 200 with the reason for which enforcement would reject (%s)',
  (auth) => {
    const { status, headers } = ask(admittedWithoutToken(auth), traefik).answer
    expect(status).toBe(200)
    expect(headers).toMatchObject({ 'x-ingest-auth': 'unverified', 'x-ingest-would-reject': 'missing' })
  },
)

describe('P-5: the body of a refusal', () => {
  const withType = (contentType: string) => ({
    ...traefik,
    headers: { ...traefik.headers, 'Content-Type': contentType },
  })

  test.each([
    ['application/x-protobuf', 'protobuf'],
    ['application/json; charset=utf-8', 'json'],
    ['text/plain', 'json'],
  ] as const)('a refusal of %s is answered in %s', (contentType, encoding) => {
    const { headers, body } = ask(badToken, withType(contentType)).answer
    expect(headers['content-type']).toBe(encoding === 'json' ? 'application/json' : 'application/x-protobuf')
    expect(decodeRpcStatus(body!, encoding)).toEqual({
      code: 16,
      message: 'The token is not valid.',
      retryDelayMs: undefined,
    })
  })

  test('F-4: a refusal of a gRPC call has a text body, which Envoy turns into the message', () => {
    const call = '/forward-auth/opentelemetry.proto.collector.trace.v1.TraceService/Export'
    const { answer, presented } = ask(badToken, { url: call, headers: { 'Content-Type': 'application/grpc' } })
    expect(Buffer.from(answer.body!).toString()).toBe('The token is not valid.')
    expect(presented[0]?.signal).toBe('traces')
  })

  test('a refusal for nginx, which drops the body, has the text in a header that is safe in a quoted string', () => {
    const odd = refusal({ kind: 'forbidden', message: 'say "no"\\\n' })
    expect(ask(odd, nginx).answer.headers['x-ingest-refusal']).toBe('say _no___')
  })
})

describe('the requested path', () => {
  test.each([
    ['/forward-auth', { 'X-Forwarded-Uri': '/v1/logs?x=1' }, 'logs'],
    ['/forward-auth?proxy=nginx', { 'X-Original-URI': '/v1/metrics' }, 'metrics'],
    ['/forward-auth/v1/logs?proxy=nginx', {}, 'logs'],
    ['/forward-auth?proxy=envoy/v1development/profiles', {}, 'profiles'],
    ['/forward-auth/otlp/in', {}, 'traces'],
    ['/forward-auth/%76%31/logs', {}, 'logs'],
  ])('%s %o', (url, headers, signal) => {
    const { presented } = ask(verified, { url, headers }, { extraPaths: { '/otlp/in': 'traces' } })
    expect(presented.map((shown) => shown.signal)).toEqual([signal])
  })

  test.each<[string, string, readonly (readonly [string, string])[]]>([
    ['Traefik does not know X-Original-URI', '/forward-auth', [['X-Original-URI', '/v1/traces']]],
    ['nginx does not know X-Forwarded-Uri', '/forward-auth?proxy=nginx', [['X-Forwarded-Uri', '/v1/traces']]],
    ['Envoy says it in the path alone', '/forward-auth?proxy=envoy', [['X-Original-URI', '/v1/traces']]],
    [
      "one of two is the client's",
      '/forward-auth?proxy=nginx',
      [
        ['X-Original-URI', '/v1/traces'],
        ['x-original-uri', '/v1/logs'],
      ],
    ],
    ['the check of another path', '/forward-auth?proxy=nginx', [['X-Original-URI', '/v1//traces']]],
  ])('P-2: is not accepted: %s', (_, url, headers) => {
    const { answer, presented } = ask(verified, { url, headers })
    expect(answer.status).toBe(403)
    expect(presented).toEqual([])
  })

  test('F-2: a path that carries no signal passes without enforcement', () => {
    const { status, headers } = ask(verified, { ...traefik, headers: {} }, { enforcement: 'report' }).answer
    expect(status).toBe(200)
    expect(headers).toMatchObject({ 'x-ingest-auth': 'unverified', 'x-ingest-would-reject': 'path' })
  })

  test('E-10: before the tokens are read, the answer is retryable', () => {
    expect(ask(verified, { ...traefik, headers: {} }, { mode: () => undefined }).answer.status).toBe(503)
  })

  test('reports a check of a path that accepts no telemetry, with the right path', () => {
    const sent: WrongPathRequest[] = []
    const rest = { recordWrongPath: (request: WrongPathRequest) => sent.push(request) }
    const { answer } = ask(verified, { url: '/forward-auth/v1/trace', headers: { Authorization: 'Bearer good' } }, rest)
    expect(answer.status).toBe(403)
    expect(sent).toMatchObject([
      {
        transport: 'forward-auth',
        path: '/v1/trace',
        credential: { kind: 'bearer', value: 'good' },
        suggestion: { signal: 'traces', paths: ['/v1/traces'] },
      },
    ])
  })

  test('answers 404 for other paths', () => {
    expect(ask(verified, { url: '/forward-authority', headers: {} }).answer.status).toBe(404)
  })
})

describe('the proxy', () => {
  test('must be a configured one; others are refused, and logged at intervals', () => {
    const lines: string[] = []
    const log = jsonLog({ write: (line) => lines.push(line) }, () => 0)
    const stranger = ask(verified, traefik, { source: '192.0.2.1', log })
    expect(stranger.answer.status).toBe(403)
    expect(stranger.presented).toEqual([])
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { event: 'forward_auth.stranger', source: '192.0.2.1' },
    ])
  })

  test('determines the source by what it appended itself, not by what the client claims', () => {
    const claimed = { ...traefik, headers: { ...traefik.headers, 'X-Forwarded-For': '198.51.100.1, 203.0.113.9' } }
    expect(ask(verified, claimed).presented[0]?.source).toBe('203.0.113.9')
    const nonsense = { ...traefik, headers: { ...traefik.headers, 'X-Forwarded-For': 'unknown' } }
    expect(ask(verified, nonsense).presented[0]?.source).toBe('127.0.0.1')
  })
})

test('T-9: two credentials are malformed', () => {
  const headers = [
    ['X-Forwarded-Uri', '/v1/traces'],
    ['Authorization', 'Bearer a'],
    ['Authorization', 'Bearer b'],
  ] as const
  expect(ask(verified, { url: '/forward-auth', headers }).presented[0]?.credential).toEqual({ kind: 'malformed' })
})

test('T-9: a credential in the query is used where that is allowed', () => {
  const inQuery = { url: '/forward-auth', headers: { 'X-Forwarded-Uri': '/v1/traces?access_token=abc' } }
  expect(ask(verified, inQuery, { credentialSources: ['query'] }).presented[0]?.credential).toEqual({
    kind: 'bearer',
    value: 'abc',
    from: 'query',
  })
})

test.each([
  [traefik, 503],
  [envoy, 429],
  [nginx, 503],
])('an error inside the gateway is retryable (%o)', (request, status) => {
  const broken = ask(verified, request, {
    admit: () => {
      throw new Error('a bug')
    },
  })
  expect(broken.answer.status).toBe(status)
  expect(broken.answer.headers['retry-after']).toBe('2')
})
