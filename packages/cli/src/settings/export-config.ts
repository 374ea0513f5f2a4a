import { readFileSync } from 'node:fs'
import { type ConvertOptionsInput, OptionError, resolveOptions } from '@penstock/converter'
import {
  type DurableOptions,
  defaultExportLimits,
  type ExportLimits,
  findSource,
  isDurable,
  type RequestHeaders,
  readSources,
  type Sources,
  SourcesError,
} from '@penstock/exporter'
import { parseLossless, RecordError } from '@penstock/forges'
import type { ListenAddress } from '@penstock/gateway'
import type { Encoding } from '@penstock/otlp'
import { UsageError } from '../process/environment.ts'
import { isSystemError, systemReason } from '../process/system-error.ts'
import { type SettingName, type Settings, settingTable } from './setting-table.ts'

/** The configuration of exports. */
export interface ExportConfig {
  /** Undefined: the gateway of this installation. */
  readonly endpoint: string | undefined
  /** Sent to that endpoint. */
  readonly headers: RequestHeaders | undefined
  readonly encoding: Encoding
  readonly sources: Sources
  readonly limits: ExportLimits
  /** Returns the same object for all pipelines of a scope. */
  optionsForScope(scope: string): DurableOptions
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/**
 * Returns the configuration of exports.
 * @throws {UsageError} for invalid settings; the message contains no credential
 */
export function exportConfig(settings: Settings): ExportConfig {
  const sources = sourcesOf(settings['exporter.sources'])
  const given = givenOptions(settings)
  const own = resolved(given)
  const optionsBySource = new Map(
    [...sources.values()].map((source) => [source, resolved({ ...given, ...source.options })] as const),
  )
  return {
    endpoint: settings['exporter.endpoint'],
    headers: settings['exporter.headers'],
    encoding: settings['exporter.encoding'],
    sources,
    limits: limitsOf(settings),
    optionsForScope: (scope) => {
      const source = findSource(sources, scope)
      return (source && optionsBySource.get(source)) ?? own
    },
  }
}

/** Returns the conversion options that have settings of their own instead of being part of `exporter.options`. */
const fixedOptions = (settings: Settings) => ({
  resourceServiceName: settings['exporter.resourceServiceName'] ?? `${settings.serviceName}-ci`,
  environment: settings['exporter.environment'],
  reexport: settings['exporter.reexport'],
  vendorNamespace: settings.serviceName,
  providerName: settings.serviceName,
})

const settingOfOption = {
  resourceServiceName: 'exporter.resourceServiceName',
  environment: 'exporter.environment',
  reexport: 'exporter.reexport',
  vendorNamespace: 'serviceName',
  providerName: 'serviceName',
} satisfies Record<keyof ReturnType<typeof fixedOptions>, SettingName>

function givenOptions(settings: Settings): ConvertOptionsInput {
  const further = settings['exporter.options']
  const [option, setting] = Object.entries(settingOfOption).find(([name]) => name in further) ?? []
  if (option !== undefined)
    throw new UsageError(`exporter.options must not contain ${option}; use the setting ${setting}`)
  return { ...further, ...fixedOptions(settings) }
}

function resolved(input: ConvertOptionsInput): DurableOptions {
  try {
    const options = resolveOptions(input)
    if (isDurable(options)) return options
    throw new OptionError('metricsMode', 'services support per-run only')
  } catch (error) {
    if (error instanceof OptionError) throw new UsageError(`exporter.options: ${error.message}`)
    throw error
  }
}

/** The names of the setting and of its variable, because it is not known here which of the two was used. */
const SOURCES_SETTING = `exporter.sources (${settingTable['exporter.sources'].variable})`

/**
 * Reads the sources.
 * @param text the name of a file, or the JSON itself
 */
function sourcesOf(text: string | undefined): Sources {
  if (text === undefined) return new Map()
  const isJson = /^\s*[{[]/.test(text)
  try {
    return readSources(parseLossless(isJson ? text : readFileSync(text, 'utf8')))
  } catch (error) {
    if (error instanceof SourcesError) {
      const [first = '', ...others] = error.problems.map((problem) => `${SOURCES_SETTING}: ${problem}`)
      throw new UsageError(first, ...others)
    }
    const file = `${SOURCES_SETTING}: ${shownPath(text)}`
    if (error instanceof RecordError) throw new UsageError(`${isJson ? SOURCES_SETTING : file} ${error.message}`)
    if (isSystemError(error)) throw new UsageError(`${file} cannot be read: ${systemReason(error)}`)
    throw error
  }
}

/** Returns a path for a message. Other texts are not shown, because a user may have put a credential there by mistake. */
const shownPath = (path: string): string =>
  /^[^\p{Cc}"'{}]{1,1000}\.json$/u.test(path) ? path : 'the file (its name is shown only if it ends in .json)'

function limitsOf(settings: Settings): ExportLimits {
  const attemptTimeoutMs = settings['exporter.timeoutSeconds'] * 1_000
  const concurrency = settings['exporter.concurrency']
  return {
    ...defaultExportLimits,
    concurrency,
    laneConcurrency: Math.min(concurrency, defaultExportLimits.laneConcurrency),
    attemptTimeoutMs,
    // The lease must outlast an attempt that begins at the end of the batch's budget.
    leaseMs: Math.max(defaultExportLimits.leaseMs, defaultExportLimits.budgetMs + 2 * attemptTimeoutMs),
    retry: { ...defaultExportLimits.retry, giveUpAfterMs: settings['exporter.retryHours'] * HOUR_MS },
    keepDeliveredMs: settings['exporter.keepDeliveredHours'] * HOUR_MS,
    keepDeadMs: settings['exporter.keepDeadDays'] * DAY_MS,
    keepPipelinesMs: settings['exporter.keepPipelinesDays'] * DAY_MS,
  }
}

/** Returns the URL at which a gateway with these settings is reached from this machine. */
export function gatewayUrl(settings: Settings, bound?: ListenAddress): string {
  const { host, port } = bound ?? settings['gateway.http'][0]!
  const reachable = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host
  const scheme = settings['gateway.tlsCertFile'] === undefined ? 'http' : 'https'
  return `${scheme}://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
}
