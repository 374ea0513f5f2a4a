import { readFileSync } from 'node:fs'
import { type ConvertOptionsInput, OptionError, parseLossless, RecordError, resolveOptions } from '@penstock/converter'
import {
  type DurableOptions,
  defaultExportLimits,
  type ExportLimits,
  findSource,
  isDurable,
  readSources,
  type Sources,
  SourcesError,
} from '@penstock/exporter'
import type { ListenAddress } from '@penstock/gateway'
import type { Encoding } from '@penstock/otlp'
import { UsageError } from '../environment.ts'
import { type SettingName, type Settings, settingTable } from '../serve/setting-table.ts'
import { isSystemError, systemReason } from '../system-error.ts'

/** What the settings say about exports. */
export interface ExportConfig {
  /** Undefined: to the own gateway. */
  readonly endpoint: string | undefined
  readonly encoding: Encoding
  readonly sources: Sources
  readonly limits: ExportLimits
  /** The same object for all pipelines of a scope. */
  optionsOf(scope: string): DurableOptions
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** @throws {UsageError} for settings that cannot work, before anything listens; no message shows a credential */
export function exportConfig(settings: Settings): ExportConfig {
  const sources = sourcesOf(settings['exporter.sources'])
  const given = givenOptions(settings)
  const own = resolved(given)
  const ofSources = new Map(
    [...sources.values()].map((source) => [source, resolved({ ...given, ...source.options })] as const),
  )
  return {
    endpoint: settings['exporter.endpoint'],
    encoding: settings['exporter.encoding'],
    sources,
    limits: limitsOf(settings),
    optionsOf: (scope) => {
      const source = findSource(sources, scope)
      return (source && ofSources.get(source)) ?? own
    },
  }
}

/** Those that have a setting of their own, or are the same for all that the installation says. */
const settledOptions = (settings: Settings) => ({
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
} satisfies Record<keyof ReturnType<typeof settledOptions>, SettingName>

function givenOptions(settings: Settings): ConvertOptionsInput {
  const further = settings['exporter.options']
  const [option, setting] = Object.entries(settingOfOption).find(([name]) => name in further) ?? []
  if (option !== undefined) throw new UsageError(`exporter.options may not hold ${option}, which is set by ${setting}`)
  return { ...further, ...settledOptions(settings) }
}

function resolved(input: ConvertOptionsInput): DurableOptions {
  try {
    const options = resolveOptions(input)
    if (isDurable(options)) return options
    throw new OptionError('metricsMode', 'running services export per-run metrics only')
  } catch (error) {
    if (error instanceof OptionError) throw new UsageError(`exporter.options: ${error.message}`)
    throw error
  }
}

/** As who started it may have spelt it: which of the two it was is not known here. */
const SOURCES_SETTING = `exporter.sources (${settingTable['exporter.sources'].variable})`

/** @param text a file, or the JSON itself */
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

/** Who forgets that it is a file may have put a credential there. */
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
    // An attempt that begins at the end of its batch's time has to fit in.
    leaseMs: Math.max(defaultExportLimits.leaseMs, defaultExportLimits.budgetMs + 2 * attemptTimeoutMs),
    retry: { ...defaultExportLimits.retry, giveUpAfterMs: settings['exporter.retryHours'] * HOUR_MS },
    keepDeliveredMs: settings['exporter.keepDeliveredHours'] * HOUR_MS,
    keepDeadMs: settings['exporter.keepDeadDays'] * DAY_MS,
    keepPipelinesMs: settings['exporter.keepPipelinesDays'] * DAY_MS,
  }
}

/** Where a gateway on these settings is reached from this machine. */
export function gatewayUrl(settings: Settings, bound?: ListenAddress): string {
  const { host, port } = bound ?? settings['gateway.http'][0]!
  const reachable = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host
  const scheme = settings['gateway.tlsCertFile'] === undefined ? 'http' : 'https'
  return `${scheme}://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
}
