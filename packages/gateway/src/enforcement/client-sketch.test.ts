import { setImmediate as turn } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { encodeRequest } from '@penstock/otlp'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { AdmissionRequest, Reason, Verdict } from '../contract/admission.ts'
import type { TokenRecord } from '../contract/token-record.ts'
import { ClientSketch, userAgentFamily } from './client-sketch.ts'

const NOW_MS = Date.UTC(2026, 10, 21, 12, 30)
const HOUR_MS = 3_600_000

const presentedBy = (over: Partial<AdmissionRequest> = {}): AdmissionRequest => ({
  transport: 'http',
  signal: 'traces',
  credential: { kind: 'none' },
  origin: undefined,
  certificateNames: undefined,
  source: '192.0.2.7',
  userAgent: 'OTel-OTLP-Exporter-Python/1.20 (linux)',
  requestId: undefined,
  declaredBytes: 10,
  ...over,
})
const refused = (reason: Reason, token?: TokenRecord): Verdict => ({ allowed: false, reason, token })
const allowed: Verdict = { allowed: true, token: { id: '7Hq2mK9sT4bZ' } as TokenRecord }

const exportOf = (serviceName: string) =>
  encodeRequest(
    'traces',
    {
      resources: [
        {
          resource: {
            attributes: [{ key: 'service.name', type: 'string', value: serviceName }],
            droppedAttributesCount: 0,
          },
          scopes: [],
          schemaUrl: '',
        },
      ],
    },
    'protobuf',
  )

test('a client is identified by network, agent family, signal, transport, reason and token', () => {
  const sketch = new ClientSketch()
  sketch.recordVerdict(presentedBy(), refused('missing'), NOW_MS)
  sketch.recordVerdict(
    presentedBy({ source: '192.0.2.99', userAgent: 'OTel-OTLP-Exporter-Python/1.21' }),
    refused('missing'),
    NOW_MS + 5,
  )
  sketch.recordVerdict(presentedBy({ transport: 'grpc' }), refused('expired', allowed.token), NOW_MS)
  sketch.recordVerdict(presentedBy(), allowed, NOW_MS + 60_000)
  expect(sketch.report()).toEqual({
    minutes: [
      { startMs: NOW_MS + 60_000, requests: 1, wouldReject: 0 },
      { startMs: NOW_MS, requests: 3, wouldReject: 3 },
    ],
    clients: [
      {
        network: '192.0.2.0/24',
        userAgent: 'OTel-OTLP-Exporter-Python',
        signal: 'traces',
        transport: 'http',
        reason: 'missing',
        tokenId: undefined,
        serviceNames: [],
        firstSeenMs: NOW_MS,
        lastSeenMs: NOW_MS + 5,
        count: 2,
      },
      {
        network: '192.0.2.0/24',
        userAgent: 'OTel-OTLP-Exporter-Python',
        signal: 'traces',
        transport: 'grpc',
        reason: 'expired',
        tokenId: '7Hq2mK9sT4bZ',
        serviceNames: [],
        firstSeenMs: NOW_MS,
        lastSeenMs: NOW_MS,
        count: 1,
      },
    ],
  })
})

test.each([
  [undefined, ''],
  ['', ''],
  ['curl/8.5.0', 'curl'],
  ['OpenTelemetry Collector Contrib/0.120.0', 'OpenTelemetry'],
  ['x'.repeat(500), 'x'.repeat(64)],
])('the family of the user agent %j is %j', (userAgent, family) => {
  expect(userAgentFamily(userAgent)).toBe(family)
})

test('samples the first bodies of a client that enforcement would refuse, then fewer, and again after ten seconds', () => {
  const sketch = new ClientSketch()
  const wanted = Array.from({ length: 40 }, (_, index) =>
    sketch.recordVerdict(presentedBy(), refused('missing'), NOW_MS + index * 400),
  )
  const numbers = wanted.flatMap((isWanted, index) => (isWanted ? [index + 1] : []))
  expect(numbers).toEqual([...Array.from({ length: 16 }, (_, index) => index + 1), 32])
  expect(sketch.recordVerdict(presentedBy(), refused('missing'), NOW_MS + 31 * 400 + 10_000)).toBe(true)
  expect(sketch.recordVerdict(presentedBy(), allowed, NOW_MS)).toBe(false)
})

test('keeps the names of the services that send through one client, ten at most, the last one first', () => {
  const sketch = new ClientSketch()
  for (let number = 1; number <= 12; number += 1) {
    const presented = presentedBy()
    sketch.recordVerdict(presented, refused('missing'), NOW_MS + number * 1_000)
    sketch.recordBody(presented, exportOf(`service ${Math.max(number, 2)}`), '')
  }
  const names = sketch.report().clients[0]!.serviceNames
  expect(names).toEqual(Array.from({ length: 10 }, (_, index) => `service ${12 - index}`))
})

test('samples at most ten bodies a second of new clients', () => {
  const sketch = new ClientSketch()
  const wantedAt = (atMs: number) =>
    Array.from({ length: 50 }, (_, index) =>
      sketch.recordVerdict(presentedBy({ source: `10.${atMs % 200}.${index}.1` }), refused('missing'), NOW_MS + atMs),
    ).filter(Boolean).length
  expect([wantedAt(0), wantedAt(999), wantedAt(1_000)]).toEqual([10, 0, 10])
})

test('reads the service name from a body that is plain, gzipped or truncated', async () => {
  const sketch = new ClientSketch()
  const bodies: [string, Uint8Array, string][] = [
    ['10.0.1.1', exportOf('plain'), ''],
    ['10.0.2.1', gzipSync(exportOf('gzipped')), 'gzip'],
    ['10.0.3.1', gzipSync(Buffer.concat([exportOf('cut-short'), Buffer.alloc(9_000_000)])).subarray(0, 200), 'gzip'],
    ['10.0.4.1', exportOf('other coding'), 'zstd'],
    ['10.0.5.1', Buffer.from('no gzip'), 'gzip'],
  ]
  for (const [source, body, coding] of bodies) {
    const presented = presentedBy({ source })
    expect(sketch.recordVerdict(presented, refused('missing'), NOW_MS)).toBe(true)
    sketch.recordBody(presented, body, coding)
  }
  const named = () => sketch.report().clients.filter(({ serviceNames }) => serviceNames.length > 0)
  while (named().length < 3) await turn()
  expect(
    named()
      .map(({ network, serviceNames }) => [network, serviceNames[0]])
      .toSorted(),
  ).toEqual([
    ['10.0.1.0/24', 'plain'],
    ['10.0.2.0/24', 'gzipped'],
    ['10.0.3.0/24', 'cut-short'],
  ])
})

test('ignores a body that was not sampled', () => {
  const sketch = new ClientSketch()
  sketch.recordVerdict(presentedBy(), refused('missing'), NOW_MS)
  sketch.recordBody(presentedBy(), exportOf('x'), '')
  expect(sketch.report().clients[0]?.serviceNames).toEqual([])
})

test('counts and minutes cover the last 24 hours', () => {
  const sketch = new ClientSketch()
  for (let hour = 0; hour < 30; hour += 1)
    sketch.recordVerdict(presentedBy(), refused('missing'), NOW_MS + hour * HOUR_MS)
  sketch.recordVerdict(presentedBy({ signal: 'logs' }), refused('missing'), NOW_MS + 29 * HOUR_MS)
  const { clients, minutes } = sketch.report()
  expect(clients.map(({ signal, count }) => [signal, count])).toEqual([
    ['traces', 24],
    ['logs', 1],
  ])
  expect(minutes).toHaveLength(24)
  sketch.recordVerdict(presentedBy({ signal: 'logs' }), refused('missing'), NOW_MS + 60 * HOUR_MS)
  expect(sketch.report().clients.map(({ signal, count }) => [signal, count])).toEqual([['logs', 1]])
})

test('keeps at most its capacity of clients, never overestimates a count, and contains every heavy client', () => {
  const strangers = fc.array(fc.nat(400), { minLength: 50, maxLength: 1_500 })
  fc.assert(
    fc.property(strangers, fc.nat(3), (run, heavyEvery) => {
      const sketch = new ClientSketch(20)
      const truth = new Map<string, number>()
      const see = (thirdOctet: number, prefix: string) => {
        const source = `10.${prefix}.${thirdOctet % 250}.1`
        sketch.recordVerdict(presentedBy({ source }), refused('missing'), NOW_MS)
        const network = `10.${prefix}.${thirdOctet % 250}.0/24`
        truth.set(network, (truth.get(network) ?? 0) + 1)
      }
      run.forEach((stranger, index) => {
        see(stranger, '1')
        if (index % (heavyEvery + 1) === 0) see(7, '2')
      })
      const { clients } = sketch.report()
      const total = [...truth.values()].reduce((sum, count) => sum + count, 0)
      expect(clients.length).toBeLessThanOrEqual(20)
      for (const { network, count } of clients) expect(count).toBeLessThanOrEqual(truth.get(network) ?? 0)
      const heavy = [...truth].filter(([, count]) => count > total / 20).map(([network]) => network)
      expect(clients.map(({ network }) => network)).toEqual(expect.arrayContaining(heavy))
    }),
    { numRuns: 60 },
  )
})
