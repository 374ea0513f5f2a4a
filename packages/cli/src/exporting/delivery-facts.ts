import { type ConvertOptions, getTraceId } from '@penstock/converter'
import type { Db } from '@penstock/db'
import { type ExporterTables, findRecordOfDelivery, parseExportKey, sourceDestination } from '@penstock/exporter'
import { RecordError } from '@penstock/forges'
import { UsageError } from '../process/environment.ts'
import { type ExportConfig, exportConfig, gatewayUrl } from '../settings/export-config.ts'
import type { Settings } from '../settings/setting-table.ts'
import { projectIdOf } from './project-scope.ts'

/**
 * Returns the trace of a delivery, the instance from which its ids are derived, and the endpoint that these settings
 * give it.
 */
export async function deliveryFacts(
  db: Pick<Db<ExporterTables>, 'read'>,
  settings: Settings,
  key: string,
): Promise<{ endpoint: string; trace: string; instance: string }> {
  const about = parseExportKey(key)
  const unknown = { endpoint: '-', trace: '-', instance: about?.instance || '-' }
  const config = configOf(settings)
  if (typeof config === 'string') return { ...unknown, endpoint: `unknown: ${config}` }
  if (about === undefined) return unknown
  return {
    ...unknown,
    endpoint: endpointOf(config, gatewayUrl(settings), about.scope),
    ...(await traceOf(db, config.optionsForScope(about.scope), key)),
  }
}

function configOf(settings: Settings): ExportConfig | string {
  try {
    return exportConfig(settings)
  } catch (error) {
    if (error instanceof UsageError) return error.message
    throw error
  }
}

function endpointOf({ endpoint, encoding, sources }: ExportConfig, ownGateway: string, scope: string): string {
  const instance = { url: endpoint ?? ownGateway, encoding }
  const found = projectIdOf(scope) === undefined ? sourceDestination(sources, scope, instance) : instance
  if (typeof found === 'string') return `none: ${found}`
  if (!URL.canParse(found.url)) return 'none: the endpoint is not a URL'
  // The other parts of a URL may contain a secret.
  const { origin, pathname } = new URL(found.url)
  return origin + pathname.replace(/\/$/, '')
}

async function traceOf(
  { read }: Pick<Db<ExporterTables>, 'read'>,
  options: ConvertOptions,
  key: string,
): Promise<{ trace: string; instance?: string } | undefined> {
  try {
    const found = await findRecordOfDelivery(read, key)
    if (found === undefined) return undefined
    const { record } = found
    return { trace: getTraceId(record, options), ...(record.instance !== undefined && { instance: record.instance }) }
  } catch (error) {
    // The delivery may be dead because its record cannot be read.
    if (error instanceof RecordError) return undefined
    throw error
  }
}
