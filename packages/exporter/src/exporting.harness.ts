import { type ConvertOptionsInput, resolveOptions } from '@penstock/converter'
import { type Db, migrate, openDatabase } from '@penstock/db'
import { DeliveryQueue, defaultHttpClientLimits, HttpClient } from '@penstock/delivery'
import { type Signal, signalNames } from '@penstock/otlp'
import { jsonLog } from '@penstock/runtime'
import { ManualClock } from '@penstock/testkit'
import { Exporter } from './exporter.ts'
import { isDurable } from './options/durable-options.ts'
import { defaultExportLimits, type ExportLimits } from './options/export-limits.ts'
import type { IntakeRequest } from './records/intake-request.ts'
import { readBody } from './records/received-body.ts'
import type { Destination } from './sending/destination.ts'
import { type ExporterTables, exporterMigrations } from './store/export-tables.ts'
import { EXPORT_QUEUE } from './store/record-store.ts'

export type NewPlace = () => Promise<{ location: string; remove(): Promise<void> }>

export const NOW_MS = Date.UTC(2026, 1, 11, 9, 30)

const project = (host: string, path: string) => ({
  id: path.length,
  path_with_namespace: path,
  web_url: `https://${host}/${path}`,
})

export interface Hook {
  readonly id: number | bigint
  readonly status?: string
  readonly finishedAt?: string
  /** The id of the pipeline that started it. */
  readonly parent?: number
  readonly host?: string
  readonly jobs?: readonly number[]
  /** Replaces the builds made from `jobs`. */
  readonly builds?: readonly object[]
  readonly more?: Readonly<Record<string, unknown>>
}

/** Returns the body of a pipeline hook. */
export function hook({
  id,
  status = 'success',
  finishedAt,
  parent,
  host = 'ci.example.com',
  jobs = [],
  builds = jobs.map((job) => ({ id: job, name: `job ${job}`, stage: 'test', status: 'success' })),
  more,
}: Hook): string {
  const body = {
    object_kind: 'pipeline',
    object_attributes: {
      id: 'ID',
      status,
      created_at: '2026-02-11 09:00:00 UTC',
      finished_at: finishedAt ?? (status === 'running' ? null : '2026-02-11 09:25:11 UTC'),
      ...more,
    },
    project: project(host, 'harbour/tide-tables'),
    builds,
    ...(parent !== undefined && {
      source_pipeline: { pipeline_id: parent, job_id: 900, project: project(host, 'harbour/tide-tables') },
    }),
  }
  return JSON.stringify(body).replace('"ID"', String(id))
}

export const jobHook = (more: Readonly<Record<string, unknown>> = {}): string =>
  JSON.stringify({
    object_kind: 'build',
    build_id: 7,
    build_status: 'success',
    pipeline_id: 1,
    project: project('ci.example.com', 'harbour/tide-tables'),
    ...more,
  })

interface Change {
  readonly options?: ConvertOptionsInput
  readonly limits?: Partial<ExportLimits>
  readonly resolveDestination?: (scope: string) => Promise<Destination | string>
}

/** An exporter with a database. Several exporters can share one database. */
export class ExportingWorld {
  readonly db: Db<ExporterTables>
  readonly clock: ManualClock
  readonly exporter: Exporter
  readonly lines: Record<string, unknown>[] = []
  readonly #watchers: { readonly count: number; resolve(): void }[] = []
  readonly #client = new HttpClient({ ...defaultHttpClientLimits, keptReplyBytes: 1_000 })
  static #claims = 0

  static async open(location: string, change: Change = {}, clock = new ManualClock(NOW_MS)): Promise<ExportingWorld> {
    const db = openDatabase<ExporterTables>(location)
    await migrate(db, exporterMigrations)
    return new ExportingWorld(db, change, clock)
  }

  private constructor(
    db: Db<ExporterTables>,
    { options = {}, limits, resolveDestination }: Change,
    clock: ManualClock,
  ) {
    const resolved = resolveOptions(options)
    if (!isDurable(resolved)) throw new Error('per-run only')
    this.db = db
    this.clock = clock
    this.exporter = new Exporter({
      db,
      clock,
      random: () => 0.5,
      newClaim: () => `claim ${ExportingWorld.#claims++}`,
      log: jsonLog({ write: (line) => this.#keepLine(line) }, () => clock.nowMs()),
      client: this.#client,
      optionsForScope: () => resolved,
      resolveDestination: resolveDestination ?? (async () => 'no endpoint'),
      limits: { ...defaultExportLimits, ...limits },
    })
  }

  received(text: string, scope = 'source:forge', signals: readonly Signal[] = signalNames): IntakeRequest {
    return {
      scope,
      body: readBody(text),
      receivedAtNs: this.clock.nowNs(),
      plan: async () => ({ signals, destination: 'd1' }),
    }
  }

  receive(text: string, scope?: string, signals?: readonly Signal[]) {
    return this.exporter.intake.enqueueShared(this.received(text, scope, signals))
  }

  /** Returns the keys of the deliveries in order. */
  async keys(state: 'open' | 'delivered' | 'dead' = 'open'): Promise<string[]> {
    return (await this.deliveries(state)).map(({ key }) => key)
  }

  async deliveries(state: 'open' | 'delivered' | 'dead' = 'open') {
    const latestFirst = await new DeliveryQueue(this.db as never, EXPORT_QUEUE).list(state, { limit: 1_000 })
    return latestFirst.toReversed()
  }

  metric(name: string, labels: Readonly<Record<string, string>> = {}): number | undefined {
    const wanted = JSON.stringify(labels)
    return this.exporter.metrics
      .snapshot()
      .find((sample) => sample.name === name && JSON.stringify(sample.labels) === wanted)?.value
  }

  /** Exports until `event` resolves and the deliveries in progress are settled. */
  async runUntil(event: Promise<unknown>): Promise<void> {
    const stop = new AbortController()
    const running = this.exporter.run(stop.signal)
    await event
    stop.abort()
    await running
  }

  /** Resolves when `count` lines have been logged. */
  async logged(count: number): Promise<void> {
    if (this.lines.length >= count) return
    await new Promise<void>((resolve) => this.#watchers.push({ count, resolve }))
  }

  #keepLine(line: string): void {
    this.lines.push(JSON.parse(line))
    for (const { count, resolve } of this.#watchers) if (this.lines.length >= count) resolve()
  }

  async close(): Promise<void> {
    await this.#client.close()
    await this.db.close()
  }
}
