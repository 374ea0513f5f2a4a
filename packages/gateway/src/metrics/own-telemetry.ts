import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { PeriodicExportingMetricReader, type PushMetricExporter } from '@opentelemetry/sdk-metrics'
import type { Log } from '@penstock/runtime'
import { ConfigError } from '../contract/config-error.ts'
import type { ListenAddress } from '../contract/gateway-config.ts'
import { type AddressBook, findListenerReachedBy, systemAddresses } from './listener-loop.ts'
import { metricProducer } from './metric-producer.ts'
import type { MetricsReport } from './registry.ts'

const INTERVAL_MS = 60_000
const TIMEOUT_MS = 5_000
/** The code of a completed export in the SDK. */
const SUCCESS = 0

export interface OwnTelemetrySettings {
  /** The OTLP/HTTP base URL; `/v1/metrics` is appended. */
  readonly url: string
  /** The bound addresses, including the ports. */
  readonly listeners: readonly ListenAddress[]
  readonly version: string
  /** Distinguishes this gateway from others that report to the same receiver. */
  readonly instanceId: string
  /** The time since which the reports count. */
  readonly startMs: number
  readonly nowMs: () => number
  readonly reports: () => Promise<readonly MetricsReport[]>
  readonly log: Log
  /** The default is 60 s. */
  readonly intervalMs?: number
  /** The time limit of one push with the exporter's retries, and of closing. The default is 5 s. */
  readonly timeoutMs?: number
  readonly addresses?: AddressBook
}

interface OwnTelemetry {
  /** Sends the current metrics. */
  flush(): Promise<void>
  /** Sends the current metrics and ends, within `timeoutMs` in any case. It may be called again. */
  close(): Promise<void>
}

/** The error for a URL that leads to one of the gateway's own listeners. */
export class TelemetryLoopError extends ConfigError {
  override readonly name = 'TelemetryLoopError'
}

/**
 * Pushes the gateway's own metrics over OTLP/HTTP once a minute: the same series that Prometheus can scrape.
 *
 * Rejects with `TelemetryLoopError` if `url` leads to one of `listeners` (O-15). An unreachable receiver is not an
 * error: its first failure and its recovery are logged. Headers for the receiver are read by the exporter from the
 * standard variable OTEL_EXPORTER_OTLP_HEADERS.
 */
export async function startOwnTelemetry(settings: OwnTelemetrySettings): Promise<OwnTelemetry> {
  const url = new URL(settings.url)
  const reached = await findListenerReachedBy(url, settings.listeners, settings.addresses ?? systemAddresses)
  if (reached !== undefined) {
    throw new TelemetryLoopError(
      `own telemetry must not be sent to ${url.host}: this is the gateway's own listener ${reached.host}:${reached.port}`,
    )
  }

  const intervalMs = settings.intervalMs ?? INTERVAL_MS
  const timeoutMs = Math.min(settings.timeoutMs ?? TIMEOUT_MS, intervalMs)
  const exporter = new OTLPMetricExporter({
    url: `${url.origin}${url.pathname.replace(/\/$/, '')}/v1/metrics`,
    timeoutMillis: timeoutMs,
    ...(url.username !== '' && { headers: { authorization: basicCredential(url) } }),
  })
  const reader = new PeriodicExportingMetricReader({
    exporter: withOutageLog(exporter, settings.log, url.host),
    exportIntervalMillis: intervalMs,
    exportTimeoutMillis: timeoutMs,
  })
  reader.setMetricProducer(
    metricProducer({
      resource: resourceFromAttributes({
        'service.name': 'penstock-gateway',
        'service.version': settings.version,
        'service.instance.id': settings.instanceId,
      }),
      scope: { name: '@penstock/gateway', version: settings.version },
      startMs: settings.startMs,
      nowMs: settings.nowMs,
      reports: settings.reports,
    }),
  )

  let closed: Promise<void> | undefined
  return {
    flush: () => reader.forceFlush({ timeoutMillis: timeoutMs }),
    close: () => {
      closed ??= reader.shutdown({ timeoutMillis: timeoutMs }).catch((error: unknown) => {
        settings.log.warn(
          { event: 'own_telemetry.unsent', err: error },
          'the last own metrics could not be sent in time',
        )
      })
      return closed
    },
  }
}

/** Logs failed exports. The SDK itself reports them only to a global logger. */
function withOutageLog(exporter: PushMetricExporter, log: Log, host: string): PushMetricExporter {
  let isFailing = false
  return {
    export(metrics, done) {
      exporter.export(metrics, (result) => {
        const fails = result.code !== SUCCESS
        if (fails && !isFailing) {
          log.warn({ event: 'own_telemetry.failing', host, err: result.error }, 'own metrics cannot be delivered')
        }
        if (!fails && isFailing) log.info({ event: 'own_telemetry.recovered', host }, 'own metrics are delivered again')
        isFailing = fails
        done(result)
      })
    },
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  }
}

function basicCredential({ username, password }: URL): string {
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return `Basic ${Buffer.from(pair).toString('base64')}`
}
