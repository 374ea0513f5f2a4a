/**
 * The servers between the load and the sink. Each is a separate process with a measurable CPU time.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { startCollector } from '../../collector/collector.ts'
import { freePort } from '../../collector/free-port.ts'
import { cpuSeconds } from '../../collector/process-cpu.ts'

export interface Subject {
  readonly name: string
  /** The port of OTLP/HTTP. */
  readonly httpPort: number
  /** The port of OTLP/gRPC, if it is supported. */
  readonly grpcPort?: number
  /** Returns the CPU seconds of all its processes. */
  cpuSeconds(): number
  stop(): Promise<void>
}

const here = fileURLToPath(new URL('.', import.meta.url))

/** Starts one of the scripts beside this file. The first line that it prints is its port. */
export async function startScript(script: string, args: readonly string[] = []): Promise<Subject> {
  const child = spawn(process.execPath, [join(here, script), ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const httpPort = Number(await firstLine(child))
  return { name: script, httpPort, cpuSeconds: () => cpuSeconds(child.pid!), stop: () => ended(child, 'SIGTERM') }
}

export async function startNginx(token: string, sinkPort: number, workers = 1): Promise<Subject> {
  const httpPort = await freePort()
  const directory = mkdtempSync(join(tmpdir(), 'penstock-nginx-'))
  const config = join(directory, 'nginx.conf')
  writeFileSync(
    config,
    `daemon off; worker_processes ${workers}; pid ${directory}/pid; error_log ${directory}/error.log warn;
events { worker_connections 1024; }
http {
  map_hash_bucket_size 256;
  access_log off;
  client_body_temp_path ${directory}/body; proxy_temp_path ${directory}/proxy; fastcgi_temp_path ${directory}/fcgi;
  uwsgi_temp_path ${directory}/uwsgi; scgi_temp_path ${directory}/scgi;
  client_body_buffer_size 512k; keepalive_requests 100000000;
  map $http_authorization $known { default 0; "Bearer ${token}" 1; }
  upstream sink { server 127.0.0.1:${sinkPort}; keepalive 64; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:${httpPort};
    location / {
      if ($known = 0) { return 401; }
      proxy_pass http://sink; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Authorization "";
    }
  }
}
`,
  )
  const child = spawn('nginx', ['-c', config, '-p', directory], { stdio: ['ignore', 'ignore', 'inherit'] })
  await listening(httpPort)
  return {
    name: workers === 1 ? 'nginx' : `nginx, ${workers} workers`,
    httpPort,
    cpuSeconds: () => withChildren(child.pid!).reduce((sum, pid) => sum + cpuSeconds(pid), 0),
    stop: async () => {
      await ended(child, 'SIGTERM')
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** Starts a collector with a token for its receiver, as its documentation describes. It has no queues, so that it also answers after upstream. */
export async function startGuardingCollector(token: string, sinkPort: number): Promise<Subject> {
  const collector = await startCollector({
    config: {
      yaml: JSON.stringify({
        extensions: { bearertokenauth: { token } },
        receivers: {
          otlp: {
            protocols: {
              http: { endpoint: '127.0.0.1:0', auth: { authenticator: 'bearertokenauth' } },
              grpc: { endpoint: '127.0.0.1:0', auth: { authenticator: 'bearertokenauth' } },
            },
          },
        },
        exporters: {
          otlphttp: {
            endpoint: `http://127.0.0.1:${sinkPort}`,
            compression: 'none',
            sending_queue: { enabled: false },
          },
        },
        service: {
          extensions: ['bearertokenauth'],
          telemetry: { logs: { level: 'info' } },
          pipelines: { traces: { receivers: ['otlp'], exporters: ['otlphttp'] } },
        },
      }),
    },
  })
  const port = (endpoint: string) => Number(endpoint.slice(endpoint.lastIndexOf(':') + 1))
  return {
    name: 'collector',
    httpPort: port(collector.httpEndpoint),
    grpcPort: port(collector.grpcEndpoint),
    cpuSeconds: () => cpuSeconds(collector.pid),
    stop: () => collector.stop(),
  }
}

/** Returns the ids of a process and of those that it has started. */
export function withChildren(pid: number): number[] {
  const parentOf = (id: number) => Number(readFileSync(`/proc/${id}/stat`, 'utf8').split(') ').at(-1)!.split(' ')[1])
  const all = readdirSync('/proc').map(Number).filter(Number.isInteger)
  const isChild = (id: number) => {
    try {
      return parentOf(id) === pid
    } catch {
      return false
    }
  }
  return [pid, ...all.filter(isChild)]
}

async function firstLine(child: ChildProcess): Promise<string> {
  const [line] = (await once(createInterface({ input: child.stdout! }), 'line')) as [string]
  return line
}

async function listening(port: number): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    const answered = await fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    )
    if (answered) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`no server listens on ${port}`)
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const closed = once(child, 'close')
  child.kill(signal)
  await closed
}
