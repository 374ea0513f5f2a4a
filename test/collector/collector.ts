import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { freePort } from './free-port.ts'

export interface Collector {
  readonly pid: number
  /** `http://127.0.0.1:port` of the OTLP/HTTP receiver; a configuration without one makes this throw. */
  readonly httpEndpoint: string
  /** `127.0.0.1:port` of the OTLP/gRPC receiver, plaintext; throws likewise. */
  readonly grpcEndpoint: string
  /** Its metrics about itself, as Prometheus text; throws unless it was started with `ownMetrics`. */
  ownMetrics(): Promise<string>
  /** What the collector has logged since it started. */
  logs(): string
  /** Asks it to end, which flushes every exporter, and waits until it has. Safe to call again. */
  stop(): Promise<void>
}

export interface CollectorStart {
  config: { file: string } | { yaml: string }
  /** What `${env:NAME}` in the configuration reads. The collector inherits nothing from the test's own environment. */
  env?: Record<string, string>
  /** Metrics about itself, in every detail. By default it keeps none. */
  ownMetrics?: boolean
}

const startDeadlineMs = 20_000
const stopDeadlineMs = 20_000

const builder = createRequire(import.meta.url).resolve('@penstock/toolchain/build-collector.mjs')

/** The OTLP receiver logs the port it was given, so these never collide with a neighbour's. */
const anyPort = { COLLECTOR_HTTP_ENDPOINT: '127.0.0.1:0', COLLECTOR_GRPC_ENDPOINT: '127.0.0.1:0' }

/** Path of the collector for this checkout's manifest, or `undefined` when it has not been built. */
export function collectorBinary(): string | undefined {
  const path = execFileSync(process.execPath, [builder, '--print-path'], { encoding: 'utf8' }).trim()
  return existsSync(path) ? path : undefined
}

/** Starts a collector on loopback; resolves once every receiver listens. */
export async function startCollector({ config, env = {}, ownMetrics = false }: CollectorStart): Promise<Collector> {
  const binary = collectorBinary()
  if (binary === undefined) throw new Error('the collector is not built; run: npm run collector')

  const source = 'file' in config ? `file:${config.file}` : `yaml:${config.yaml}`
  const ownPort = ownMetrics ? await freePort() : undefined
  const args = ['--config', source, '--config', `yaml:{service: {telemetry: {metrics: ${telemetryMetrics(ownPort)}}}}`]
  const child = spawn(binary, args, { env: { ...anyPort, ...env }, stdio: ['ignore', 'ignore', 'pipe'] })
  killWhenWeEnd(child)

  let log = ''
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('close', (code, signal) => resolve(`exit ${code ?? signal}`))
  })
  const ready = new Promise<'ready'>((resolve) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      log += `${line}\n`
      if (line.includes('Everything is ready')) resolve('ready')
    })
  })

  const outcome = await firstWithin(startDeadlineMs, [ready, ended])
  if (outcome !== 'ready') {
    child.kill('SIGKILL')
    throw new Error(`the collector did not start (${outcome}):\n${log}`)
  }

  const listenAddress = (server: 'HTTP' | 'GRPC') => {
    const address = log.match(new RegExp(`Starting ${server} server\\t.*"endpoint": "([^"]+)"`))?.[1]
    if (address === undefined) throw new Error(`the collector has no OTLP ${server} receiver:\n${log}`)
    return address
  }
  return {
    pid: child.pid!,
    get httpEndpoint() {
      return `http://${listenAddress('HTTP')}`
    },
    get grpcEndpoint() {
      return listenAddress('GRPC')
    },
    async ownMetrics() {
      if (ownPort === undefined) throw new Error('the collector was started without metrics about itself')
      return (await fetch(`http://127.0.0.1:${ownPort}/metrics`)).text()
    },
    logs: () => log,
    async stop() {
      child.kill('SIGTERM')
      const outcome = await firstWithin(stopDeadlineMs, [ended])
      // It listens for signals a moment after it says it is ready, and dies of one that comes before.
      if (outcome === 'exit 0' || outcome === 'exit SIGTERM') return
      child.kill('SIGKILL')
      throw new Error(`the collector did not stop properly (${outcome}):\n${log}`)
    },
  }
}

/** By default they would take a fixed port. */
function telemetryMetrics(port: number | undefined): string {
  if (port === undefined) return '{level: none}'
  return `{level: detailed, readers: [{pull: {exporter: {prometheus: {host: 127.0.0.1, port: ${port}}}}}]}`
}

/** However this process ends, its end of the pipe closes; killed by a signal, it could not do anything more itself. */
function killWhenWeEnd(child: ChildProcess): void {
  const watcher = spawn('sh', ['-c', `read _; kill -9 ${child.pid}`], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  child.once('close', () => watcher.kill('SIGKILL'))
}

async function firstWithin<T>(deadlineMs: number, events: Promise<T>[]): Promise<T | 'deadline'> {
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<'deadline'>((resolve) => {
    timer = setTimeout(resolve, deadlineMs, 'deadline')
  })
  return Promise.race([...events, deadline]).finally(() => clearTimeout(timer))
}
