import { execFileSync, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { firstWithin, killWhenWeEnd } from './child-program.ts'
import { freePort } from './free-port.ts'

export interface Collector {
  readonly pid: number
  /** The URL `http://127.0.0.1:port` of the OTLP/HTTP receiver. Throws if the configuration has none. */
  readonly httpEndpoint: string
  /** The address `127.0.0.1:port` of the OTLP/gRPC receiver in plaintext. Throws if the configuration has none. */
  readonly grpcEndpoint: string
  /** Returns the collector's own metrics as Prometheus text. Throws unless it was started with `ownMetrics`. */
  ownMetrics(): Promise<string>
  /** Returns the log of the collector since its start. */
  logs(): string
  /** Stops the collector, which flushes every exporter, and waits for its end. It may be called again. */
  stop(): Promise<void>
}

export interface CollectorStart {
  /** Several files are merged, as the collector merges them. */
  config: { file: string } | { files: readonly string[] } | { yaml: string }
  /** The variables for `${env:NAME}` in the configuration. The collector inherits nothing from the environment of the test. */
  env?: Record<string, string>
  /** Whether the collector has detailed metrics about itself. Default: none. */
  ownMetrics?: boolean
}

const startDeadlineMs = 60_000
const stopDeadlineMs = 60_000

const builder = createRequire(import.meta.url).resolve('@penstock/toolchain/build-collector.mjs')

/** The OTLP receiver logs the port that the system chose, so ports of parallel tests never collide. */
const anyPort = { COLLECTOR_HTTP_ENDPOINT: '127.0.0.1:0', COLLECTOR_GRPC_ENDPOINT: '127.0.0.1:0' }

/** Returns the path of the collector for this checkout's manifest; `undefined` if it has not been built. */
export function collectorBinary(): string | undefined {
  const path = execFileSync(process.execPath, [builder, '--print-path'], { encoding: 'utf8' }).trim()
  return existsSync(path) ? path : undefined
}

/** Starts a collector on loopback; resolves once every receiver listens. */
export async function startCollector({ config, env = {}, ownMetrics = false }: CollectorStart): Promise<Collector> {
  const binary = collectorBinary()
  if (binary === undefined) throw new Error('the collector is not built; run: npm run collector')

  const sources = 'yaml' in config ? [`yaml:${config.yaml}`] : filesOf(config).map((file) => `file:${file}`)
  const ownPort = ownMetrics ? await freePort() : undefined
  const own = `yaml:{service: {telemetry: {metrics: ${telemetryMetrics(ownPort)}}}}`
  const args = [...sources, own].flatMap((source) => ['--config', source])
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
      // The collector handles signals only shortly after it reports ready; an earlier signal would kill it.
      if (outcome === 'exit 0' || outcome === 'exit SIGTERM') return
      child.kill('SIGKILL')
      throw new Error(`the collector did not stop properly (${outcome}):\n${log}`)
    },
  }
}

const filesOf = (config: { file: string } | { files: readonly string[] }): readonly string[] =>
  'file' in config ? [config.file] : config.files

/** Returns the configuration of the collector's own metrics, which would use a fixed port by default. */
function telemetryMetrics(port: number | undefined): string {
  if (port === undefined) return '{level: none}'
  return `{level: detailed, readers: [{pull: {exporter: {prometheus: {host: 127.0.0.1, port: ${port}}}}}]}`
}
