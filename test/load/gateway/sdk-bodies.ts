import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { type Attributes, SpanKind } from '@opentelemetry/api'
import type { ExportResult } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { CompressionAlgorithm } from '@opentelemetry/otlp-exporter-base'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { seededRandom } from './token-text.ts'

export interface SdkBody {
  readonly bytes: Uint8Array
  /** Headers with which the exporter sent it, without those of its connection. */
  readonly headers: Readonly<Record<string, string>>
}

/** The first span starts at this time, so that bodies do not differ from run to run. */
const START_MS = Date.UTC(2026, 0, 15, 9, 0, 0)

/** Returns what the OpenTelemetry SDK's own exporter sends for `count` spans with ten attributes that differ from span to span. */
export async function sdkBody(count: number, compression: 'gzip' | 'none'): Promise<SdkBody> {
  let received: SdkBody | undefined
  const server = createServer(async (request, response) => {
    const {
      'content-type': contentType,
      'content-encoding': contentEncoding,
      'user-agent': userAgent,
    } = request.headers
    received = {
      bytes: await buffer(request),
      headers: {
        'Content-Type': contentType!,
        ...(contentEncoding !== undefined && { 'Content-Encoding': contentEncoding }),
        'User-Agent': userAgent!,
      },
    }
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const exporter = new OTLPTraceExporter({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`,
    compression: compression === 'gzip' ? CompressionAlgorithm.GZIP : CompressionAlgorithm.NONE,
  })
  try {
    const { error } = await new Promise<ExportResult>((resolve) => exporter.export(finishedSpans(count), resolve))
    if (received === undefined) throw new Error('the exporter has sent nothing', { cause: error })
    return received
  } finally {
    await exporter.shutdown()
    server.close()
    server.closeAllConnections()
  }
}

/** Returns spans as a web service of a shop creates them: each request is a trace of one server span and four client spans. */
function finishedSpans(count: number): ReadableSpan[] {
  const random = seededRandom(count)
  const finished = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({
      'service.name': 'checkout',
      'service.version': '1.4.2',
      'deployment.environment.name': 'production',
      'host.name': 'checkout-7d9f6c5b8-x2x9q',
    }),
    idGenerator: { generateTraceId: () => hex(16, random), generateSpanId: () => hex(8, random) },
    spanProcessors: [new SimpleSpanProcessor(finished)],
  })
  const tracer = provider.getTracer('@opentelemetry/instrumentation-http', '0.223.0')
  for (let index = 0; index < count; index += 1) {
    const startMs = START_MS + index * 3 + random()
    const span = tracer.startSpan(`GET /orders/{id}/items/${index % 7}`, {
      kind: index % 5 === 0 ? SpanKind.SERVER : SpanKind.CLIENT,
      startTime: startMs,
      attributes: attributesOf(index, random),
    })
    span.end(startMs + random() * 250)
  }
  return finished.getFinishedSpans()
}

function attributesOf(index: number, random: () => number): Attributes {
  const upTo = (most: number) => Math.floor(random() * most)
  const order = upTo(1_000_000)
  return {
    'http.request.method': ['GET', 'POST', 'PUT'][upTo(3)]!,
    'url.full': `https://orders-${upTo(8)}.internal.example/orders/${order}/items/${index % 7}?expand=lines,customer`,
    'http.response.status_code': [200, 201, 404, 500][upTo(4)]!,
    'http.response.body.size': upTo(20_000),
    'user_agent.original': `checkout-web/4.${upTo(12)}.${upTo(30)} (Linux; rv:${120 + upTo(20)}.0) Gecko/20100101`,
    'client.address': `10.0.${upTo(256)}.${upTo(256)}`,
    'order.id': order,
    'user.id': `user-${upTo(50_000)}`,
    'app.cart.total': upTo(100_000) / 100,
    'thread.name': `worker-pool-${upTo(4)}-thread-${upTo(64)}`,
  }
}

function hex(bytes: number, random: () => number): string {
  let text = ''
  for (let at = 0; at < bytes; at += 1)
    text += Math.floor(random() * 256)
      .toString(16)
      .padStart(2, '0')
  return text
}
