import type { Clock, Log, Random } from '@penstock/runtime'
import type { Ingest } from '../admission/ingest.ts'
import type { ExportObserver } from '../contract/export-ending.ts'
import type { GatewayConfig } from '../contract/gateway-config.ts'
import { Cors } from '../http/cors.ts'
import { HeadReader } from '../http/http-headers.ts'
import { PathTable } from '../http/http-path.ts'
import { RefusalWriter } from '../http/reply.ts'
import { RequestValidator } from '../http/request-validator.ts'
import { type FastExchangeContext, FastExchanges } from '../http1/fast-exchange.ts'
import { NodeExchange } from '../http1/node-exchange.ts'
import { ReplyText } from '../http1/reply-text.ts'
import { Http2Exchange } from '../http2/http2-exchange.ts'
import type { Front } from './listener.ts'

export type HttpFrontConfig = Pick<
  GatewayConfig,
  | 'extraPaths'
  | 'credentialSources'
  | 'passCredentialThrough'
  | 'allowedOrigins'
  | 'maxBodyBytes'
  | 'inspectInflatedSize'
  | 'attributeResources'
  | 'healthOnOtlpPorts'
>

interface HttpFrontDeps {
  readonly ingest: Ingest
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly observer: ExportObserver
  /** Returns the state that `/healthz` reports. */
  readonly isReady: () => boolean
}

const HEALTH_PATH = '/healthz'

/**
 * Returns the front that serves OTLP/HTTP. Checks path, method and credential of a request, then its media type and
 * size, and only then reads its body. Every refusal is a google.rpc.Status in the encoding of the request.
 */
export function httpFront(
  config: HttpFrontConfig,
  { ingest, clock, random, log, observer, isReady }: HttpFrontDeps,
  idleBodyTimeoutMs: number,
): Front {
  const { maxBodyBytes, inspectInflatedSize } = config
  const cors = new Cors(config.allowedOrigins)
  const context: FastExchangeContext = {
    ingest,
    log,
    observer,
    paths: new PathTable(config.extraPaths, {
      ...(config.healthOnOtlpPorts && { healthPath: HEALTH_PATH }),
      readsQuery: config.credentialSources.includes('query'),
    }),
    heads: new HeadReader(config),
    validator: new RequestValidator({ ingest, cors, maxBodyBytes, inspects: config.attributeResources, isReady }),
    cors,
    refusals: new RefusalWriter(random),
    maxBodyBytes,
    inspectInflatedSize,
    replyText: new ReplyText(() => clock.nowMs()),
  }
  return {
    onHttp1(request, response) {
      NodeExchange.take(context, request, response)
    },
    fastRequests: (connection) => new FastExchanges(context, connection),
    // Over HTTP/1 the listener enforces the timeouts per connection; over HTTP/2 each stream has its own.
    onHttp2(stream, head, hasBody, peer) {
      Http2Exchange.take(context, stream, head, hasBody, peer, idleBodyTimeoutMs)
    },
  }
}
