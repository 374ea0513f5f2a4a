import { type ExpressionBuilder, type Generated, type Selectable, type SelectQueryBuilder, sql } from 'kysely'
import { containsText } from '../../base/kit/contains-text.ts'
import { mapPage, type Page, type PageRequest, pageOf } from '../../base/kit/page.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { CoreTables } from '../../base/kit/tables.ts'
import type { AccessLevel } from '../../base/model/access-level.ts'
import type { Tx } from '../../base/operations/context.ts'
import {
  type AccessToken,
  type AccessTokenKind,
  dateAfterDays,
  type IssuedAccessToken,
  type TokenFilter,
} from './access-token.ts'
import { scopesOf } from './scope.ts'
import { digestOf } from './token-text.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    access_tokens: AccessTokensTable
  }
}

interface AccessTokensTable {
  id: Generated<number>
  kind: AccessTokenKind
  user_id: number
  /** Set for project and group tokens: one of the two ids, and the role with which the token was created. */
  project_id: number | null
  group_id: number | null
  access_level: number | null
  name: string
  description: string | null
  /** The scopes, separated by spaces. */
  scopes: string
  /** The SHA-256 hash of the value, in hex. Queries only compare it, and never return it. */
  digest: string
  /** The id of the first token in a chain of rotations; null for that token itself. */
  family_id: number | null
  expires_at: string | null
  revoked_at_ms: number | null
  last_used_at_ms: number | null
  created_by_id: number | null
  created_at_ms: number
  /** When its coming expiry was announced. */
  expiry_announced_at_ms: Generated<number | null>
}

type Row = Omit<Selectable<AccessTokensTable>, 'digest' | 'created_by_id' | 'expiry_announced_at_ms'>

const columns = [
  'access_tokens.id',
  'access_tokens.kind',
  'access_tokens.user_id',
  'access_tokens.project_id',
  'access_tokens.group_id',
  'access_tokens.name',
  'access_tokens.description',
  'access_tokens.scopes',
  'access_tokens.family_id',
  'access_tokens.expires_at',
  'access_tokens.revoked_at_ms',
  'access_tokens.last_used_at_ms',
  'access_tokens.created_at_ms',
] as const

/** Selects tokens without the digest, and with the present role of the bot instead of the one at creation. */
const selectTokens = ({ db }: ReadContext) =>
  db
    .selectFrom('access_tokens')
    .leftJoin('members', (join) =>
      join
        .onRef('members.user_id', '=', 'access_tokens.user_id')
        .on((eb) =>
          eb.or([
            eb('members.project_id', '=', eb.ref('access_tokens.project_id')),
            eb('members.group_id', '=', eb.ref('access_tokens.group_id')),
          ]),
        ),
    )
    .select([
      ...columns,
      ({ fn }) => fn.coalesce('members.access_level', 'access_tokens.access_level').as('access_level'),
    ])

export async function findAccessToken(context: ReadContext, id: number): Promise<AccessToken | undefined> {
  const row = await selectTokens(context).where('access_tokens.id', '=', id).executeTakeFirst()
  return row && tokenOf(row, context.nowMs)
}

/** Selects the tokens of a list. */
interface TokenOwnerFilter {
  readonly kinds?: readonly AccessTokenKind[]
  readonly userId?: number | undefined
  readonly projectId?: number
  readonly groupId?: number
}

export async function pageOfAccessTokens(
  context: ReadContext,
  of: TokenOwnerFilter,
  filter: TokenFilter,
  page: PageRequest,
): Promise<Page<AccessToken>> {
  const query = selectTokens(context).where((eb) => eb.and(conditions(eb, context, of, filter)))
  return mapPage(await pageOf(context, ordered(query, filter.sort), page), (row) => tokenOf(row, context.nowMs))
}

function conditions(
  eb: ExpressionBuilder<CoreTables, 'access_tokens'>,
  context: ReadContext,
  { kinds, userId, projectId, groupId }: TokenOwnerFilter,
  filter: TokenFilter,
) {
  const unrevoked = eb('access_tokens.revoked_at_ms', 'is', null)
  const active = eb.and([
    unrevoked,
    eb.or([
      eb('access_tokens.expires_at', 'is', null),
      eb('access_tokens.expires_at', '>', dateAfterDays(context.nowMs, 0)),
    ]),
  ])
  const { state, revoked, search, createdBefore, createdAfter, lastUsedBefore, lastUsedAfter } = filter
  return [
    ...(kinds === undefined ? [] : [eb('access_tokens.kind', 'in', [...kinds])]),
    ...(userId === undefined ? [] : [eb('access_tokens.user_id', '=', userId)]),
    ...(projectId === undefined ? [] : [eb('access_tokens.project_id', '=', projectId)]),
    ...(groupId === undefined ? [] : [eb('access_tokens.group_id', '=', groupId)]),
    ...(state === 'active' ? [active] : state === 'inactive' ? [eb.not(active)] : []),
    ...(typeof revoked === 'boolean' ? [revoked ? eb.not(unrevoked) : unrevoked] : []),
    ...(search ? [containsText(context, ['access_tokens.name'], search)] : []),
    ...(typeof createdBefore === 'number' ? [eb('access_tokens.created_at_ms', '<', createdBefore)] : []),
    ...(typeof createdAfter === 'number' ? [eb('access_tokens.created_at_ms', '>=', createdAfter)] : []),
    ...(typeof lastUsedBefore === 'number' ? [eb('access_tokens.last_used_at_ms', '<', lastUsedBefore)] : []),
    ...(typeof lastUsedAfter === 'number' ? [eb('access_tokens.last_used_at_ms', '>=', lastUsedAfter)] : []),
    ...(filter.expiresBefore ? [eb('access_tokens.expires_at', '<', filter.expiresBefore)] : []),
    ...(filter.expiresAfter ? [eb('access_tokens.expires_at', '>=', filter.expiresAfter)] : []),
  ]
}

const orderColumn = {
  created: 'access_tokens.created_at_ms',
  expires: 'access_tokens.expires_at',
  last_used: 'access_tokens.last_used_at_ms',
  name: 'access_tokens.name',
} as const

/** Sorts the query; tokens without a value in the column come last. */
function ordered<Output>(
  query: SelectQueryBuilder<CoreTables, 'access_tokens' | 'members', Output>,
  sort: TokenFilter['sort'],
) {
  const direction = sort?.endsWith('_desc') ? ('desc' as const) : ('asc' as const)
  const column = orderColumn[(sort ?? 'created_asc').replace(/_(?:asc|desc)$/, '') as keyof typeof orderColumn]
  return query
    .orderBy(sql`case when ${sql.ref(column)} is null then 1 else 0 end`)
    .orderBy(column, direction)
    .orderBy('access_tokens.id', direction)
}

export interface AccessTokenDraft {
  readonly kind: AccessTokenKind
  readonly userId: number
  readonly projectId?: number | undefined
  readonly groupId?: number | undefined
  readonly level?: AccessLevel | undefined
  readonly name: string
  readonly description?: string | null | undefined
  readonly scopes: readonly string[]
  readonly expiresAt: string | undefined
  readonly familyId?: number
  readonly createdById?: number | undefined
  readonly value: string
}

export async function insertAccessToken(
  tx: Pick<Tx, 'db' | 'nowMs'>,
  draft: AccessTokenDraft,
): Promise<IssuedAccessToken> {
  const { id } = await tx.db
    .insertInto('access_tokens')
    .values({
      kind: draft.kind,
      user_id: draft.userId,
      project_id: draft.projectId ?? null,
      group_id: draft.groupId ?? null,
      access_level: draft.level ?? null,
      name: draft.name,
      description: draft.description ?? null,
      scopes: draft.scopes.join(' '),
      digest: digestOf(draft.value),
      family_id: draft.familyId ?? null,
      expires_at: draft.expiresAt ?? null,
      revoked_at_ms: null,
      last_used_at_ms: null,
      created_by_id: draft.createdById ?? null,
      created_at_ms: tx.nowMs,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return { ...(await findAccessToken(tx, id))!, value: draft.value }
}

export async function updateAsRevoked({ db, nowMs }: Pick<Tx, 'db' | 'nowMs'>, id: number): Promise<void> {
  await db
    .updateTable('access_tokens')
    .set({ revoked_at_ms: nowMs })
    .where('id', '=', id)
    .where('revoked_at_ms', 'is', null)
    .execute()
}

/**
 * Deletes the membership of the bot in the project or group of the token, if all tokens of the bot have been revoked.
 * The bot is a member only because of its tokens.
 */
export async function deleteUnneededMembership({ db }: Pick<Tx, 'db'>, token: AccessToken): Promise<void> {
  await db
    .deleteFrom('members')
    .where('user_id', '=', token.userId)
    .where('user_id', 'not in', (eb) =>
      eb
        .selectFrom('access_tokens')
        .select('user_id')
        .where('user_id', '=', token.userId)
        .where('revoked_at_ms', 'is', null),
    )
    .where((eb) => eb.or([eb('project_id', '=', token.projectId ?? 0), eb('group_id', '=', token.groupId ?? 0)]))
    .execute()
}

/** Returns the ids of the unrevoked tokens that followed a revoked token by rotation. */
export async function findLiveSuccessorIds({ db }: Pick<ReadContext, 'db'>, id: number): Promise<number[]> {
  const rows = await db
    .selectFrom('access_tokens as shown')
    .innerJoin('access_tokens as later', (join) =>
      join.on((eb) => eb('later.family_id', '=', eb.fn.coalesce('shown.family_id', 'shown.id'))),
    )
    .select('later.id')
    .where('shown.id', '=', id)
    .where('shown.revoked_at_ms', 'is not', null)
    .whereRef('later.id', '>', 'shown.id')
    .where('later.revoked_at_ms', 'is', null)
    .orderBy('later.id')
    .execute()
  return rows.map((row) => row.id)
}

export async function updateLastUse({ db, nowMs }: Pick<Tx, 'db' | 'nowMs'>, id: number): Promise<void> {
  await db.updateTable('access_tokens').set({ last_used_at_ms: nowMs }).where('id', '=', id).execute()
}

function tokenOf(row: Row, nowMs: number): AccessToken {
  return {
    id: row.id,
    kind: row.kind,
    userId: row.user_id,
    projectId: row.project_id ?? undefined,
    groupId: row.group_id ?? undefined,
    level: (row.access_level ?? undefined) as AccessLevel | undefined,
    name: row.name,
    description: row.description ?? undefined,
    scopes: scopesOf(row.scopes),
    familyId: row.family_id ?? row.id,
    expiresAt: row.expires_at ?? undefined,
    state: stateOf(row, nowMs),
    isRevoked: row.revoked_at_ms !== null,
    lastUsedAtMs: row.last_used_at_ms ?? undefined,
    createdAtMs: row.created_at_ms,
  }
}

export function stateOf({ expires_at, revoked_at_ms }: Pick<Row, 'expires_at' | 'revoked_at_ms'>, nowMs: number) {
  if (expires_at !== null && expires_at <= dateAfterDays(nowMs, 0)) return 'expired'
  return revoked_at_ms === null ? 'valid' : 'revoked'
}
