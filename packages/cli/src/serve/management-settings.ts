import { randomBytes } from 'node:crypto'
import { PRODUCT_VERSION } from '@penstock/converter'
import type { openManagement } from '@penstock/gateway'
import type { Log } from '@penstock/runtime'
import { consoleDirectory, consolePages } from '@penstock/web'
import type { Environment } from '../process/environment.ts'
import type { Settings } from '../settings/setting-table.ts'

type ManagementOptions = Parameters<typeof openManagement>[0]

/** Returns the options of the management listener that depend only on the settings and the environment. */
export const managementSettings = (
  settings: Settings,
  { clock, random }: Pick<Environment, 'clock' | 'random'>,
  log: Log,
) =>
  ({
    address: settings['observability.listen'],
    version: PRODUCT_VERSION,
    rules: { tokenLimit: settings['gateway.tokenLimit'], uniqueNames: settings['gateway.uniqueTokenNames'] },
    trustedProxies: settings['observability.trustedProxies'],
    forwardAuthProxies: settings['gateway.forwardAuthProxies'],
    connectionLimits: {
      maxConnections: settings['observability.maxConnections'],
      maxPerAddress: settings['observability.maxConnectionsPerAddress'],
    },
    externalUrl: settings['observability.externalUrl'],
    strictTransportSeconds: settings['observability.strictTransportSeconds'],
    console: { directory: consoleDirectory, paths: consolePages.map(({ path }) => path) },
    clock,
    random,
    randomBytes,
    log,
  }) satisfies Partial<ManagementOptions>

/** Returns where senders reach the OTLP ports of the gateway. */
export const otlpAddress = (
  settings: Settings,
  bound: ManagementOptions['otlp']['bound'],
): ManagementOptions['otlp'] => ({
  externalUrl: settings['gateway.externalUrl'],
  bound,
  isTls: settings['gateway.tlsCertFile'] !== undefined,
})

/** Returns the address of the core that the settings name, without a slash at the end. */
export const namedCoreUrl = (settings: Settings): string | undefined =>
  settings['core.externalUrl']?.replace(/\/+$/, '')
