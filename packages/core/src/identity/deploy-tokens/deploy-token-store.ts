import type { Generated } from 'kysely'
import { type ColumnsOf, columnsOf, fromRow, toRow } from '../../base/kit/field-table.ts'
import { type Page, type PageRequest, pageOfItems } from '../../base/kit/page.ts'
import { countRows, deleteRow, insertRow } from '../../base/kit/row-store.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import { belongsTo, type ParentRef, parentColumns } from '../../base/model/parent.ts'
import type { Tx } from '../../base/operations/context.ts'
import { digestOf } from '../tokens/token-text.ts'
import { type DeployToken, type DeployTokenDraft, deployTokenDraft, deployTokenFields } from './deploy-token.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    deploy_tokens: DeployTokensTable
  }
}

interface DeployTokensTable extends ColumnsOf<typeof deployTokenFields> {
  /** The SHA-256 hash of the value, in hex. */
  digest: string
  /** When its coming expiry was announced. */
  expiry_announced_at_ms: Generated<number | null>
}

/** @param parent missing: all tokens of the instance */
export function pageOfDeployTokens(
  context: ReadContext,
  parent: ParentRef | undefined,
  { active, ...page }: PageRequest & { readonly active: boolean },
): Promise<Page<DeployToken>> {
  const query = context.db
    .selectFrom('deploy_tokens')
    .select(columnsOf(deployTokenFields))
    .$if(parent !== undefined, (all) => all.where(belongsTo(parent!)))
    .$if(active, (all) =>
      all.where((eb) => eb.or([eb('expires_at_ms', 'is', null), eb('expires_at_ms', '>', context.nowMs)])),
    )
    .orderBy('id')
  return pageOfItems(context, query, page, (row) => fromRow(deployTokenFields, row))
}

export async function findDeployToken(
  { db }: ReadContext,
  parent: ParentRef,
  id: number,
): Promise<DeployToken | undefined> {
  const row = await db
    .selectFrom('deploy_tokens')
    .select(columnsOf(deployTokenFields))
    .where('id', '=', id)
    .where(belongsTo(parent))
    .executeTakeFirst()
  return row && fromRow(deployTokenFields, row)
}

export const countDeployTokens = (context: Pick<ReadContext, 'db'>, parent: ParentRef): Promise<number> =>
  countRows(context, 'deploy_tokens', belongsTo(parent))

export async function insertDeployToken(
  tx: Pick<Tx, 'db' | 'nowMs'>,
  parent: ParentRef,
  draft: DeployTokenDraft,
  value: string,
): Promise<DeployToken> {
  const row = await insertRow(tx, 'deploy_tokens', {
    ...parentColumns(parent),
    ...toRow(deployTokenDraft, draft),
    digest: digestOf(value),
    created_at_ms: tx.nowMs,
  })
  return fromRow(deployTokenFields, row)
}

export const deleteDeployToken = (tx: Pick<Tx, 'db'>, id: number) => deleteRow(tx, 'deploy_tokens', id)
