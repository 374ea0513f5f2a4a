import { randomUUID } from 'node:crypto'
import type { Core } from '@penstock/core'
import { defaultHttpClientLimits, HttpClient } from '@penstock/delivery'
import {
  defaultFetchLimits,
  Exporter,
  type ExporterOptions,
  findUnconfiguredSource,
  RunFetcher,
  sourceDestination,
} from '@penstock/exporter'
import type { Log, Random } from '@penstock/runtime'
import type { OpenCore } from '../core/open-core.ts'
import type { ExportConfig } from '../settings/export-config.ts'
import { findExportToken } from './core-exports.ts'
import { metricsText } from './metrics-text.ts'
import { projectIdOf } from './project-scope.ts'

interface ExportingOptions extends Pick<OpenCore, 'core' | 'db'> {
  readonly config: ExportConfig
  /** The endpoint that is used unless one is configured. */
  readonly ownGateway: string
  readonly random: Random
  readonly log: Log
}

/** The exporter of this process, and what reads runs from the forges of its sources, each with its HTTP client. */
export class Exporting {
  readonly exporter: Exporter
  readonly fetcher: RunFetcher
  readonly #clients: readonly HttpClient[]
  readonly #stop = new AbortController()
  #running: Promise<unknown> | undefined
  #ended: Promise<void> | undefined

  constructor({ core, db, config, ownGateway, random, log }: ExportingOptions) {
    const { limits, optionsForScope, sources } = config
    const common = { db, clock: core.clock, random, newClaim: randomUUID, log, optionsForScope }
    const client = new HttpClient({
      ...defaultHttpClientLimits,
      connections: limits.concurrency,
      headersTimeoutMs: Math.max(limits.attemptTimeoutMs, defaultHttpClientLimits.headersTimeoutMs),
    })
    const fetchClient = new HttpClient({
      ...defaultHttpClientLimits,
      connections: defaultFetchLimits.concurrency,
      headersTimeoutMs: defaultFetchLimits.requestTimeoutMs,
      bodyTimeoutMs: defaultFetchLimits.requestTimeoutMs,
      keptReplyBytes: defaultFetchLimits.answerBytes,
    })
    this.#clients = [client, fetchClient]
    this.exporter = new Exporter({
      ...common,
      client,
      resolveDestination: destinations(core, config, ownGateway),
      serves: (destination) => findUnconfiguredSource(sources, destination) === undefined,
      limits,
    })
    this.fetcher = new RunFetcher({
      ...common,
      client: fetchClient,
      sources,
      exporter: this.exporter,
      limits: defaultFetchLimits,
    })
  }

  /** Starts exporting, including deliveries that earlier processes have left. */
  start(): void {
    const { signal } = this.#stop
    this.#running = Promise.all([this.exporter.run(signal), this.fetcher.run(signal)])
  }

  /** Returns the metrics in Prometheus' text format. */
  metrics(): string {
    return metricsText(this.exporter.metrics.snapshot())
  }

  /** Returns whether the exporter is running and its database answers. */
  async isReady(): Promise<boolean> {
    if (this.#stop.signal.aborted) return false
    return this.exporter.queue.listOpenLanes({ limit: 1 }).then(
      () => true,
      () => false,
    )
  }

  /** Stops claiming deliveries, and resolves when those in progress are settled. */
  end(): Promise<void> {
    this.#ended ??= this.#end()
    return this.#ended
  }

  async #end(): Promise<void> {
    this.#stop.abort()
    await this.#running
    for (const client of this.#clients) await client.close()
  }
}

/** Returns the lookup of the current destination of a record. */
function destinations(
  core: Core,
  { endpoint, headers, encoding, sources }: ExportConfig,
  ownGateway: string,
): ExporterOptions['resolveDestination'] {
  const instance = { url: endpoint ?? ownGateway, headers, encoding }
  return async (scope, record) => {
    const projectId = projectIdOf(scope)
    if (projectId === undefined) return sourceDestination(sources, scope, instance)
    const found = await findExportToken(core, projectId, record)
    if (typeof found === 'string') return found
    // The token of a project replaces the credential of the installation.
    const { authorization: _, ...others } = headers ?? {}
    return { ...instance, ...found, headers: found.token === undefined ? headers : others }
  }
}
