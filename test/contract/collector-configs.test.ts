import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { Client, credentials, Metadata } from '@grpc/grpc-js'
import {
  contentTypes,
  decodeExportResponse,
  decodeRequest,
  type Encoding,
  encodeRequest,
  type KeyValue,
  type OtlpRequest,
  type Signal,
  signalNames,
  signals,
} from '@penstock/otlp'
import { type ScriptedReply, ScriptedServer } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Collector, startCollector } from '../collector/collector.ts'
import { describeWithCollector } from '../collector/collector-suite.ts'
import { waitForExported } from '../collector/exported-file.ts'
import { conversionOf } from '../conversion.ts'
import { bodiesOf } from '../fixtures.ts'
import { decoded, itemCount } from './agent.ts'
import { compareModels } from './compare-models.ts'
import { collectorChanges, DifferenceTally } from './known-differences.ts'

const config = (name: string) => ({ file: join(import.meta.dirname, '../../collector-config', name) })
const conversion = conversionOf(bodiesOf('push-pipeline-five-jobs-three-stages')[0] as object)

interface Transport {
  readonly transport: 'http' | 'grpc'
  readonly encoding: Encoding
  readonly gzip?: boolean
}
const transports: readonly Transport[] = [
  { transport: 'http', encoding: 'protobuf' },
  { transport: 'http', encoding: 'protobuf', gzip: true },
  { transport: 'http', encoding: 'json' },
  { transport: 'http', encoding: 'json', gzip: true },
  { transport: 'grpc', encoding: 'protobuf' },
]

let directory: string
let file: string
let collector: Collector

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'collector-config-'))
  file = join(directory, 'telemetry.jsonl')
})
afterEach(async () => {
  await collector.stop()
  await rm(directory, { recursive: true })
})

/** Sends one request, and fails the test if it is not accepted. */
async function send(signal: Signal, request: OtlpRequest, way: Transport, headers: Record<string, string> = {}) {
  const body = Buffer.from(encodeRequest(signal, request, way.encoding))
  const answer = await (way.transport === 'grpc' ? overGrpc : overHttp)(signal, body, way, headers)
  expect(decodeExportResponse(signal, answer, way.encoding)).toBeUndefined()
}

async function overHttp(signal: Signal, body: Buffer, { encoding, gzip = false }: Transport, headers: object) {
  const response = await fetch(collector.httpEndpoint + signals[signal].httpPath, {
    method: 'POST',
    headers: {
      ...headers,
      'content-type': contentTypes[encoding],
      ...(gzip && { 'content-encoding': 'gzip' }),
    },
    body: gzip ? gzipSync(body) : body,
  })
  expect(response.status).toBe(200)
  return new Uint8Array(await response.arrayBuffer())
}

function overGrpc(signal: Signal, body: Buffer, _: Transport, headers: Record<string, string>): Promise<Uint8Array> {
  const client = new Client(collector.grpcEndpoint, credentials.createInsecure())
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value)
  const asIs = (bytes: Buffer) => bytes
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(signals[signal].grpcMethod, asIs, asIs, body, metadata, (error, answer) => {
      client.close()
      if (error) reject(error)
      else resolve(answer!)
    })
  })
}

const startWriting = async (name: string) => {
  collector = await startCollector({ config: config(name), env: { COLLECTOR_FILE: file } })
}

describeWithCollector('collector-config/upstream.yaml', () => {
  beforeEach(() => startWriting('upstream.yaml'))

  test('loads without a warning', () => {
    expect(collector.logs()).not.toMatch(/\t(warn|error)\t/)
  })

  test.each(signalNames)('accepts %s over both protocols, in every encoding', async (signal) => {
    const request: OtlpRequest = conversion[signal]
    for (const transport of transports) await send(signal, request, transport)

    const received = decoded(signal, await waitForExported(file, signal, transports.length * itemCount(request)))

    expect(received).toHaveLength(transports.length)
    const tally = new DifferenceTally(collectorChanges)
    for (const [index, each] of received.entries()) tally.add(`${index}`, compareModels(request, each))
    expect(tally.unexplained).toEqual([])
  })

  test('accepts a body of more than 20 MiB, like the gateway', async () => {
    const body = Buffer.from(`{"resourceSpans":[]${' '.repeat(21 * 1024 * 1024)}}`)
    const headers = { 'content-type': contentTypes.json }
    const response = await fetch(`${collector.httpEndpoint}/v1/traces`, { method: 'POST', headers, body })
    expect(response.status).toBe(200)
  })
})

describeWithCollector('collector-config/attribution.yaml', () => {
  beforeEach(() => startWriting('attribution.yaml'))

  const trusted = {
    'x-ingest-token-id': '7Hq2mK9sT4bZ',
    'x-ingest-token-name': 'ci-runners %C3%A9',
    'x-ingest-auth': 'verified',
  }
  const string = (key: string, value: string): KeyValue => ({ key, type: 'string', value })
  const ingestAttributes = (request: OtlpRequest) =>
    request.resources.map(({ resource }) => resource.attributes.filter(({ key }) => key.startsWith('ingest.')))

  test('loads without a warning', () => {
    expect(collector.logs()).not.toMatch(/\t(warn|error)\t/)
  })

  test.each(signalNames)(
    'X-10: turns the headers into resource attributes of %s, over both protocols',
    async (signal) => {
      const request: OtlpRequest = conversion[signal]
      await send(signal, request, { transport: 'http', encoding: 'protobuf' }, trusted)
      await send(signal, request, { transport: 'grpc', encoding: 'protobuf' }, trusted)

      const received = decoded(signal, await waitForExported(file, signal, 2 * itemCount(request)))

      const expected = [
        string('ingest.token.id', '7Hq2mK9sT4bZ'),
        string('ingest.token.name', 'ci-runners %C3%A9'),
        string('ingest.auth', 'verified'),
      ]
      expect(received.map(ingestAttributes)).toEqual([[expected], [expected]])
    },
  )

  test('removes ingest attributes that a client has set itself, with and without a token', async () => {
    const claims = [string('ingest.token.id', 'someone-else'), string('ingest.token.name', 'admin')]
    const request = {
      resources: conversion.traces.resources.map((group) => ({
        ...group,
        resource: { ...group.resource, attributes: claims },
      })),
    }
    const way: Transport = { transport: 'http', encoding: 'protobuf' }
    await send('traces', request, way, { 'x-ingest-auth': 'off' })
    await send('traces', request, way, trusted)

    const received = decoded('traces', await waitForExported(file, 'traces', 2 * itemCount(request)))

    expect(received.map((each) => ingestAttributes(each)[0]?.map(({ value }) => value))).toEqual([
      ['off'],
      ['7Hq2mK9sT4bZ', 'ci-runners %C3%A9', 'verified'],
    ])
  })
})

describeWithCollector('collector-config/sender.yaml', () => {
  let gateway: ScriptedServer
  const way: Transport = { transport: 'http', encoding: 'protobuf' }
  const accepted: ScriptedReply = { play: 'reply', status: 200, headers: { 'content-type': contentTypes.protobuf } }
  const unavailable: ScriptedReply = { play: 'reply', status: 503, headers: { 'retry-after': '1' } }
  const presented = () => gateway.requests.map(({ path, headers }) => `${path} ${headers.authorization}`)

  const start = async (env: Record<string, string>) => {
    const paths = { COLLECTOR_GATEWAY_ENDPOINT: gateway.url, COLLECTOR_QUEUE_DIRECTORY: join(directory, 'queue') }
    collector = await startCollector({ config: config('sender.yaml'), env: { ...paths, ...env } })
  }
  afterEach(() => gateway.close())

  describe('with the token in the environment', () => {
    test('sends every signal with the token, and loads without a warning', async () => {
      gateway = await ScriptedServer.start(() => accepted)
      await start({ COLLECTOR_INGEST_TOKEN: 'psin_one' })
      for (const signal of signalNames) await send(signal, conversion[signal], way)
      await gateway.received(3)
      expect(presented().toSorted()).toEqual(signalNames.map((signal) => `/v1/${signal} Bearer psin_one`).toSorted())
      expect(collector.logs()).not.toMatch(/\t(warn|error)\t/)
    })

    test('E-6: retries a request after 503 until it is accepted', async () => {
      gateway = await ScriptedServer.start([unavailable, unavailable, accepted])
      await start({ COLLECTOR_INGEST_TOKEN: 'psin_one' })
      await send('traces', conversion.traces, way)
      await gateway.received(3)
      const [first, second, third] = gateway.requests.map(({ body }) => Buffer.from(body).toString('base64'))
      expect([second, third]).toEqual([first, first])
    })

    test('sends queued requests after a restart', async () => {
      gateway = await ScriptedServer.start((_, index) => (index === 0 ? unavailable : accepted))
      await start({ COLLECTOR_INGEST_TOKEN: 'psin_one' })
      await send('traces', conversion.traces, way)
      await gateway.received(1)
      await collector.stop()
      await start({ COLLECTOR_INGEST_TOKEN: 'psin_one' })
      await gateway.received(2)
      expect(gateway.requests[1]?.body).toEqual(gateway.requests[0]?.body)
    })

    test('does not retry after 401', async () => {
      gateway = await ScriptedServer.start([{ play: 'reply', status: 401 }, accepted])
      await start({ COLLECTOR_INGEST_TOKEN: 'psin_wrong' })
      await send('traces', conversion.traces, way)
      await gateway.received(1)
      await send('logs', conversion.logs, way)
      await gateway.received(2)
      await collector.stop()
      expect(gateway.requests.map(({ path }) => path)).toEqual(['/v1/traces', '/v1/logs'])
      expect(collector.logs()).toMatch(/Dropping data/)
      expect(collector.logs()).not.toContain('psin_wrong')
    })
  })

  test('T-16: reads a new token from a file without a restart', async () => {
    gateway = await ScriptedServer.start(({ headers }) =>
      headers.authorization === 'Bearer psin_new' ? accepted : unavailable,
    )
    const tokenFile = join(directory, 'token')
    await writeFile(tokenFile, 'psin_old\n')
    await start({ COLLECTOR_INGEST_TOKEN_FILE: tokenFile })
    await send('traces', conversion.traces, way)
    await gateway.received(1)
    await writeFile(tokenFile, 'psin_new\n')
    while (!presented().includes('/v1/traces Bearer psin_new')) await gateway.received(gateway.requests.length + 1)
    expect(presented()[0]).toBe('/v1/traces Bearer psin_old')
  })
})

interface BackendConfig {
  readonly file: string
  readonly variable: string
  readonly signal: Signal
}

const backendConfigs: readonly BackendConfig[] = [
  { file: 'jaeger.yaml', variable: 'JAEGER_OTLP_ENDPOINT', signal: 'traces' },
  { file: 'prometheus.yaml', variable: 'PROMETHEUS_OTLP_ENDPOINT', signal: 'metrics' },
  { file: 'victoria-logs.yaml', variable: 'VICTORIA_LOGS_OTLP_ENDPOINT', signal: 'logs' },
  { file: 'loki.yaml', variable: 'LOKI_OTLP_ENDPOINT', signal: 'logs' },
]

describeWithCollector('the configurations of several backends together', () => {
  test('pass each signal on to its backend', async () => {
    const together = backendConfigs.filter(({ file: name }) => name !== 'loki.yaml')
    const backend = await ScriptedServer.start(() => ({ play: 'reply', status: 200 }))
    collector = await startCollector({
      config: { files: together.map(({ file: name }) => config(name).file) },
      env: Object.fromEntries(together.map(({ variable, signal }) => [variable, `${backend.url}/to-${signal}`])),
    })
    for (const signal of signalNames) {
      await send(signal, conversion[signal] as OtlpRequest, { transport: 'http', encoding: 'protobuf' })
    }
    await backend.close()
    const expected = signalNames.map((signal) => `/to-${signal}${signals[signal].httpPath}`)
    expect(backend.requests.map(({ path }) => path)).toEqual(expected)
  })
})

describe.each(backendConfigs)('collector-config/$file', ({ file: name, variable, signal }) => {
  describeWithCollector(`passes ${signal} on`, () => {
    let backend: ScriptedServer
    const start = async (reply: ScriptedReply) => {
      backend = await ScriptedServer.start(() => reply)
      collector = await startCollector({ config: config(name), env: { [variable]: `${backend.url}/base` } })
    }
    const post = (of: Signal) =>
      fetch(collector.httpEndpoint + signals[of].httpPath, {
        method: 'POST',
        headers: { 'content-type': contentTypes.protobuf },
        body: Buffer.from(encodeRequest(of, conversion[of] as OtlpRequest, 'protobuf')),
      })
    afterEach(() => backend.close())

    test('below the path of the endpoint, and no other signal', async () => {
      await start({ play: 'reply', status: 200, headers: { 'content-type': contentTypes.protobuf } })
      expect(collector.logs()).not.toMatch(/\t(warn|error)\t/)
      expect((await post(signal)).status).toBe(200)
      for (const other of signalNames.filter((each) => each !== signal)) expect((await post(other)).status).toBe(404)

      expect(backend.requests.map(({ path }) => path)).toEqual([`/base${signals[signal].httpPath}`])
      const tally = new DifferenceTally(collectorChanges)
      tally.add(name, compareModels(conversion[signal], decodeRequest(signal, backend.requests[0]!.body, 'protobuf')))
      expect(tally.unexplained).toEqual([])
    })

    test.each([503, 400])('and answers the sender with %i if the backend does', async (status) => {
      await start({ play: 'reply', status })
      expect((await post(signal)).status).toBe(status)
      expect(backend.requests).toHaveLength(1)
    })
  })
})
