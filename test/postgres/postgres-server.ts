import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export interface PostgresServer {
  readonly url: string
  /** Stops the server immediately, even with open connections, and removes its files. May be called again. */
  stop(): Promise<void>
}

const deadlineMs = 60_000
const superuser = 'penstock'

/** Settings for speed instead of durability, because the files are removed after the test. */
const settings = {
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

/** Starts a server with a new, empty cluster that listens only on a socket in its own directory. */
export async function startPostgres(): Promise<PostgresServer> {
  const bin = postgresBinaries()
  if (bin === undefined) throw new Error(`PostgreSQL is not installed; searched ${searchedPath}`)
  const directory = await mkdtemp(join(tmpdir(), 'penstock-pg-'))
  const data = join(directory, 'data')
  const owner = unprivileged()
  if (owner.uid !== undefined) await chown(directory, owner.uid, owner.gid!)
  const options: SpawnOptions = { ...owner, cwd: directory, env: { LC_ALL: 'C', TZ: 'UTC' } }
  try {
    const initdb = ['--pgdata', data, '--username', superuser, '--auth', 'trust', '--encoding', 'UTF8', '--locale', 'C']
    await run(join(bin, 'initdb'), [...initdb, '--no-sync', '--no-instructions'], options)
  } catch (error) {
    await rm(directory, { recursive: true, force: true })
    throw error
  }

  const serverSettings = Object.entries({ ...settings, unix_socket_directories: directory })
  const args = ['-D', data, ...serverSettings.flatMap(([name, value]) => ['-c', `${name}=${value}`])]
  const child = spawn(join(bin, 'postgres'), args, { ...options, stdio: ['ignore', 'ignore', 'pipe'] })
  stopWithParent(child, directory)
  const ended = once(child, 'close').catch(() => {})
  const stop = async () => {
    // SIGQUIT stops the server with all its processes immediately, without writing.
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGQUIT')
    const timer = setTimeout(() => child.kill('SIGKILL'), deadlineMs)
    await ended
    clearTimeout(timer)
    await rm(directory, { recursive: true, force: true })
  }
  try {
    await ready(child)
  } catch (error) {
    await stop()
    throw error
  }
  return { url: `postgresql:///postgres?host=${encodeURIComponent(directory)}&user=${superuser}`, stop }
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
