import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

export interface PostgresServer {
  readonly url: string
  /** Stops the server immediately, even with open connections, and removes its files. May be called again. */
  stop(): Promise<void>
}

const deadlineMs = 60_000
const superuser = 'penstock'

/** Settings for speed instead of durability, because the files are removed after the test. */
const fastSettings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  listen_addresses: '',
  max_connections: '300',
  // Dropping a schema locks each of its tables and indexes.
  max_locks_per_transaction: '512',
  log_statement: 'none',
  // Higher levels do not log that the server is ready.
  log_min_messages: 'log',
}

/** A commit survives the end of a server with these settings, but not a power failure. */
const killableSettings = { ...fastSettings, synchronous_commit: 'on' }

const versionsHome = '/usr/lib/postgresql'

export const searchedPath = `${versionsHome}/*/bin`

/** Returns the directory with the programs of the newest installed version. */
export function postgresBinaries(): string | undefined {
  if (!existsSync(versionsHome)) return undefined
  return readdirSync(versionsHome)
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(versionsHome, version, 'bin'))
    .find((bin) => existsSync(join(bin, 'initdb')) && existsSync(join(bin, 'postgres')))
}

type ServerSettings = Readonly<Record<string, string>>

/** The files of a server, in a temporary directory that also has its socket. */
interface Cluster {
  readonly directory: string
  readonly bin: string
  readonly options: SpawnOptions
}

/** A server that runs on the files of a cluster. */
interface RunningServer {
  readonly child: ChildProcess
  /** Resolves when the server and all its processes have ended. */
  readonly ended: Promise<unknown>
}

/** Starts a server with a new, empty cluster that listens only on a socket in its own directory. */
export async function startPostgres(): Promise<PostgresServer> {
  const { cluster, server } = await startNew(fastSettings)
  return { url: urlOf(cluster), stop: () => stopAndRemove(cluster, server) }
}

/** A server that can be killed at any time, and started again on the same files. Linux only. */
export class KillablePostgres implements AsyncDisposable {
  readonly #cluster: Cluster
  #server: RunningServer | undefined

  static async start(): Promise<KillablePostgres> {
    const { cluster, server } = await startNew(killableSettings)
    return new KillablePostgres(cluster, server)
  }

  private constructor(cluster: Cluster, server: RunningServer) {
    this.#cluster = cluster
    this.#server = server
  }

  get url(): string {
    return urlOf(this.#cluster)
  }

  get isRunning(): boolean {
    return this.#server !== undefined
  }

  /** Kills the server and all its processes with SIGKILL. Resolves when they have ended. */
  async kill(): Promise<void> {
    const server = this.#server!
    this.#server = undefined
    const pids = [server.child.pid!, ...childPids(server.child.pid!)]
    for (const pid of pids) killIfThere(pid)
    await server.ended
  }

  /** Starts the server again after `kill`. Resolves when it accepts connections. */
  async startAgain(): Promise<void> {
    const deadlineAtMs = performance.now() + deadlineMs
    while (this.#server === undefined) {
      try {
        this.#server = await startOn(this.#cluster, killableSettings)
      } catch (error) {
        // A process of the killed server may still use its shared memory for a moment.
        if (performance.now() > deadlineAtMs) throw error
        await sleep(RESTART_PAUSE_MS)
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#server === undefined) await rm(this.#cluster.directory, { recursive: true, force: true })
    else await stopAndRemove(this.#cluster, this.#server)
  }
}

const RESTART_PAUSE_MS = 100

const childPids = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

const urlOf = ({ directory }: Cluster): string =>
  `postgresql:///postgres?host=${encodeURIComponent(directory)}&user=${superuser}`

async function startNew(settings: ServerSettings): Promise<{ cluster: Cluster; server: RunningServer }> {
  const cluster = await createCluster()
  try {
    return { cluster, server: await startOn(cluster, settings) }
  } catch (error) {
    await rm(cluster.directory, { recursive: true, force: true })
    throw error
  }
}

async function createCluster(): Promise<Cluster> {
  const bin = postgresBinaries()
  if (bin === undefined) throw new Error(`PostgreSQL is not installed; searched ${searchedPath}`)
  const directory = await mkdtemp(join(tmpdir(), 'penstock-pg-'))
  const owner = unprivileged()
  if (owner.uid !== undefined) await chown(directory, owner.uid, owner.gid!)
  const options: SpawnOptions = { ...owner, cwd: directory, env: { LC_ALL: 'C', TZ: 'UTC' } }
  try {
    const data = ['--pgdata', dataOf(directory), '--username', superuser, '--auth', 'trust']
    const initdb = [...data, '--encoding', 'UTF8', '--locale', 'C', '--no-sync', '--no-instructions']
    await run(join(bin, 'initdb'), initdb, options)
  } catch (error) {
    await rm(directory, { recursive: true, force: true })
    throw error
  }
  return { directory, bin, options }
}

const dataOf = (directory: string): string => join(directory, 'data')

/** Starts a server, and resolves when it accepts connections. If it does not, it is stopped. */
async function startOn({ directory, bin, options }: Cluster, settings: ServerSettings): Promise<RunningServer> {
  const serverSettings = Object.entries({ ...settings, unix_socket_directories: directory })
  const args = ['-D', dataOf(directory), ...serverSettings.flatMap(([name, value]) => ['-c', `${name}=${value}`])]
  const child = spawn(join(bin, 'postgres'), args, { ...options, stdio: ['ignore', 'ignore', 'pipe'] })
  stopWithParent(child, directory)
  const server = { child, ended: once(child, 'close').catch(() => {}) }
  try {
    await ready(child)
    return server
  } catch (error) {
    await stopServer(server)
    throw error
  }
}

async function stopServer({ child, ended }: RunningServer): Promise<void> {
  // SIGQUIT stops the server with all its processes immediately, without writing.
  if (child.exitCode === null && child.signalCode === null) child.kill('SIGQUIT')
  const timer = setTimeout(() => child.kill('SIGKILL'), deadlineMs)
  await ended
  clearTimeout(timer)
}

async function stopAndRemove({ directory }: Cluster, server: RunningServer): Promise<void> {
  await stopServer(server)
  await rm(directory, { recursive: true, force: true })
}

/** Returns the ids of the user `postgres` if this process runs as root, because PostgreSQL does not run as root. */
function unprivileged(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const idOf = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return { uid: idOf('-u'), gid: idOf('-g') }
}

async function run(command: string, args: readonly string[], options: SpawnOptions): Promise<void> {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (chunk: Buffer) => (output += chunk))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${command} exited with ${code}:\n${output}`)
}

async function ready(child: ChildProcess): Promise<void> {
  let log = ''
  await new Promise<void>((resolve, reject) => {
    const fail = (detail: string) => reject(new Error(`postgres did not start${detail}:\n${log}`))
    const timer = setTimeout(() => fail(' in time'), deadlineMs)
    createInterface({ input: child.stderr! }).on('line', (line) => {
      if (log.length < 100_000) log += `${line}\n`
      if (line.includes('ready to accept connections')) resolve()
    })
    child.once('error', reject)
    child.once('close', () => fail(''))
    child.once('close', () => clearTimeout(timer))
    timer.unref()
  })
}

/** Stops the server when this process ends, even if it is killed: a watcher waits until its pipe is closed. */
function stopWithParent(child: ChildProcess, directory: string): void {
  const watcher = spawn('sh', ['-c', `read _; kill -QUIT ${child.pid}; sleep 1; rm -rf "$0"`, directory], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  child.once('close', () => watcher.kill('SIGKILL'))
}
