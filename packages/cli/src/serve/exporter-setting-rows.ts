import { defaultExportLimits } from '@penstock/exporter'
import { row } from './setting-row.ts'
import { choice, integer, jsonObject, text, url } from './setting-shapes.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** The exporter's own, written as they would be typed. */
const limits = defaultExportLimits

export const exporterSettingRows = {
  'exporter.endpoint': row(
    'PENSTOCK_EXPORT_ENDPOINT',
    url('http', 'https'),
    undefined,
    'OTLP/HTTP base URL that finished pipelines of the core are exported to. Unset: the first address of `gateway.http`.',
  ),
  'exporter.resourceServiceName': row(
    'PENSTOCK_EXPORT_RESOURCE_SERVICE_NAME',
    text,
    undefined,
    '`service.name` of what is exported. Unset: `serviceName` and `-ci`.',
  ),
  'exporter.environment': row(
    'PENSTOCK_EXPORT_ENVIRONMENT',
    text,
    'production',
    '`deployment.environment.name` of what is exported.',
  ),
  'exporter.reexport': row(
    'PENSTOCK_EXPORT_REEXPORT',
    choice('none', 'replace', 'link'),
    'none',
    'A later completion of a pipeline, after a retry: not exported, the same span again, or its own linked span.',
  ),
  'exporter.encoding': row(
    'PENSTOCK_EXPORT_ENCODING',
    choice('protobuf', 'json'),
    'protobuf',
    'Of the requests. JSON cannot share requests between pipelines.',
  ),
  'exporter.options': row(
    'PENSTOCK_EXPORT_OPTIONS',
    jsonObject,
    '{}',
    'Further options of the conversion, by the names in [telemetry.md](telemetry.md#options).',
  ),
  'exporter.sources': row(
    'PENSTOCK_SOURCES',
    text,
    undefined,
    'Sources outside of the core, by name: a JSON file, or in the settings file the object itself. [export.md](export.md) has its form. Unset: none.',
    { secret: true },
  ),
  'exporter.concurrency': row(
    'PENSTOCK_EXPORT_CONCURRENCY',
    integer(1, 256),
    String(limits.concurrency),
    'Batches under way at once, in one process.',
  ),
  'exporter.timeoutSeconds': row(
    'PENSTOCK_EXPORT_TIMEOUT_SECONDS',
    integer(1, 300),
    String(limits.attemptTimeoutMs / 1_000),
    'How long an endpoint may take for one request.',
  ),
  'exporter.retryHours': row(
    'PENSTOCK_EXPORT_RETRY_HOURS',
    integer(1, 24 * 366),
    String(limits.retry.giveUpAfterMs / HOUR_MS),
    'How long an export is tried again. Then it is dead, and kept for `penstock export-queue replay`.',
  ),
  'exporter.keepDeliveredHours': row(
    'PENSTOCK_EXPORT_KEEP_DELIVERED_HOURS',
    integer(1, 24 * 366),
    String(limits.keepDeliveredMs / HOUR_MS),
    'How long delivered exports can be listed.',
  ),
  'exporter.keepDeadDays': row(
    'PENSTOCK_EXPORT_KEEP_DEAD_DAYS',
    integer(1, 3_660),
    String(limits.keepDeadMs / DAY_MS),
    'How long dead exports can be replayed. Then they are lost.',
  ),
  'exporter.keepPipelinesDays': row(
    'PENSTOCK_EXPORT_KEEP_PIPELINES_DAYS',
    integer(1, 3_660),
    String(limits.keepPipelinesMs / DAY_MS),
    'How long it is remembered which pipelines have been exported, since they were last heard of. One that is heard of later is exported again.',
  ),
} as const
