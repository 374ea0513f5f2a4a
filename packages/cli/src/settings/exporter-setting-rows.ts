import { defaultExportLimits } from '@penstock/exporter'
import { row } from './setting-row.ts'
import { choice, headerList, integer, jsonObject, text, url } from './setting-shapes.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** The exporter's default limits, which are also the defaults of these settings. */
const limits = defaultExportLimits

export const exporterSettingRows = {
  'exporter.endpoint': row(
    'PENSTOCK_EXPORT_ENDPOINT',
    url('http', 'https'),
    undefined,
    'OTLP/HTTP base URL to which finished pipelines of the core are exported. Unset: the first address of `gateway.http`.',
  ),
  'exporter.headers': row(
    'PENSTOCK_EXPORT_HEADERS',
    headerList,
    undefined,
    'Headers of export requests to that address, as `name=value,name=value` with percent-encoded values, for receivers with a credential that is not a bearer token. The token of a project replaces `authorization`.',
    { secret: true },
  ),
  'exporter.resourceServiceName': row(
    'PENSTOCK_EXPORT_RESOURCE_SERVICE_NAME',
    text,
    undefined,
    '`service.name` of exported telemetry. Unset: `serviceName` followed by `-ci`.',
  ),
  'exporter.environment': row(
    'PENSTOCK_EXPORT_ENVIRONMENT',
    text,
    'production',
    '`deployment.environment.name` of exported telemetry.',
  ),
  'exporter.reexport': row(
    'PENSTOCK_EXPORT_REEXPORT',
    choice('none', 'replace', 'link'),
    'none',
    'How a later completion of a pipeline (after a retry) is exported. `none`: not at all; `replace`: as the same span again; `link`: as a new span linked to the first.',
  ),
  'exporter.encoding': row(
    'PENSTOCK_EXPORT_ENCODING',
    choice('protobuf', 'json'),
    'protobuf',
    'Encoding of export requests. With `json`, pipelines cannot share requests.',
  ),
  'exporter.options': row(
    'PENSTOCK_EXPORT_OPTIONS',
    jsonObject,
    '{}',
    'Further conversion options, with the names in [telemetry.md](telemetry.md#options).',
  ),
  'exporter.sources': row(
    'PENSTOCK_SOURCES',
    text,
    undefined,
    'Sources outside the core, by name: a JSON file, or the object itself in the settings file. [export.md](../guides/export.md) describes the format. Unset: none.',
    { secret: true },
  ),
  'exporter.concurrency': row(
    'PENSTOCK_EXPORT_CONCURRENCY',
    integer(1, 256),
    String(limits.concurrency),
    'The highest number of batches in progress in one process.',
  ),
  'exporter.timeoutSeconds': row(
    'PENSTOCK_EXPORT_TIMEOUT_SECONDS',
    integer(1, 300),
    String(limits.attemptTimeoutMs / 1_000),
    'Timeout of one export request.',
  ),
  'exporter.retryHours': row(
    'PENSTOCK_EXPORT_RETRY_HOURS',
    integer(1, 24 * 366),
    String(limits.retry.giveUpAfterMs / HOUR_MS),
    'How long an export is retried. After that it is dead, and kept for `penstock export-queue replay`.',
  ),
  'exporter.keepDeliveredHours': row(
    'PENSTOCK_EXPORT_KEEP_DELIVERED_HOURS',
    integer(1, 24 * 366),
    String(limits.keepDeliveredMs / HOUR_MS),
    'How long delivered exports are kept in the list.',
  ),
  'exporter.keepDeadDays': row(
    'PENSTOCK_EXPORT_KEEP_DEAD_DAYS',
    integer(1, 3_660),
    String(limits.keepDeadMs / DAY_MS),
    'How long dead exports are kept for a replay. After that they are deleted.',
  ),
  'exporter.keepPipelinesDays': row(
    'PENSTOCK_EXPORT_KEEP_PIPELINES_DAYS',
    integer(1, 3_660),
    String(limits.keepPipelinesMs / DAY_MS),
    'How long the service remembers that a pipeline was exported, counted from its last record or hook. A record that arrives after this time is exported again.',
  ),
} as const
