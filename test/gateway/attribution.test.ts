import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startCollector } from '../collector/collector.ts'
import { describeWithCollector } from '../collector/collector-suite.ts'
import { waitForExported } from '../collector/exported-file.ts'
import { startSink } from './accepting-sink.ts'
import { clientKinds, exportOnce, okCode } from './export-client.ts'
import { startGateway } from './running-gateway.ts'
import { itemsIn, resourcesIn } from './telemetry.ts'

const spoofed = {
  'x-ingest-token-id': 'AAAAAAAAAAAA',
  'x-ingest-token-name': 'somebody-else',
  'x-ingest-auth': 'verified',
  'x-scope-orgid': 'red',
}
const withSpoofedResource = {
  'ingest.token.id': 'AAAAAAAAAAAA',
  'ingest.token.name': 'somebody-else',
  'deployment.environment': 'test',
}

describe.each(clientKinds)('%s', (kind) => {
  test('X-10: upstream learns the identity of the sender from the gateway only', async () => {
    const sink = await startSink()
    const gateway = await startGateway({ PENSTOCK_UPSTREAM: sink.url, PENSTOCK_TENANT_HEADER: 'true' })
    const { id, token } = await gateway.token({ name: 'Überwachung, 100%', tenant: 'blue' })
    const homeless = await gateway.token({ name: 'homeless' })
    await exportOnce(gateway.otlpPort, kind, { token, headers: { ...spoofed, 'x-request-tag': 'kept' } })
    await exportOnce(gateway.otlpPort, kind, { token: homeless.token, headers: spoofed })
    await exportOnce(gateway.otlpPort, kind, { headers: spoofed })
    await gateway.enforce(false, { mode: 'report' })
    await exportOnce(gateway.otlpPort, kind, { headers: spoofed })

    const headers = sink.requests.map(({ headers }) => [
      headers['x-ingest-token-id'],
      headers['x-ingest-token-name'],
      headers['x-ingest-auth'],
      headers['x-scope-orgid'],
      headers.authorization,
    ])
    expect(headers).toEqual([
      [id, '%C3%9Cberwachung, 100%25', 'verified', 'blue', undefined],
      [homeless.id, 'homeless', 'verified', undefined, undefined],
      [undefined, undefined, 'off', undefined, undefined],
      [undefined, undefined, 'unverified', undefined, undefined],
    ])
    expect(sink.requests[0]!.headers['x-request-tag']).toBe('kept')
  })

  test('X-9: the gateway’s credential replaces the client’s', async () => {
    const sink = await startSink()
    const env = { PENSTOCK_UPSTREAM: sink.url, PENSTOCK_UPSTREAM_AUTHORIZATION: 'Bearer of-the-gateway' }
    const gateway = await startGateway(env)
    const { token } = await gateway.token()
    await exportOnce(gateway.otlpPort, kind, { token })
    await exportOnce(gateway.otlpPort, kind, { headers: { authorization: 'Bearer of-a-stranger' } })
    expect(sink.requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer of-the-gateway',
      'Bearer of-the-gateway',
    ])
  })

  test.each([false, true])(
    'X-11: the owner is written into every resource and replaces a spoofed one (gzip: %s)',
    async (gzip) => {
      const sink = await startSink()
      const gateway = await startGateway({ PENSTOCK_UPSTREAM: sink.url, PENSTOCK_ATTRIBUTE_RESOURCES: 'true' })
      const { id, token } = await gateway.token({ name: 'ci-runners' })
      const attributes = withSpoofedResource
      const signals = ['traces', 'metrics', 'logs'] as const
      for (const signal of signals) {
        const reply = await exportOnce(gateway.otlpPort, kind, { token, signal, attributes, gzip, items: ['a', 'b'] })
        expect([reply.code, reply.message]).toEqual([okCode[kind], ''])
      }
      const encoding = kind === 'HTTP JSON' ? 'json' : 'protobuf'
      for (const [index, signal] of signals.entries()) {
        const { body } = sink.requests[index]!
        expect(resourcesIn(body, encoding, signal)).toEqual([
          {
            'service.name': 'shop',
            'deployment.environment': 'test',
            'ingest.token.id': id,
            'ingest.token.name': 'ci-runners',
          },
        ])
        expect(itemsIn(body, encoding, signal)).toEqual(['a', 'b'])
      }
    },
  )

  test('X-11: an export without a token is not attributed, and a body that is not OTLP is refused before it reaches upstream', async () => {
    const sink = await startSink()
    const gateway = await startGateway({ PENSTOCK_UPSTREAM: sink.url, PENSTOCK_ATTRIBUTE_RESOURCES: 'true' })
    const { token } = await gateway.token()
    const body = kind === 'HTTP JSON' ? Buffer.from('{"resourceSpans":[') : Buffer.of(0x0a, 5)
    const reply = await exportOnce(gateway.otlpPort, kind, { token, body })
    expect([reply.code, sink.requests.length]).toEqual([kind === 'gRPC' ? 3 : 400, 0])
    await exportOnce(gateway.otlpPort, kind)
    expect(resourcesIn(sink.requests[0]!.body, kind === 'HTTP JSON' ? 'json' : 'protobuf')).toEqual([
      { 'service.name': 'shop' },
    ])
  })
})

const collectorConfig = (file: string) => `
receivers:
  otlp: {protocols: {http: {endpoint: "127.0.0.1:0", include_metadata: true}}}
processors:
  resource:
    attributes: [{key: seen.token.id, from_context: metadata.x-ingest-token-id, action: insert}]
exporters: {file: {path: "${file}", flush_interval: 50ms}}
service:
  pipelines:
    traces: {receivers: [otlp], processors: [resource], exporters: [file]}
`

describeWithCollector('attribution, with a collector as upstream', () => {
  test('X-10, X-11: the collector reads the header and the attributes', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'penstock-attribution-'))
    const file = join(directory, 'out.json')
    const collector = await startCollector({ config: { yaml: collectorConfig(file) } })
    onTestFinished(async () => {
      await collector.stop()
      rmSync(directory, { recursive: true })
    })
    const env = { PENSTOCK_UPSTREAM: collector.httpEndpoint, PENSTOCK_ATTRIBUTE_RESOURCES: 'true' }
    const gateway = await startGateway(env)
    const { id, token } = await gateway.token({ name: 'ci-runners' })
    for (const kind of clientKinds) {
      const options = { token, service: kind, attributes: withSpoofedResource, gzip: true, headers: spoofed }
      expect((await exportOnce(gateway.otlpPort, kind, options)).code).toBe(okCode[kind])
    }
    const lines = await waitForExported(file, 'traces', 3)
    const seen = lines.flatMap((line) =>
      // biome-ignore lint/suspicious/noExplicitAny: OTLP/JSON as the collector writes it
      JSON.parse(line).resourceSpans.map(({ resource }: any) =>
        Object.fromEntries(
          resource.attributes.map(({ key, value }: { key: string; value: { stringValue: string } }) => [
            key,
            value.stringValue,
          ]),
        ),
      ),
    )
    expect(seen).toEqual(
      clientKinds.map((kind) => ({
        'service.name': kind,
        'deployment.environment': 'test',
        'ingest.token.id': id,
        'ingest.token.name': 'ci-runners',
        'seen.token.id': id,
      })),
    )
    expect(readFileSync(file, 'utf8')).not.toContain('somebody-else')
  })
})
