import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { emojiNamed } from '../award-emoji/emoji.ts'
import type { IssuableTables } from './issuable-tables.ts'

interface ReactionFilter {
  readonly myReactionEmoji?: string | undefined
  readonly not?: { readonly myReactionEmoji?: string | undefined } | undefined
}

/** Returns the conditions for items to which the actor has reacted with an emoji, or has not. */
export const reactionConditions = (
  tables: IssuableTables,
  actor: { readonly id: number } | undefined,
  { myReactionEmoji: wanted, not }: ReactionFilter,
): (RawBuilder<SqlBool> | false)[] => [
  wanted !== undefined && reactionCondition(tables, actor, wanted),
  not?.myReactionEmoji !== undefined && sql<SqlBool>`not ${reactionCondition(tables, actor, not.myReactionEmoji)}`,
]

/** @param wanted the name of an emoji, `None` or `Any` */
function reactionCondition(
  { items, itemId }: IssuableTables,
  actor: { readonly id: number } | undefined,
  wanted: string,
): RawBuilder<SqlBool> {
  // No user has this id: callers without a sign-in have no reactions.
  const mine = sql`select 1 from award_emoji as reactions
    where ${sql.ref(`reactions.${itemId}`)} = ${sql.ref(`${items}.id`)} and reactions.user_id = ${actor?.id ?? 0}`
  switch (wanted.toLowerCase()) {
    case 'none':
      return sql<SqlBool>`(not exists (${mine}))`
    case 'any':
      return sql<SqlBool>`(exists (${mine}))`
    default:
      return sql<SqlBool>`(exists (${mine} and reactions.name = ${emojiNamed(wanted) ?? wanted}))`
  }
}
