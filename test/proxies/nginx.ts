import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { freePort } from '../collector/free-port.ts'

export interface NginxStart {
  /** Returns the content of `http { … }`. The argument is the list of reserved loopback ports. */
  config: (ports: readonly number[]) => string
  /** The number of ports. The default is 1. */
  ports?: number
  /** The value of `worker_processes`. The default is 1. */
  workers?: number
}

export interface Nginx {
  readonly ports: readonly number[]
  /** The process id of the master. Its workers serve the requests. */
  readonly pid: number
  readonly workerPids: readonly number[]
  /** Returns the log since the start, from level `notice`. */
  logs(): string
  /** Reloads the configuration, or loads another one. Resolves when the new workers run, and rejects if nginx rejects it. */
  reload(config?: NginxStart['config']): Promise<void>
  /** Stops nginx immediately and removes its files. It may be called again. */
  stop(): Promise<void>
}

const deadlineMs = 60_000

const binaryPaths = ['/usr/sbin/nginx', '/usr/local/sbin/nginx', '/usr/bin/nginx', '/opt/homebrew/bin/nginx']

export function nginxBinary(): string | undefined {
  return binaryPaths.find((path) => existsSync(path))
}

/** Starts nginx on loopback, in the foreground, with all its files in a temporary directory. */
export async function startNginx({ config, ports: portCount = 1, workers = 1 }: NginxStart): Promise<Nginx> {
  const binary = nginxBinary()
  if (binary === undefined) throw new Error(`nginx is not installed; looked for ${binaryPaths.join(', ')}`)
  const directory = await mkdtemp(join(tmpdir(), 'penstock-nginx-'))
  const ports = await Promise.all(Array.from({ length: portCount }, freePort))
  const write = (http: NginxStart['config']) =>
    writeFile(join(directory, 'nginx.conf'), wholeConfig(http(ports), workers))
  await write(config)

  const args = ['-p', `${directory}/`, '-c', 'nginx.conf', '-e', 'stderr', '-g', 'daemon off;']
  const child = spawn(binary, args, { env: {}, stdio: ['ignore', 'ignore', 'pipe'] })
  terminateWithParent(child)

  let log = ''
  let workerPids: number[] = []
  let startedWorkers = 0
  let onLine = () => {}
  createInterface({ input: child.stderr }).on('line', (line) => {
    log += `${line}\n`
    const pid = line.match(/start worker process (\d+)/)?.[1]
    if (pid !== undefined) {
      workerPids = [...workerPids, Number(pid)].slice(-workers)
      startedWorkers += 1
    }
    onLine()
  })
  const ended = new Promise<void>((resolve) => {
    child.once('error', () => resolve())
    child.once('close', () => resolve())
  })

  /** Resolves when the workers have started, which they do once every port is bound. */
  const workersStarted = (count: number, from: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => fail('in time'), deadlineMs)
      const fail = (how: string) => {
        clearTimeout(timer)
        reject(new Error(`nginx did not start its workers ${how}:\n${log.slice(from)}`))
      }
      onLine = () => {
        if (/\[emerg\]/.test(log.slice(from))) fail('with this configuration')
        if (startedWorkers < count) return
        clearTimeout(timer)
        resolve()
      }
      void ended.then(() => fail('but ended'))
      onLine()
    })

  const stop = async () => {
    child.kill('SIGTERM')
    const timer = setTimeout(() => child.kill('SIGKILL'), deadlineMs)
    await ended
    clearTimeout(timer)
    await rm(directory, { recursive: true, force: true })
  }

  try {
    await workersStarted(workers, 0)
  } catch (error) {
    await stop()
    throw error
  }
  return {
    ports,
    pid: child.pid!,
    get workerPids() {
      return workerPids
    },
    logs: () => log,
    async reload(next = config) {
      await write(next)
      const reloaded = workersStarted(startedWorkers + workers, log.length)
      child.kill('SIGHUP')
      await reloaded
    },
    stop,
  }
}

function wholeConfig(http: string, workers: number): string {
  // If the master runs as root, its workers would otherwise run as a user who cannot write into the directory.
  const user = process.getuid?.() === 0 ? 'user root root;' : ''
  return `${user}
worker_processes ${workers};
pid nginx.pid;
error_log stderr notice;
events { worker_connections 4096; }
http {
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
${http}
}
`
}

/** Terminates nginx when this process ends in any way, because the pipe closes then. SIGTERM also ends the workers. */
function terminateWithParent(child: ChildProcess): void {
  const watcher = spawn('sh', ['-c', `read _; kill -TERM ${child.pid}`], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  child.once('close', () => watcher.kill('SIGKILL'))
}
