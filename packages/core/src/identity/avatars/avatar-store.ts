import { notFound } from '../../base/kit/domain-error.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Tx } from '../../base/operations/context.ts'
import type { Avatar } from './avatar.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    avatars: AvatarsTable
  }
}

/** One row for each picture. Exactly one of the ids is set. The file name is stored in the row of the owner. */
interface AvatarsTable {
  user_id: number | null
  group_id: number | null
  project_id: number | null
  content_type: string
  content_base64: string
}

/** The user, group or project that a picture belongs to. */
interface AvatarOwner {
  readonly kind: 'user' | 'group' | 'project'
  readonly id: number
}

const columnOf = ({ kind }: AvatarOwner) => `${kind}_id` as const

/** Replaces or removes the picture, and returns the file name for the row of the owner. */
export async function saveAvatar(
  { db }: Pick<Tx, 'db'>,
  owner: AvatarOwner,
  avatar: Avatar | null,
): Promise<string | undefined> {
  await db.deleteFrom('avatars').where(columnOf(owner), '=', owner.id).execute()
  if (avatar === null) return undefined
  await db
    .insertInto('avatars')
    .values({
      user_id: null,
      group_id: null,
      project_id: null,
      [columnOf(owner)]: owner.id,
      content_type: avatar.contentType,
      content_base64: Buffer.from(avatar.bytes).toString('base64'),
    })
    .execute()
  return avatar.fileName
}

/** @throws DomainError `not_found` if the owner has no picture */
export async function getAvatar(
  { db }: ReadContext,
  owner: AvatarOwner,
): Promise<Pick<Avatar, 'contentType' | 'bytes'>> {
  const row = await db
    .selectFrom('avatars')
    .select(['content_type', 'content_base64'])
    .where(columnOf(owner), '=', owner.id)
    .executeTakeFirst()
  if (row === undefined) throw notFound('Avatar')
  return { contentType: row.content_type, bytes: Buffer.from(row.content_base64, 'base64') }
}
