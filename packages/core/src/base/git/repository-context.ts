import type { Db } from '@penstock/db'
import type { Clock } from '@penstock/runtime'
import type { CoreTables } from '../kit/tables.ts'

/** The resources that repositories use: the database holds their locks, the directory their files. */
export interface RepositoryContext {
  readonly db: Db<CoreTables>
  readonly clock: Clock
  /** Returns random bytes of the system's CSPRNG. */
  readonly randomBytes: (bytes: number) => Uint8Array
  readonly settings: { readonly repositoriesDir: string }
}
