import { randomUUID } from 'node:crypto'
import type { Core } from '@penstock/core'
import { defaultHttpClientLimits, HttpClient } from '@penstock/delivery'
import { Exporter, type ExporterOptions, findUnconfiguredSource, sourceDestination } from '@penstock/exporter'
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

/** The exporter of this process with its HTTP client. */
export class Exporting {
  readonly exporter: Exporter
  readonly #client: HttpClient
  readonly #stop = new AbortController()
  #running: Promise<unknown> | undefined
  #ended: Promise<void> | undefined

  constructor({ core, db, config, ownGateway, random, log }: ExportingOptions) {
    const { limits, optionsForScope, sources } = config
    this.#client = new HttpClient({
      ...defaultHttpClientLimits,
      connections: limits.concurrency,
      headersTimeoutMs: Math.max(limits.attemptTimeoutMs, defaultHttpClientLimits.headersTimeoutMs),
    })
    this.exporter = new Exporter({
      db,
      clock: core.clock,
      random,
      newClaim: randomUUID,
      log,
      client: this.#client,
      optionsForScope,
      resolveDestination: destinations(core, config, ownGateway),
      serves: (destination) => findUnconfiguredSource(sources, destination) === undefined,
      limits,
    })
  }

  /** Starts exporting, including deliveries that earlier processes have left. */
  start(): void {
    this.#running = this.exporter.run(this.#stop.signal)
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
    await this.#client.close()
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
