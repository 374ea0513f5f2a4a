import type { CoreSettings } from '@penstock/core'
import type { Connections } from './connections.ts'
import type { GlobalIds } from './global-id.ts'
import type { Builder } from './schema-types.ts'
import type { WebAddress } from './web-address.ts'

/** The tools with which areas define their types and fields. */
export interface Kit {
  readonly builder: Builder
  readonly globalIds: GlobalIds
  readonly settings: Pick<CoreSettings, 'serviceName' | 'externalUrl'>
  readonly connections: Connections
  readonly web: WebAddress
}
