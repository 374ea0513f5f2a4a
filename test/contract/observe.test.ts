import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { OTLPLogExporter as JsonLogExporter } from '@opentelemetry/exporter-logs-otlp-http'
import { OTLPLogExporter as ProtobufLogExporter } from '@opentelemetry/exporter-logs-otlp-proto'
import { OTLPMetricExporter as JsonMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPMetricExporter as ProtobufMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import { OTLPTraceExporter as JsonTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as ProtobufTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { type Conversion, toReadableLogRecords, toReadableSpans, toResourceMetrics } from '@penstock/converter'
import { observeServer } from '@penstock/observe'
import {
  contentTypes,
  decodeRequest,
  encodeRequest,
  type Metric,
  type OtlpRequest,
  type Signal,
  signalNames,
} from '@penstock/otlp'
import { systemClock } from '@penstock/runtime'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { OneThreadStore } from '../../packages/observe/src/one-thread-store.harness.ts'
import type { StoredSeries } from '../../packages/observe/src/queries/metric-queries.ts'
import { conversionOf } from '../conversion.ts'
import { bodiesOf, fixtures } from '../fixtures.ts'
import { compareModels } from './compare-models.ts'
import { DifferenceTally, sdkLosses } from './known-differences.ts'

const credential = 'only-for-the-gateway'

let directory: string
let file: string
let store: OneThreadStore

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'penstock-observe-'))
  file = join(directory, 'observe.db')
  store = await OneThreadStore.open({ file, clock: systemClock })
})
afterEach(async () => {
  await store.close()
  rmSync(directory, { recursive: true })
})

const goldenFiles = readdirSync(join(fixtures, 'golden'))
const golden = (name: string) => readFileSync(join(fixtures, 'golden', name))

/** Returns the stored traces, logs or metrics of a request as a request. */
async function stored(signal: Signal, sent: OtlpRequest): Promise<OtlpRequest> {
  const request = { traces: storedTraces, metrics: storedMetrics, logs: storedLogs }
  return decodeRequest(signal, Buffer.from(JSON.stringify(await request[signal](sent))), 'json')
}

/** Returns spans and log records by their ids, and data points by metric and attributes, each with its resource and scope. */
function piecesOf(request: OtlpRequest): Map<string, unknown> {
  const pieces = new Map<string, unknown>()
  for (const { resource, scopes, schemaUrl } of request.resources) {
    for (const { scope, items, ...rest } of scopes) {
      for (const item of items) {
        const place = { resource, schemaUrl, scope, scopeSchemaUrl: rest.schemaUrl }
        if (!('data' in item)) pieces.set(`${item.traceId} ${item.spanId}`, { place, item })
        else for (const [key, point] of pointsOf(item)) pieces.set(key, { place, ...point })
      }
    }
  }
  return pieces
}

function* pointsOf({ name, data, ...about }: Metric): Generator<[string, object]> {
  const { dataPoints, ...kind } = data!
  for (const point of dataPoints) {
    const attributes = point.attributes.map(({ key, value }) => `${key}=${value}`)
    yield [`${name} ${attributes}`, { about, kind, point }]
  }
}

const itemsOf = <Item>(request: OtlpRequest): Item[] =>
  request.resources.flatMap(({ scopes }) => scopes.flatMap(({ items }) => items)) as Item[]

async function storedTraces(sent: OtlpRequest) {
  const ids = new Set(itemsOf<{ traceId: string }>(sent).map(({ traceId }) => traceId))
  const traces = await Promise.all([...ids].map((id) => store.queries.trace(id, 10_000)))
  return { resourceSpans: traces.flatMap((trace) => trace?.resourceSpans ?? []) }
}

async function storedLogs() {
  const records = await store.queries.logRecords({ limit: 1_000 })
  return {
    resourceLogs: records.map(({ record, ...place }) => ({
      resource: place.resource,
      schemaUrl: place.resource_schema_url,
      scopeLogs: [{ scope: place.scope, schemaUrl: place.scope_schema_url, logRecords: [record] }],
    })),
  }
}

async function storedMetrics(sent: OtlpRequest) {
  const names = new Set(itemsOf<Metric>(sent).map(({ name }) => name))
  const found = await Promise.all(
    [...names].map((name) => store.queries.metric({ name, maxSeries: 100, maxPointsPerSeries: 1_000 })),
  )
  return { resourceMetrics: found.flatMap(({ name, series }) => series.map((each) => seriesRequest(name, each))) }
}

function seriesRequest(name: string, series: StoredSeries) {
  const { type, unit, description, attributes, points, aggregation_temporality, is_monotonic } = series
  const data = {
    ...(aggregation_temporality !== null && { aggregationTemporality: aggregation_temporality }),
    ...(is_monotonic && { isMonotonic: true }),
    dataPoints: points.map((point) => ({ ...point, attributes })),
  }
  return {
    resource: series.resource,
    schemaUrl: series.resource_schema_url,
    scopeMetrics: [
      {
        scope: series.scope,
        schemaUrl: series.scope_schema_url,
        metrics: [{ name, unit, description, [type]: data }],
      },
    ],
  }
}

describe('requests of Penstock', () => {
  test('every golden request is stored', async () => {
    const requests = goldenFiles
      .filter((name) => name.endsWith('.json'))
      .flatMap((name) => {
        const signal = name.split('.').at(-2) as Signal
        // A case with several pipelines has one document for each.
        const documents = golden(name)
          .toString()
          .split(/(?<=^\})\n+(?=\{)/m)
        return documents.map((document) => ({ signal, body: Buffer.from(document) }))
      })
    const receipts = await Promise.all(requests.map(({ signal, body }) => store.receiveBody(signal, body, 'json')))
    expect(requests.length).toBeGreaterThan(500)
    expect(receipts.filter(({ kind }) => kind !== 'kept')).toEqual([])
    expect(await store.queries.services()).not.toEqual([])
  })

  test.each(
    ['push-pipeline-five-jobs-three-stages', 'canceled-pipeline', 'parent-pipeline-with-bridges'].flatMap((name) =>
      signalNames.map((signal) => ({ name, signal })),
    ),
  )('$name: returns $signal as they were sent', async ({ name, signal }) => {
    const sent = decodeRequest(signal, golden(`${name}.${signal}.json`), 'json')
    expect(await store.receiveBody(signal, encodeRequest(signal, sent, 'protobuf'), 'protobuf')).toMatchObject({
      kind: 'kept',
    })

    const [expected, actual] = [piecesOf(sent), piecesOf(await stored(signal, sent))]

    expect([...actual.keys()].toSorted()).toEqual([...expected.keys()].toSorted())
    const differences = [...expected].flatMap(([key, item]) => compareModels(item, actual.get(key)).differences)
    expect(differences).toEqual([])
  })
})

describe('exporters of the OpenTelemetry SDK', () => {
  const exporters = {
    'HTTP/JSON': { traces: JsonTraceExporter, metrics: JsonMetricExporter, logs: JsonLogExporter },
    'HTTP/protobuf': { traces: ProtobufTraceExporter, metrics: ProtobufMetricExporter, logs: ProtobufLogExporter },
  }
  type Done = (result: { code: number; error?: Error }) => void
  const outcome = (start: (done: Done) => void) =>
    new Promise<string>((resolve) => start(({ code, error }) => resolve(code === 0 ? 'accepted' : `${error?.message}`)))

  test.each(Object.keys(exporters) as (keyof typeof exporters)[])('%s', async (transport) => {
    const server = await observeServer(store, { credential })
    const options = (signal: Signal) => ({
      url: `${server.url}/v1/${signal}`,
      headers: { authorization: `Bearer ${credential}` },
    })
    const conversion: Conversion = conversionOf(bodiesOf('push-pipeline-five-jobs-three-stages')[0])
    const traces = new exporters[transport].traces(options('traces'))
    const metrics = new exporters[transport].metrics(options('metrics'))
    const logs = new exporters[transport].logs(options('logs'))

    expect([
      await outcome((done) => traces.export(toReadableSpans(conversion.traces), done)),
      await outcome((done) => metrics.export(toResourceMetrics(conversion.metrics)[0]!, done)),
      await outcome((done) => logs.export(toReadableLogRecords(conversion.logs), done)),
    ]).toEqual(['accepted', 'accepted', 'accepted'])

    const tally = new DifferenceTally(sdkLosses)
    for (const signal of signalNames) {
      const expected = piecesOf(conversion[signal])
      const actual = piecesOf(await stored(signal, conversion[signal]))
      expect([...actual.keys()].toSorted()).toEqual([...expected.keys()].toSorted())
      for (const [key, item] of expected) tally.add(key, compareModels(item, actual.get(key)))
    }
    expect(tally.unexplained).toEqual([])
    await Promise.all([traces.shutdown(), metrics.shutdown(), logs.shutdown()])
    await server.close()
  })
})

describe('kill -9', () => {
  const getTraceId = (number: number) => number.toString(16).padStart(32, 'a')
  const traceOf = (number: number) => ({
    resourceSpans: [
      { scopeSpans: [{ spans: [{ traceId: getTraceId(number), spanId: '1'.repeat(16), name: `${number}` }] }] },
    ],
  })

  test('does not lose acknowledged data at any moment', async () => {
    const acknowledged = new Set<number>()
    let number = 0
    for (const killAfter of [1, 7, 40, 100]) {
      const child = spawn(process.execPath, [join(import.meta.dirname, 'observe-child.mjs'), file, credential], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const ended = once(child, 'close')
      onTestFinished(() => void child.kill('SIGKILL'))
      const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
      const target = acknowledged.size + killAfter
      const sender = async () => {
        while (child.exitCode === null && child.signalCode === null) {
          const mine = number++
          const headers = { authorization: `Bearer ${credential}`, 'content-type': contentTypes.json }
          const body = JSON.stringify(traceOf(mine))
          const { ok } = await fetch(`${url}/v1/traces`, { method: 'POST', headers, body })
          if (ok) acknowledged.add(mine)
          // Other requests are in progress at this moment.
          if (acknowledged.size >= target) child.kill('SIGKILL')
        }
      }
      await Promise.allSettled(Array.from({ length: 16 }, sender))
      await ended
    }
    const found = await Promise.all([...acknowledged].map((each) => store.queries.trace(getTraceId(each), 1)))
    expect(acknowledged.size).toBeGreaterThanOrEqual(148)
    expect(found.filter((trace) => trace === undefined)).toEqual([])
  })
})
