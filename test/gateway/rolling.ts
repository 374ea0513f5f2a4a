import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startNginx } from '../proxies/nginx.ts'
import { CountingSink } from './counting-sink.ts'
import { ProcessGateway } from './process-gateway.ts'
import { SteadyLoad, type SteadyLoadResult } from './steady-load.ts'

export interface RollingResult {
  readonly load: SteadyLoadResult
  /** Of each gateway that was asked to end. */
  readonly exitCodes: readonly (number | null)[]
  readonly faults: readonly string[]
  /** Requests that arrived more than once: answers that were lost on the way, and sent again as OTLP permits. */
  readonly duplicates: number
}

/**
 * As an operator would write it (docs/operations.md). Without `non_idempotent` nginx turns to the other gateway only when
 * nothing has been sent: a refused connection. What breaks later is a 502, which OTLP clients send again themselves.
 */
export const rollingNginxConfig =
  (gatewayPorts: readonly number[]) =>
  ([port]: readonly number[]): string =>
    `
  upstream penstock {
${gatewayPorts.map((gateway) => `    server 127.0.0.1:${gateway} max_fails=1 fail_timeout=2s;`).join('\n')}
    keepalive 64;
    keepalive_timeout 60s;
  }
  server {
    listen 127.0.0.1:${port};
    client_max_body_size 64m;
    location / {
      proxy_pass http://penstock;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_connect_timeout 2s;
      proxy_read_timeout 35s;
      proxy_next_upstream error timeout;
      proxy_next_upstream_tries 2;
    }
  }`

/** Two gateways over one data directory behind nginx; under load each is asked to end, waited for and started again. */
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
  const nginx = await startNginx({ config: rollingNginxConfig(gateways.map(({ ports }) => ports.http)) })
  try {
    const { token } = await gateways[0]!.token()
    await gateways[0]!.enforce(true)
    const load = new SteadyLoad({ url: `http://127.0.0.1:${nginx.ports[0]}`, perSecond, token, isRetrying: true })
    await sleep(1_000)
    const exitCodes: (number | null)[] = []
    for (const [index, gateway] of gateways.entries()) {
      exitCodes.push(await gateway.stop('SIGTERM'))
      gateways[index] = await start(gateway.ports)
      // Longer than nginx leaves one alone that it could not reach.
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
