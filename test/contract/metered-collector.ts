import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { type Collector, type CollectorStart, collectorBinary } from '../collector/collector.ts'
import { quietPort } from './quiet-port.ts'

export interface MeteredCollector extends Collector {
  /** Its metrics about itself, as Prometheus text. */
  ownMetrics(): Promise<string>
}

/** As `startCollector`, which switches the collector's metrics about itself off, but with these on. */
export async function startMeteredCollector({ config, env = {} }: CollectorStart): Promise<MeteredCollector> {
  const ownPort = await quietPort()
  const reader = `{pull: {exporter: {prometheus: {host: 127.0.0.1, port: ${ownPort}}}}}`
  const args = [
    `--config=${'file' in config ? `file:${config.file}` : `yaml:${config.yaml}`}`,
    `--config=yaml:{service: {telemetry: {metrics: {level: detailed, readers: [${reader}]}}}}`,
  ]
  const anyPort = { COLLECTOR_HTTP_ENDPOINT: '127.0.0.1:0', COLLECTOR_GRPC_ENDPOINT: '127.0.0.1:0' }
  const child = spawn(collectorBinary()!, args, { env: { ...anyPort, ...env }, stdio: ['ignore', 'ignore', 'pipe'] })
  const killWithParent = () => child.kill('SIGKILL')
  process.once('exit', killWithParent)
  const closed = once(child, 'close').finally(() => process.off('exit', killWithParent))

  let log = ''
  const ready = new Promise<void>((resolve) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      log += `${line}\n`
      if (line.includes('Everything is ready')) resolve()
    })
  })
  const outcome = await Promise.race([ready, closed])
  if (outcome !== undefined) throw new Error(`the collector did not start (${outcome}):\n${log}`)

  const address = (server: 'HTTP' | 'GRPC') =>
    log.match(new RegExp(`Starting ${server} server\\t.*"endpoint": "([^"]+)"`))?.[1] ?? ''
  return {
    pid: child.pid!,
    httpEndpoint: `http://${address('HTTP')}`,
    grpcEndpoint: address('GRPC'),
    logs: () => log,
    ownMetrics: async () => (await fetch(`http://127.0.0.1:${ownPort}/metrics`)).text(),
    async stop() {
      child.kill('SIGTERM')
      await closed
    },
  }
}
