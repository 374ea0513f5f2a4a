import type { Clock, Log, Random } from '@penstock/runtime'
import type { TenantRoute } from '../attribution/tenant-route.ts'
import { ConfigError } from '../contract/config-error.ts'
import type { GatewayConfig, UpstreamConfig } from '../contract/gateway-config.ts'
import type { Upstream, UpstreamAlarm } from '../contract/upstream.ts'
import { meteredUpstream } from '../metrics/metered-upstream.ts'
import type { MetricRegistry } from '../metrics/registry.ts'
import { openUpstreamCredential } from './credential.ts'
import { GrpcUpstream } from './grpc-upstream.ts'
import { openHttpUpstream } from './http-upstream.ts'
import { WatchedFile } from './watched-file.ts'

interface UpstreamDeps {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly metrics: MetricRegistry
}

interface Upstreams {
  /** Returns the upstream of a route that is not forbidden. */
  at(route: TenantRoute): Upstream
  close(): Promise<void>
}

/** The shortest time between two log lines for the same kind of alarm and the same upstream. */
const ALARM_INTERVAL_MS = 60_000

/**
 * Opens the default upstream and those of tenants. Rejects if a file that one of them needs cannot be read, and with `ConfigError` if
 * there is no default upstream.
 */
export async function openUpstreams(config: GatewayConfig, deps: UpstreamDeps): Promise<Upstreams> {
  if (config.upstream === undefined) throw new ConfigError('listeners for telemetry need an upstream')
  const onAlarm = alarmLog(deps)
  const open = async (upstream: UpstreamConfig) =>
    meteredUpstream(
      await openUpstream(upstream, config, deps, onAlarm),
      deps.metrics,
      () => performance.now(),
      deps.log,
    )
  const fallback = await open(config.upstream)
  const ofTenants = new Map<string, Upstream>()
  for (const [tenant, upstream] of Object.entries(config.tenantUpstreams)) ofTenants.set(tenant, await open(upstream))
  return {
    at: (route) => (route.kind === 'tenant' ? ofTenants.get(route.tenant)! : fallback),
    close: async () => {
      await Promise.all([fallback, ...ofTenants.values()].map((upstream) => upstream.close()))
    },
  }
}

async function openUpstream(
  config: UpstreamConfig,
  { passCredentialThrough, maxBodyBytes }: GatewayConfig,
  { clock, random }: UpstreamDeps,
  onAlarm: (alarm: UpstreamAlarm) => void,
): Promise<Upstream> {
  if (!config.url.startsWith('grpc')) {
    return openHttpUpstream({ config, passCredentialThrough, clock, random, onAlarm })
  }
  const url = new URL(config.url)
  const watch = {
    monotonicMs: () => clock.monotonicMs(),
    onError: (file: string, reason: string) =>
      onAlarm({ kind: 'file', upstream: config.url, detail: `${file}: ${reason}` }),
  }
  const credential = await openUpstreamCredential(config.credential, watch)
  const ca = config.caFile === undefined ? undefined : await WatchedFile.open(config.caFile, (pem) => pem, watch)
  return new GrpcUpstream(
    {
      target: { url, ca: ca && current(ca) },
      credential: credential === undefined ? () => undefined : current(credential),
      credentialOwner: passCredentialThrough ? 'client' : 'gateway',
      ...(config.bodyLimitBytes !== undefined && { bodyLimitBytes: config.bodyLimitBytes }),
      maxBufferedBytes: maxBodyBytes,
    },
    { clock, random, onAlarm },
  )
}

/** Returns a function that returns the current value and starts a refresh, which takes effect with a later request. */
function current(file: { readonly value: string; refresh(): Promise<void> | undefined }): () => string {
  return () => {
    file.refresh()?.catch(() => {})
    return file.value
  }
}

function alarmLog({ clock, log }: UpstreamDeps): (alarm: UpstreamAlarm) => void {
  const loggedAtMs = new Map<string, number>()
  return ({ kind, upstream, detail }) => {
    const key = `${kind} ${upstream}`
    const nowMs = clock.monotonicMs()
    if (nowMs - (loggedAtMs.get(key) ?? Number.NEGATIVE_INFINITY) < ALARM_INTERVAL_MS) return
    loggedAtMs.set(key, nowMs)
    log.error({ event: `upstream.${kind}`, upstream, detail }, 'an upstream needs attention: see `detail`')
  }
}
