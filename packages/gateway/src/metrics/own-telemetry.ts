import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { PeriodicExportingMetricReader, type PushMetricExporter } from '@opentelemetry/sdk-metrics'
import type { Log } from '@penstock/runtime'
import { ConfigError } from '../config-error.ts'
import type { ListenAddress } from '../gateway-config.ts'
import { type AddressBook, findListenerReachedBy, systemAddresses } from './listener-loop.ts'
import { metricProducer } from './metric-producer.ts'
import type { MetricsReport } from './registry.ts'

const INTERVAL_MS = 60_000
const TIMEOUT_MS = 5_000
/** OTLP's status of a completed export, in the SDK's words. */
const SUCCESS = 0

export interface OwnTelemetrySettings {
  /** OTLP/HTTP base URL; `/v1/metrics` is appended. */
  readonly url: string
  /** As bound, ports included. */
  readonly listeners: readonly ListenAddress[]
  readonly version: string
  /** Distinguishes this gateway from others that report to the same place. */
  readonly instanceId: string
  /** Since when the reports count. */
  readonly startMs: number
  readonly nowMs: () => number
  readonly reports: () => Promise<readonly MetricsReport[]>
  readonly log: Log
  /** Default 60 s. */
  readonly intervalMs?: number
  /** Of one push with the exporter's own retries, and of closing. Default 5 s. */
  readonly timeoutMs?: number
  readonly addresses?: AddressBook
}

export interface OwnTelemetry {
  /** Sends what there is now. */
  flush(): Promise<void>
  /** Sends once more and ends, within `timeoutMs` whatever the receiver does. Safe to call again. */
  close(): Promise<void>
}

/** The place is one of our own listeners: the operator must choose another. */
export class TelemetryLoopError extends ConfigError {
  override readonly name = 'TelemetryLoopError'
}

/**
 * Pushes the gateway's own metrics over OTLP/HTTP once a minute, the same series that Prometheus may scrape.
 *
 * Rejects with `TelemetryLoopError` when `url` leads to one of `listeners` (O-15). That the receiver cannot be reached is
 * logged when it begins and when it ends, and changes nothing else. Headers, for a receiver that wants some, are taken by
 * the exporter from the standard variable OTEL_EXPORTER_OTLP_HEADERS.
 *
 * @see spec/otlp-gateway.md 8
 */
export async function startOwnTelemetry(settings: OwnTelemetrySettings): Promise<OwnTelemetry> {
  const url = new URL(settings.url)
  const reached = await findListenerReachedBy(url, settings.listeners, settings.addresses ?? systemAddresses)
  if (reached !== undefined) {
    throw new TelemetryLoopError(
      `own telemetry may not go to ${url.host}: that is this gateway's own listener ${reached.host}:${reached.port}`,
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

/** The SDK tells nobody of a failed export unless a global logger is set. */
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
