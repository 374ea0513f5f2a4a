import type { IncomingMessage, ServerResponse } from 'node:http'
import type { IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from 'node:http2'
import type { Clock, Log, Random } from '@penstock/runtime'
import type { ListenAddress, OtlpListener } from '../gateway-config.ts'
import type { MetricRegistry } from '../metrics/registry.ts'

/** Takes requests over either version of HTTP. It must answer each, and must not throw. */
export interface Front {
  onHttp1(request: IncomingMessage, response: ServerResponse): void
  onHttp2(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, flags: number, rawHeaders: readonly string[]): void
}

/** Who gets what: HTTP/2 streams whose content type begins with `application/grpc` are gRPC, all else is OTLP/HTTP (P-1). */
export interface Fronts {
  readonly http: Front
  readonly grpc: Pick<Front, 'onHttp2'> & {
    /** Of every HTTP/2 connection, before its first stream: for what counts per connection (P-26). */
    onSession?(session: ServerHttp2Session): void
  }
}

export interface ListenerSettings {
  readonly headerTimeoutMs: number
  readonly idleBodyTimeoutMs: number
  readonly idleConnectionTimeoutMs: number
  /** ± 10 % for each connection. */
  readonly maxConnectionAgeMs: number
  /** Further ones are closed as soon as they are accepted. */
  readonly maxConnections: number
  readonly maxStreamsPerConnection: number
}

export interface ListenerDeps {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly metrics: MetricRegistry
}

export interface Listener {
  /** With the port that was bound. */
  readonly address: ListenAddress
  /**
   * Accepts no further connection, asks clients to leave (`Connection: close`, GOAWAY), and resolves when the last
   * has; after `timeoutMs` the rest are cut.
   */
  drain(timeoutMs: number): Promise<void>
  /** Cuts everything. */
  close(): Promise<void>
}

/** Rejects with the system's error when the address cannot be bound, or when certificate and key cannot be used. */
export declare function openListener(
  listener: OtlpListener,
  fronts: Fronts,
  settings: ListenerSettings,
  deps: ListenerDeps,
): Promise<Listener>
