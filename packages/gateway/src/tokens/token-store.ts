import { textCondition } from '@penstock/db'
import type { ExpressionBuilder, Insertable, Kysely, Selectable, Transaction, Updateable } from 'kysely'
import { ApiError } from '../operations/api-error.ts'
import { isPublicId } from '../secrets/token-format.ts'
import type { GatewayTables, IngestTokenTable } from '../store/tables.ts'
import { statusAt, type TokenStatus } from './token-status.ts'

export type TokenRow = Selectable<IngestTokenTable>
export type TokenChange = Updateable<Omit<IngestTokenTable, 'id' | 'position' | 'mac' | 'pepper_id'>>

type Tx = Transaction<GatewayTables>
type Read = Kysely<GatewayTables>
type TokenExpressions = ExpressionBuilder<GatewayTables, 'ingest_tokens'>

export function statusOf({ revoked_at_ms, expires_at_ms, disabled }: TokenRow, nowMs: number): TokenStatus {
  return statusAt({ revokedAtMs: revoked_at_ms, expiresAtMs: expires_at_ms, disabled: disabled === 1 }, nowMs)
}

const unexpired = (eb: TokenExpressions, nowMs: number) =>
  eb.or([eb('expires_at_ms', 'is', null), eb('expires_at_ms', '>', nowMs)])

/** The conditions of {@link statusAt} in SQL. */
const conditions: Readonly<
  Record<TokenStatus | 'all', (eb: TokenExpressions, nowMs: number) => ReturnType<TokenExpressions['and']>>
> = {
  valid: (eb, nowMs) => eb.and([eb('revoked_at_ms', 'is', null), eb('disabled', '=', 0), unexpired(eb, nowMs)]),
  disabled: (eb, nowMs) => eb.and([eb('revoked_at_ms', 'is', null), eb('disabled', '=', 1), unexpired(eb, nowMs)]),
  expired: (eb, nowMs) => eb.and([eb('revoked_at_ms', 'is', null), eb('expires_at_ms', '<=', nowMs)]),
  revoked: (eb) => eb.and([eb('revoked_at_ms', 'is not', null)]),
  all: (eb) => eb.and([]),
}

export async function insertToken(tx: Tx, draft: Insertable<IngestTokenTable>): Promise<TokenRow> {
  return await tx.insertInto('ingest_tokens').values(draft).returningAll().executeTakeFirstOrThrow()
}

export async function updateTokenRow(tx: Tx, id: string, change: TokenChange): Promise<TokenRow> {
  return await tx.updateTable('ingest_tokens').set(change).where('id', '=', id).returningAll().executeTakeFirstOrThrow()
}

/** Returns a row. Throws `token_not_found`, also if the token is revoked. */
export async function getTokenRow(db: Read, id: string): Promise<TokenRow> {
  const row = await findTokenRow(db, id)
  if (row === undefined || row.revoked_at_ms !== null) {
    throw new ApiError('token_not_found', 'There is no token with this id, or it has been revoked.')
  }
  return row
}

export async function findTokenRow(db: Read, id: string): Promise<TokenRow | undefined> {
  if (!isPublicId(id)) return undefined
  return await db.selectFrom('ingest_tokens').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Finds a token by the hashes of its whole text, one per pepper. */
export async function findTokenRowByMac(db: Read, macs: readonly Buffer[]): Promise<TokenRow | undefined> {
  return await db.selectFrom('ingest_tokens').selectAll().where('mac', 'in', macs).executeTakeFirst()
}

export async function countUnrevoked(db: Read): Promise<number> {
  const { count } = await db
    .selectFrom('ingest_tokens')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('revoked_at_ms', 'is', null)
    .executeTakeFirstOrThrow()
  return count
}

export async function isNameInUse(db: Read, name: string): Promise<boolean> {
  const row = await db
    .selectFrom('ingest_tokens')
    .select('id')
    .where('name', '=', name)
    .where('revoked_at_ms', 'is', null)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

interface ValidTokens {
  readonly count: number
  /** The earliest expiry of these tokens, or `null` if none of them expires. */
  readonly nextExpiryMs: number | null
}

export async function summarizeValidTokens(db: Read, nowMs: number): Promise<ValidTokens> {
  return await db
    .selectFrom('ingest_tokens')
    .select((eb) => [
      eb.fn.countAll<number>().as('count'),
      eb.fn.min<number | null>('expires_at_ms').as('nextExpiryMs'),
    ])
    .where((eb) => conditions.valid(eb, nowMs))
    .executeTakeFirstOrThrow()
}

interface TokenSelection {
  readonly status: TokenStatus | 'all' | 'unrevoked'
  /** A part of the name; case is ignored. */
  readonly name: string | undefined
}

interface TokenSlice {
  /** Newest first. */
  readonly rows: readonly TokenRow[]
  /** The number of rows in the selection, regardless of the slice. */
  readonly totalCount: number
  readonly hasMore: boolean
}

/**
 * Lists a slice of the selection. `before` is the position of the previous page's last row. Without `limit`, all
 * remaining rows are returned.
 */
export async function listTokenRows(
  db: Read,
  selection: TokenSelection,
  slice: { readonly before: number | undefined; readonly limit: number | undefined },
  nowMs: number,
): Promise<TokenSlice> {
  let selected = db.selectFrom('ingest_tokens').where((eb) => {
    if (selection.status === 'unrevoked') return eb('revoked_at_ms', 'is', null)
    return conditions[selection.status](eb, nowMs)
  })
  if (selection.name) {
    const search = { columns: ['ingest_tokens.name'], words: [selection.name], isIndexed: false }
    selected = selected.where(textCondition(db, search))
  }
  const { count } = await selected.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow()
  let sliced = selected.selectAll().orderBy('position', 'desc')
  if (slice.before !== undefined) sliced = sliced.where('position', '<', slice.before)
  if (slice.limit !== undefined) sliced = sliced.limit(slice.limit + 1)
  const rows = await sliced.execute()
  const hasMore = slice.limit !== undefined && rows.length > slice.limit
  return { rows: hasMore ? rows.slice(0, slice.limit) : rows, totalCount: count, hasMore }
}
