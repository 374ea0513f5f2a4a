import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request as startRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { resolveOptions } from '@penstock/converter'
import { type Db, migrate, openDatabase } from '@penstock/db'
import { defaultHttpClientLimits, HttpClient } from '@penstock/delivery'
import { type Listening, listen } from '@penstock/http'
import { jsonLog, TrustedProxies } from '@penstock/runtime'
import { ManualClock, ScriptedServer, temporaryDatabase } from '@penstock/testkit'
import { Webhook } from 'standardwebhooks'
import { Exporter } from '../exporter.ts'
import { defaultFetchLimits, type FetchLimits } from '../fetching/fetch-limits.ts'
import { RunFetcher } from '../fetching/run-fetcher.ts'
import type { DurableOptions } from '../options/durable-options.ts'
import { defaultExportLimits, type ExportLimits } from '../options/export-limits.ts'
import { findSource, readSources, sourceDestination } from '../sources/sources.ts'
import { type ExporterTables, exporterMigrations } from '../store/export-tables.ts'
import { type HookLimits, hooksListener } from './hooks-listener.ts'

export const secretToken = 'canary-secret-5d1e77'
export const signingToken = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8='
/** 2026-07-28T15:12:59Z */
export const NOW_MS = 1_785_251_579_000

const fixtures = join(import.meta.dirname, '../../../../fixtures')
export const fixture = (path: string): string => readFileSync(join(fixtures, path), 'utf8')
/** Returns the hooks of a fixture that contains several, in order of arrival. */
export const readHooks = (name: string): string[] =>
  (JSON.parse(fixture(`pipelines/${name}.json`)) as object[]).map((body) => JSON.stringify(body))

interface Settings {
  readonly sources?: object
  readonly serviceName?: string
  readonly limits?: Partial<HookLimits>
  readonly exportLimits?: Partial<ExportLimits>
  readonly fetchLimits?: Partial<FetchLimits>
  /** The database. Default: a new one. */
  readonly location?: string
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly json: { readonly result?: string; readonly reason?: string; readonly message?: string }
}

/** A hook receiver that listens on a socket, and an exporter that sends to the scripted server `sink`. */
export class HookReceiver {
  readonly clock: ManualClock
  readonly db: Db<ExporterTables>
  readonly sink: ScriptedServer
  readonly exporter: Exporter
  readonly fetcher: RunFetcher
  readonly #log: string[]
  readonly #listening: Listening
  readonly #ends: (() => unknown)[]

  static async start(settings: Settings = {}): Promise<HookReceiver> {
    const directory = mkdtempSync(join(tmpdir(), 'penstock-hooks-'))
    const { location } = settings
    const database = location === undefined ? await temporaryDatabase(directory) : { location, remove: async () => {} }
    const db = openDatabase<ExporterTables>(database.location)
    await migrate(db, exporterMigrations)
    const sink = await ScriptedServer.start(() => ({ play: 'reply', status: 200 }))
    const fetchLimits = { ...defaultFetchLimits, ...settings.fetchLimits }
    const client = new HttpClient({ ...defaultHttpClientLimits, keptReplyBytes: fetchLimits.answerBytes })
    const clock = new ManualClock(NOW_MS)
    const lines: string[] = []
    const log = jsonLog({ write: (line) => lines.push(line) }, () => clock.nowMs())
    const sources = readSources(settings.sources ?? { forge: { secretToken, signals: ['traces'], encoding: 'json' } })
    const common = {
      db,
      clock,
      random: () => 0.5,
      newClaim: () => randomBytes(8).toString('hex'),
      log,
      client,
      optionsForScope: (scope: string) => resolveOptions({ ...findSource(sources, scope)!.options }) as DurableOptions,
    }
    const exporter = new Exporter({
      ...common,
      resolveDestination: async (scope) => sourceDestination(sources, scope, { url: sink.url, encoding: 'json' }),
      limits: { ...defaultExportLimits, ...settings.exportLimits },
    })
    const fetcher = new RunFetcher({ ...common, sources, exporter, limits: fetchLimits })
    const listener = hooksListener({
      fetcher,
      bodies: exporter.bodies,
      sources,
      intake: exporter.intake,
      serviceName: settings.serviceName ?? 'svc',
      clock,
      log,
      trustedProxies: new TrustedProxies(['127.0.0.1']),
      ...(settings.limits && { limits: settings.limits }),
    })
    const listening = await listen(listener, { host: '127.0.0.1', port: 0 })
    const ends = [
      () => listening.close(AbortSignal.abort()),
      () => client.close(),
      () => sink.close(),
      () => db.close(),
      () => database.remove(),
      () => rmSync(directory, { recursive: true }),
    ]
    return new HookReceiver({ clock, db, sink, lines, listening, exporter, fetcher, ends })
  }

  private constructor(parts: {
    clock: ManualClock
    db: Db<ExporterTables>
    sink: ScriptedServer
    lines: string[]
    listening: Listening
    exporter: Exporter
    fetcher: RunFetcher
    ends: (() => unknown)[]
  }) {
    this.clock = parts.clock
    this.db = parts.db
    this.sink = parts.sink
    this.#log = parts.lines
    this.#listening = parts.listening
    this.exporter = parts.exporter
    this.fetcher = parts.fetcher
    this.#ends = parts.ends
  }

  get logged(): string {
    return this.#log.join('')
  }

  urlOf(source: string): string {
    return `${this.#listening.url}/hooks/pipelines/${source}`
  }

  async post(body: string | Buffer, headers: Readonly<Record<string, string>> = {}, source = 'forge'): Promise<Answer> {
    const request = startRequest(this.urlOf(source), { method: 'POST', headers, agent: false })
    request.end(body)
    return answerTo(request)
  }

  /** Posts a hook with the secret token. */
  send(body: string | Buffer, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.post(body, { 'X-Gitlab-Token': secretToken, ...headers })
  }

  /** Returns the keys of all enqueued records. */
  async keys(): Promise<string[]> {
    const rows = await this.db.read.selectFrom('export_records').select('key').orderBy('key').execute()
    return rows.map(({ key }) => key)
  }

  /** Exports until the endpoint has received `count` requests, and returns them. */
  async exported(count: number): Promise<readonly ScriptedServer['requests'][number][]> {
    const end = new AbortController()
    const running = this.exporter.run(end.signal)
    await this.sink.received(count)
    end.abort()
    await running
    return this.sink.requests
  }

  async close(): Promise<void> {
    for (const end of this.#ends) await end()
  }
}

export function answerTo(request: ReturnType<typeof startRequest>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request.on('error', reject)
    request.on('response', async (response) => {
      const chunks = await response.toArray()
      const json = JSON.parse(Buffer.concat(chunks).toString())
      resolve({ status: response.statusCode!, headers: response.headers, json })
    })
  })
}

/** Returns the headers of a signed hook, made by the reference implementation of Standard Webhooks. */
export function signed(body: string, id: string, atMs = NOW_MS, token = signingToken): Record<string, string> {
  const signature = new Webhook(token).sign(id, new Date(atMs), body)
  return { 'webhook-id': id, 'webhook-timestamp': String(atMs / 1_000), 'webhook-signature': signature }
}
