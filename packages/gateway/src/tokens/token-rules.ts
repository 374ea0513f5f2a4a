import type { Transaction } from 'kysely'
import { ApiError } from '../operations/api-error.ts'
import type { OperationContext } from '../operations/operation-context.ts'
import { KeyedHash } from '../secrets/keyed-hash.ts'
import type { GatewayTables } from '../store/tables.ts'
import type { TokenWarning } from './token-json.ts'
import { countUnrevoked, isNameInUse } from './token-store.ts'

type Tx = Transaction<GatewayTables>

export async function requireTokenCapacity(tx: Tx, { rules }: OperationContext): Promise<void> {
  if ((await countUnrevoked(tx)) < rules.tokenLimit) return
  throw new ApiError('token_limit_reached', `There may be at most ${rules.tokenLimit} tokens; revoke some.`, {
    limit: rules.tokenLimit,
  })
}

export async function nameWarnings(tx: Tx, name: string, { rules }: OperationContext): Promise<TokenWarning[]> {
  if (!(await isNameInUse(tx, name))) return []
  if (rules.uniqueNames) throw new ApiError('name_in_use', 'Another token has this name already.', { name })
  return ['name_in_use']
}

/** Returns the columns that identify a token and verify its secret. */
export function secretColumns(context: OperationContext, id: string, text: string) {
  const hash = new KeyedHash(context.peppers)
  return { id, mac: hash.newestMac(text), pepper_id: hash.newestId }
}
