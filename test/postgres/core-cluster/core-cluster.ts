import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CoreProcess } from '../../core/core-process.ts'
import { KillablePostgres } from '../postgres-server.ts'
import type { ExportReceiver } from './export-receiver.ts'

/** A start takes half a minute on a busy machine, and fails if the database is killed in between. */
const START_AGAIN_LIMIT_MS = 600_000
const START_LIMIT_MS = 300_000
const START_PAUSE_MS = 250
const KEY_FILE = 'secrets.key'

export interface ClusterSize {
  readonly cores: number
  readonly workers: number
}

/** The times, by `performance.now()`, at which a process began and was killed. */
interface Life {
  readonly name: string
  killedAtMs: number | undefined
}

/** A host with a data directory and a process of its own. The repositories are in a directory that all hosts share. */
export class ClusterHost {
  readonly role: 'core' | 'worker'
  readonly lives: Life[] = []
  readonly #name: string
  readonly #dataDir: string
  readonly #databaseUrl: string
  readonly #receiver: ExportReceiver
  readonly #processes: CoreProcess[] = []
  #running: CoreProcess | undefined

  constructor(
    role: 'core' | 'worker',
    {
      name,
      dataDir,
      databaseUrl,
      receiver,
    }: {
      readonly name: string
      readonly dataDir: string
      readonly databaseUrl: string
      readonly receiver: ExportReceiver
    },
  ) {
    this.role = role
    this.#name = name
    this.#dataDir = dataDir
    this.#databaseUrl = databaseUrl
    this.#receiver = receiver
  }

  get running(): CoreProcess | undefined {
    return this.#running
  }

  /** The logs of all processes that have run on this host. */
  get logs(): string {
    return this.#processes.map(({ stderr }) => stderr).join('')
  }

  async start(): Promise<void> {
    const life = { name: `${this.#name}-${this.lives.length}`, killedAtMs: undefined }
    const started = await CoreProcess.start(this.#dataDir, {
      databaseUrl: this.#databaseUrl,
      role: this.role,
      startTimeoutMs: START_LIMIT_MS,
      env: {
        // Pipeline ids depend on this host; the port differs after each start.
        PENSTOCK_EXTERNAL_URL: 'https://ci.example.com',
        PENSTOCK_EXPORT_ENDPOINT: this.#receiver.urlFor(life.name),
        PENSTOCK_OBS_LISTEN: '127.0.0.1:0',
      },
    })
    this.lives.push(life)
    this.#processes.push(started)
    this.#running = started
  }

  /** Starts the process again. A start while the database is away fails, and is tried again. */
  async startAgain(): Promise<void> {
    const deadlineAtMs = performance.now() + START_AGAIN_LIMIT_MS
    while (this.#running === undefined) {
      try {
        await this.start()
      } catch (error) {
        if (performance.now() > deadlineAtMs) throw error
        await sleep(START_PAUSE_MS)
      }
    }
  }

  async kill(): Promise<void> {
    const process = this.#running
    if (process === undefined) return
    this.#running = undefined
    this.lives.at(-1)!.killedAtMs = performance.now()
    await process[Symbol.asyncDispose]()
  }

  /** Stops the process in order. */
  async end(): Promise<void> {
    const process = this.#running
    this.#running = undefined
    await process?.end()
  }
}

/** Cores and workers as on hosts of their own, on one PostgreSQL server and one shared directory of repositories. */
export class CoreCluster implements AsyncDisposable {
  readonly postgres: KillablePostgres
  readonly hosts: readonly ClusterHost[]
  /** The directory that has `repositories`. */
  readonly sharedDir: string
  readonly #directory: string

  static async start({ cores, workers }: ClusterSize, receiver: ExportReceiver): Promise<CoreCluster> {
    const postgres = await KillablePostgres.start()
    const directory = mkdtempSync(join(tmpdir(), 'penstock-cluster-'))
    const sharedDir = join(directory, 'shared')
    mkdirSync(join(sharedDir, 'repositories'), { recursive: true, mode: 0o700 })
    const hosts: ClusterHost[] = []
    const cluster = new CoreCluster(postgres, hosts, sharedDir, directory)
    try {
      // The first core creates the tables, and the key that the other hosts get a copy of.
      const keyFile = join(directory, 'core-1', KEY_FILE)
      for (const role of [...Array(cores).fill('core'), ...Array(workers).fill('worker')] as ('core' | 'worker')[]) {
        const name = `${role}-${hosts.filter((host) => host.role === role).length + 1}`
        const dataDir = join(directory, name)
        mkdirSync(dataDir, { mode: 0o700 })
        symlinkSync(join(sharedDir, 'repositories'), join(dataDir, 'repositories'))
        if (existsSync(keyFile)) copyFileSync(keyFile, join(dataDir, KEY_FILE))
        const host = new ClusterHost(role, { name, dataDir, databaseUrl: postgres.url, receiver })
        hosts.push(host)
        if (hosts.length === 1) await host.start()
      }
      await Promise.all(hosts.slice(1).map((host) => host.start()))
      return cluster
    } catch (error) {
      await cluster[Symbol.asyncDispose]()
      throw error
    }
  }

  private constructor(postgres: KillablePostgres, hosts: readonly ClusterHost[], sharedDir: string, directory: string) {
    this.postgres = postgres
    this.hosts = hosts
    this.sharedDir = sharedDir
    this.#directory = directory
  }

  running(role?: 'core' | 'worker'): ClusterHost[] {
    return this.hosts.filter((host) => host.running !== undefined && (role === undefined || host.role === role))
  }

  /** Returns the life of a process by its name. */
  life(name: string): Life | undefined {
    return this.hosts.flatMap(({ lives }) => lives).find((life) => life.name === name)
  }

  /** Returns the number of log lines of level error or fatal by event. */
  loggedErrors(): ReadonlyMap<string, number> {
    const lines = this.hosts.flatMap(({ logs }) => logs.split('\n'))
    const counts = new Map<string, number>()
    for (const line of lines.filter((each) => /"level":"(?:error|fatal)"/.test(each))) {
      const { event } = JSON.parse(line) as { event: string }
      counts.set(event, (counts.get(event) ?? 0) + 1)
    }
    return counts
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const host of this.hosts) await host.kill()
    await this.postgres[Symbol.asyncDispose]()
    rmSync(this.#directory, { recursive: true, force: true })
  }
}
