import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startNginx } from '../proxies/nginx.ts'
import { CountingSink } from './counting-sink.ts'
import { ProcessGateway } from './process-gateway.ts'
import { SteadyLoad, type SteadyLoadResult } from './steady-load.ts'

export interface RollingResult {
  readonly load: SteadyLoadResult
  /** The exit code of each gateway that was stopped. */
  readonly exitCodes: readonly (number | null)[]
  readonly faults: readonly string[]
  /** The number of requests that arrived more than once: their answer was lost, and they were retried as OTLP permits. */
  readonly duplicates: number
}

const operationsPage = join(
  dirname(createRequire(import.meta.url).resolve('@penstock/cli/package.json')),
  '../../docs/guides/operations.md',
)

/** Returns the nginx configuration in docs/guides/operations.md, with the ports of this test. */
function configFromOperationsPage(gatewayPorts: readonly number[], port: number): string {
  const snippet = /```nginx\n(upstream penstock [\s\S]*?)```/.exec(readFileSync(operationsPage, 'utf8'))?.[1]
  if (snippet === undefined) throw new Error('docs/guides/operations.md has no nginx configuration of two gateways')
  const ports = [...gatewayPorts, port]
  const parts = snippet.split(/127\.0\.0\.1:\d+/)
  if (parts.length !== ports.length + 1)
    throw new Error('the ports in docs/guides/operations.md are not the expected ones')
  return parts.map((part, index) => (index === 0 ? part : `127.0.0.1:${ports[index - 1]}${part}`)).join('')
}

/** Runs two gateways on one data directory behind nginx, and under load stops and restarts each in turn. */
export async function rollingRestart({
  perSecond,
  drainDelayMs,
}: {
  readonly perSecond: number
  readonly drainDelayMs: number
}): Promise<RollingResult> {
  await using sink = await CountingSink.start()
  const dataDir = mkdtempSync(join(tmpdir(), 'penstock-rolling-'))
  const start = (ports?: ProcessGateway['ports']) =>
    ProcessGateway.start({
      upstream: sink.url,
      dataDir,
      env: { PENSTOCK_DRAIN_DELAY_MS: String(drainDelayMs) },
      ...(ports && { ports }),
    })
  const gateways = [await start(), await start()]
  const nginx = await startNginx({
    config: ([port]) =>
      configFromOperationsPage(
        gateways.map(({ ports }) => ports.http),
        port!,
      ),
  })
  try {
    const { token } = await gateways[0]!.token()
    await gateways[0]!.enforce(true)
    const load = new SteadyLoad({ url: `http://127.0.0.1:${nginx.ports[0]}`, perSecond, token, isRetrying: true })
    await sleep(1_000)
    const exitCodes: (number | null)[] = []
    for (const [index, gateway] of gateways.entries()) {
      exitCodes.push(await gateway.stop('SIGTERM'))
      gateways[index] = await start(gateway.ports)
      // Wait longer than nginx avoids an upstream that it could not reach.
      await sleep(2_500)
    }
    const result = await load.stop()
    return { load: result, exitCodes, faults: faultsOf(result, sink), duplicates: sink.duplicates }
  } finally {
    await nginx.stop()
    for (const gateway of gateways) await gateway[Symbol.asyncDispose]()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

function faultsOf({ sent, acceptedIds, lostIds, answers, broken }: SteadyLoadResult, sink: CountingSink): string[] {
  const faults: string[] = []
  const final = Object.keys(answers).filter((status) => !['200', '429', '502', '503', '504'].includes(status))
  if (final.length > 0) faults.push(`answers that clients do not repeat: ${final.join(', ')}`)
  if (lostIds.length > 0) faults.push(`${lostIds.length} requests were given up, ${lostIds[0]} the first`)
  if (acceptedIds.length !== sent) faults.push(`${acceptedIds.length} of ${sent} requests were accepted`)
  const missing = acceptedIds.filter((id) => !sink.arrivals.has(id))
  if (missing.length > 0) faults.push(`${missing.length} accepted requests never arrived, ${missing[0]} the first`)
  if (sink.arrivals.size !== sent) faults.push(`${sink.arrivals.size} of ${sent} requests arrived`)
  for (const message of broken.slice(0, 5)) faults.push(`nginx broke a connection: ${message}`)
  return faults
}
