import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Listening, listen } from '@penstock/http'
import { jsonLog } from '@penstock/runtime'
import { ManualClock, type TemporaryDatabase, temporaryDatabase } from '@penstock/testkit'
import { request } from 'undici'
import { expect } from 'vitest'
import { ensureFirstAdminKey } from '../../packages/gateway/src/accounts/api-key-operations.ts'
import { managementApp, managementOpenApi } from '../../packages/gateway/src/admin/management-app.ts'
import type { ManagementDeps } from '../../packages/gateway/src/admin/management-context.ts'
import type { ReadinessReport } from '../../packages/gateway/src/enforcement/readiness.ts'
import {
  defaultManagementRules,
  type ManagementRules,
  type Role,
} from '../../packages/gateway/src/operations/operation-context.ts'
import { openPeppers } from '../../packages/gateway/src/secrets/open-peppers.ts'
import { openGatewayStore } from '../../packages/gateway/src/store/gateway-store.ts'
import type { GatewayDb } from '../../packages/gateway/src/store/tables.ts'
import { ApiDescriptionCheck } from './api-description-check.ts'
import { damageTable } from './damaged-table.ts'

export const startMs = Date.parse('2026-11-21T07:03:00Z')
const adminKey = 'first-admin-key-of-the-tests'

export interface CallOptions {
  /** The role that has the sent key. `null` sends no key, and any other string is sent as the key. Default: Admin. */
  readonly as?: Role | string | null
  /** The body, which is sent as JSON. */
  readonly json?: unknown
  /** The body, which is sent unchanged; `headers` must have its type. */
  readonly body?: string | Uint8Array
  /** Additional headers. A list sends the header several times. */
  readonly headers?: Readonly<Record<string, string | string[]>>
}

export interface Called {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: the answer has been validated against the OpenAPI document
  readonly json: any
}

/** A management API on a real socket and a real database, with a client that rejects answers that the OpenAPI document does not allow. */
export class IngestAuthWorld {
  readonly clock = new ManualClock(startMs)
  readonly directory = mkdtempSync(join(tmpdir(), 'penstock-ingest-auth-'))
  readonly logLines: string[] = []
  /** The headers and the body of every answer. */
  readonly answers: string[] = []
  readonly check = new ApiDescriptionCheck(managementOpenApi('0.0.0'))
  readonly keys: Record<Role, string> = { Admin: adminKey, Editor: '', Viewer: '' }
  /** The id of each role's key, which identifies the actor in the audit log. */
  readonly keyIds: Record<Role, string> = { Admin: '', Editor: '', Viewer: '' }
  /** The report that `GET /readiness` and `require_ready` use. */
  readiness: ReadinessReport = readyReport
  failReadiness: Error | undefined
  /** The windows of the requested readiness reports, in milliseconds. */
  readonly windowsMs: number[] = []
  #database: TemporaryDatabase | undefined
  #db: GatewayDb | undefined
  #server: Listening | undefined

  static async open(rules: Partial<ManagementRules> = {}, externalUrl?: string): Promise<IngestAuthWorld> {
    const world = new IngestAuthWorld()
    await world.#start(rules, externalUrl)
    return world
  }

  get db(): GatewayDb {
    return this.#db!
  }

  get url(): string {
    return this.#server!.url
  }

  async #start(rules: Partial<ManagementRules>, externalUrl: string | undefined): Promise<void> {
    this.#database = await temporaryDatabase(this.directory)
    const db = await openGatewayStore(this.#database.location)
    this.#db = db
    const nowMs = () => this.clock.nowMs()
    const peppers = await openPeppers(db, { dataDir: this.directory, randomBytes })
    await ensureFirstAdminKey(db, peppers, { configuredKey: adminKey, nowMs: nowMs(), randomBytes })
    const deps: ManagementDeps = {
      externalUrl,
      strictTransportSeconds: 31_536_000,
      db,
      peppers,
      nowMs,
      monotonicMs: () => this.clock.monotonicMs(),
      randomBytes,
      rules: { ...defaultManagementRules, ...rules },
      propagate: async () => ({ instances: 2, applied: 2 }),
      log: jsonLog({ write: (line) => this.logLines.push(line) }, nowMs),
      readiness: async (windowMs) => {
        this.windowsMs.push(windowMs)
        if (this.failReadiness) throw this.failReadiness
        return this.readiness
      },
      isStoreConnected: false,
      otlp: { externalUrl: undefined, bound: { host: '0.0.0.0', port: 4318 }, isTls: false },
      coreUrl: () => 'http://core.example:8080',
      version: '0.0.0',
    }
    this.#server = await listen(managementApp(deps), { host: '127.0.0.1', port: 0 })
    for (const role of ['Editor', 'Viewer'] as const) {
      const { json } = await this.call('POST', '/api/v1/api_keys', { json: { name: role.toLowerCase(), role } })
      this.keys[role] = json.key
      this.keyIds[role] = json.id
    }
    const { json } = await this.call('GET', '/api/v1/api_keys')
    this.keyIds.Admin = json.at(-1).id
  }

  /** Damages a table of an SQLite store, so that the store cannot read it any more. */
  async damage(table: string): Promise<void> {
    await damageTable(this.db, this.#database!.location, table)
  }

  /** Makes a call. @param path a path below `/api/v1/ingest_auth`, or one that begins with `/api/` */
  async call(method: string, path: string, options: CallOptions = {}): Promise<Called> {
    const target = path.startsWith('/api/') ? path : `/api/v1/ingest_auth${path}`
    const answer = await request(this.url + target, { method: method as 'GET', ...this.#sent(options) })
    const text = await answer.body.text()
    this.answers.push(JSON.stringify(answer.headers), text)
    const called = { status: answer.statusCode, headers: answer.headers, text }
    const [pathname = ''] = target.split('?')
    if (method !== 'HEAD' && pathname !== '/api/v1/openapi.json') {
      expect(this.check.validate({ ...called, method, path: pathname })).toEqual([])
    }
    return { ...called, json: text === '' ? undefined : JSON.parse(text) }
  }

  #sent({
    as = 'Admin',
    json,
    body = json === undefined ? undefined : JSON.stringify(json),
    headers = {},
  }: CallOptions) {
    const key = as === null ? undefined : as in this.keys ? this.keys[as as Role] : as
    return {
      ...(body !== undefined && { body }),
      headers: {
        ...(key !== undefined && { 'obs-api-key': key }),
        ...(json !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
    }
  }

  async createToken(json: Readonly<Record<string, unknown>> = {}): Promise<{ id: string; token: string }> {
    const { json: created } = await this.call('POST', '/tokens', { json: { name: 'ci-runners', ...json } })
    return created
  }

  async enforce(enabled: boolean): Promise<void> {
    expect((await this.call('PUT', '/state', { json: { enabled } })).status).toBe(200)
  }

  /** Returns the content of every file of the store. */
  fileBytes(): Buffer[] {
    return readdirSync(this.directory).map((name) => readFileSync(join(this.directory, name)))
  }

  async close(): Promise<void> {
    await this.#server?.close()
    await this.#db?.close()
    await this.#database?.remove()
    rmSync(this.directory, { recursive: true })
  }
}

const readyReport: ReadinessReport = {
  ready: true,
  window_seconds: 86_400,
  observed_since: '2026-11-20T07:00:00Z',
  requests: 0,
  would_reject: 0,
  clients: [],
  wrong_paths: [],
  unused_tokens: [],
  expiring_tokens: [],
  processes: { reported: 2, live: 2 },
  blockers: [],
}
