import type { SettingValues } from '@penstock/core'
import { coreSettingRows } from './core-setting-rows.ts'
import { exporterSettingRows } from './exporter-setting-rows.ts'
import { gatewaySettingRows } from './gateway-setting-rows.ts'
import { row, type SettingRow } from './setting-row.ts'
import {
  address,
  adminKey,
  clickHouseUrl,
  databaseUrl,
  flag,
  integer,
  networks,
  rootToken,
  serviceName,
  text,
  url,
  words,
} from './setting-shapes.ts'

/**
 * Every setting of `penstock serve`: key in the file, variable, form, default.
 * docs/reference/configuration.md is generated from it.
 */
export const settingTable = {
  serviceName: row(
    'PENSTOCK_SERVICE_NAME',
    serviceName,
    'svc',
    "The service's name in headers, cookies, variables and Global IDs. `gitlab`: the names that GitLab's clients use.",
  ),
  dataDir: row('PENSTOCK_DATA_DIR', text, './data', 'Directory of the databases, the repositories and the keys.'),
  databaseUrl: row(
    'PENSTOCK_DATABASE_URL',
    databaseUrl,
    undefined,
    'The database of the core. Unset: SQLite in the data directory.',
    { secret: true },
  ),
  ...coreSettingRows,
  rootToken: row(
    'PENSTOCK_ROOT_TOKEN',
    rootToken,
    undefined,
    'The token of the first administrator, used if there is no administrator yet. Unset: one is generated and printed once.',
    { secret: true },
  ),
  'observability.listen': row(
    'PENSTOCK_OBS_LISTEN',
    address,
    '127.0.0.1:8081',
    'Address of the console, the ingest_auth API, observe queries, `/metrics`, `/livez` and `/readyz`.',
  ),
  'observability.externalUrl': row(
    'PENSTOCK_OBS_EXTERNAL_URL',
    url('http', 'https'),
    undefined,
    'The address of the console in printed links, such as that of a proxy with HTTPS. If it begins with `https:`, cookies are `Secure` and browsers get `Strict-Transport-Security`. Unset: `http://` and the bound address.',
  ),
  'observability.trustedProxies': row(
    'PENSTOCK_OBS_TRUSTED_PROXIES',
    networks,
    '',
    'Proxies in front of this listener that are trusted to set `X-Forwarded-For`. Limits on wrong keys and the audit log then use the address of the client. Unset: none, and all clients of a proxy are counted as one.',
  ),
  'observability.maxConnections': row(
    'PENSTOCK_OBS_MAX_CONNECTIONS',
    integer(1, 100_000),
    '1000',
    'The highest number of open connections of this listener. At the limit, a new connection closes the oldest one that has no request in progress. If all have one, only health probes are answered on new connections.',
  ),
  'observability.maxConnectionsPerAddress': row(
    'PENSTOCK_OBS_MAX_CONNECTIONS_PER_ADDRESS',
    integer(1, 100_000),
    '256',
    'The highest number of open connections of one IPv4 address or one IPv6 network of 64 bits. `observability.trustedProxies` and `gateway.forwardAuthProxies` are exempt.',
  ),
  'observability.strictTransportSeconds': row(
    'PENSTOCK_OBS_STRICT_TRANSPORT_SECONDS',
    integer(0, 2 * 365 * 86_400),
    '31536000',
    'How long browsers use only HTTPS for the host, if `observability.externalUrl` begins with `https:` or a proxy reports that the request came over HTTPS (`X-Forwarded-Proto`). 0: the header is not sent.',
  ),
  'observability.retentionHours': row(
    'PENSTOCK_OBSERVE_RETENTION_HOURS',
    integer(1, 24 * 366),
    '168',
    'How long the embedded store keeps telemetry. With `--sample` the default is 8784, so that the sample pipelines stay.',
  ),
  'observability.maxMegabytes': row(
    'PENSTOCK_OBSERVE_MAX_MEGABYTES',
    integer(16, 1_000_000),
    '1024',
    'The size limit of the embedded store; the oldest telemetry is deleted first.',
  ),
  'observe.url': row(
    'PENSTOCK_OBSERVE_URL',
    clickHouseUrl,
    undefined,
    'A ClickHouse database that a collector writes to with its clickhouse exporter, as `http://user:password@host:8123/database`. Observe queries and the console then read from it. Needs `gateway.upstream`, except in `penstock serve observe`, which cannot do without it. Unset: the embedded store, if no upstream is set.',
    { secret: true },
  ),
  'observe.createViews': row(
    'PENSTOCK_OBSERVE_CREATE_VIEWS',
    flag,
    'false',
    'Whether to create tables and materialized views in the database of `observe.url`, all with names that begin with `penstock_`, and to fill them. Queries over millions of spans need them. Without it nothing is changed there; views that another Penstock has created are used in any case.',
  ),
  obsApiKey: row(
    'PENSTOCK_OBS_API_KEY',
    adminKey,
    undefined,
    'The first Admin API key. Unset: one is generated and printed once.',
    { secret: true },
  ),
  peppers: row(
    'PENSTOCK_PEPPERS',
    words,
    undefined,
    'Keys of the token hashes, `id:base64` of 32 bytes, newest first. Unset: a file `pepper` in the data directory.',
    { secret: true },
  ),
  pepperPassphrase: row(
    'PENSTOCK_PEPPER_PASSPHRASE',
    text,
    undefined,
    'A passphrase instead of keys, from which argon2id derives a key.',
    { secret: true },
  ),
  ...exporterSettingRows,
  ...gatewaySettingRows,
} as const

/** Returns the application settings that have a fixed value because of `settings`. */
export const pinnedSettings = (settings: Settings): Partial<SettingValues> =>
  Object.fromEntries(
    (Object.entries(settingTable) as [SettingName, SettingRow][]).flatMap(([name, { pins }]) =>
      pins === undefined || settings[name] === undefined ? [] : [[pins, settings[name]]],
    ),
  )

export type SettingName = keyof typeof settingTable

/** The parsed settings; a setting is `undefined` only if it has no default. */
export type Settings = {
  readonly [Name in SettingName]:
    | NonNullable<ReturnType<(typeof settingTable)[Name]['shape']['parse']>>
    | ((typeof settingTable)[Name]['fallback'] extends string ? never : undefined)
}
