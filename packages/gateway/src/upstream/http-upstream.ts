import type { Clock, Random } from '@penstock/runtime'
import type { Answer } from '../contract/answer.ts'
import { gatewayRefusal } from '../contract/gateway-answers.ts'
import type { UpstreamConfig } from '../contract/gateway-config.ts'
import { type IngestSignal, ingestSignalNames, ingestSignals } from '../contract/signals.ts'
import type { Upstream, UpstreamAlarm, UpstreamRequest } from '../contract/upstream.ts'
import { type Resolve, systemResolve } from './addresses.ts'
import { openUpstreamCredential, type UpstreamCredential } from './credential.ts'
import { HttpRequestSender, type SenderContext } from './http-request-sender.ts'
import { HttpTargets } from './http-targets.ts'
import { WatchedFile } from './watched-file.ts'

const DEFAULT_BODY_LIMIT_BYTES = 20 * 1024 * 1024

interface HttpUpstreamLimits {
  /** The highest number of connections per address. */
  readonly connections: number
  /** The highest number of unanswered requests. Further ones are refused as overload. */
  readonly inFlight: number
}

const defaultHttpUpstreamLimits: HttpUpstreamLimits = { connections: 64, inFlight: 16_384 }

export interface HttpUpstreamOptions {
  /** The configuration, with an `http:` or `https:` URL. */
  readonly config: UpstreamConfig
  /** Whether the client's `Authorization` is sent upstream. */
  readonly passCredentialThrough: boolean
  readonly clock: Clock
  readonly random: Random
  readonly onAlarm: (alarm: UpstreamAlarm) => void
  readonly limits?: Partial<HttpUpstreamLimits>
  readonly resolve?: Resolve
}

/** Opens an upstream without connecting to it. Throws if a configured file cannot be read. */
export async function openHttpUpstream(options: HttpUpstreamOptions): Promise<Upstream> {
  const { config, clock, onAlarm } = options
  const url = new URL(config.url)
  const name = url.origin + prefixOf(url)
  const watch = {
    monotonicMs: () => clock.monotonicMs(),
    onError: (file: string, reason: string) => onAlarm({ kind: 'file', upstream: name, detail: `${file}: ${reason}` }),
  }
  const credential = await openUpstreamCredential(config.credential, watch)
  const ca = config.caFile === undefined ? undefined : await WatchedFile.open(config.caFile, (pem) => pem, watch)
  return new HttpUpstream(options, { url, name, credential, ca })
}

const prefixOf = (url: URL): string => url.pathname.replace(/\/+$/, '')

interface Opened {
  readonly url: URL
  readonly name: string
  readonly credential: UpstreamCredential | undefined
  readonly ca: WatchedFile<string> | undefined
}

class HttpUpstream implements Upstream {
  readonly name: string
  readonly bodyLimitBytes: number
  readonly #context: SenderContext
  readonly #maxInFlight: number
  #inFlight = 0

  constructor(options: HttpUpstreamOptions, { url, name, credential, ca }: Opened) {
    const { clock, config, random, onAlarm } = options
    const limits = { ...defaultHttpUpstreamLimits, ...options.limits }
    this.name = name
    this.bodyLimitBytes = config.bodyLimitBytes ?? DEFAULT_BODY_LIMIT_BYTES
    this.#maxInFlight = limits.inFlight
    this.#context = {
      paths: pathsBelow(prefixOf(url)),
      targets: new HttpTargets({
        origin: url,
        connections: limits.connections,
        ca,
        resolve: options.resolve ?? systemResolve,
        clock,
      }),
      credential,
      ca,
      owner: options.passCredentialThrough ? 'client' : 'gateway',
      nowMs: () => clock.nowMs(),
      monotonicMs: () => clock.monotonicMs(),
      random,
      onAlarm: (kind, detail) => onAlarm({ kind, upstream: name, detail }),
      onDone: () => {
        this.#inFlight -= 1
      },
    }
  }

  send(request: UpstreamRequest): Promise<Answer> {
    if (this.#inFlight >= this.#maxInFlight) {
      const refusal = { kind: 'overloaded', message: 'too many requests wait for the upstream' } as const
      return Promise.resolve(gatewayRefusal(refusal, 'throttled', this.#context.random))
    }
    this.#inFlight += 1
    return new Promise((resolve, reject) => new HttpRequestSender(this.#context, request, { resolve, reject }).begin())
  }

  close(): Promise<void> {
    return this.#context.targets.close()
  }
}

function pathsBelow(prefix: string): Readonly<Record<IngestSignal, string>> {
  const paths = ingestSignalNames.map((signal) => [signal, prefix + ingestSignals[signal].httpPath])
  return Object.fromEntries(paths) as Record<IngestSignal, string>
}
