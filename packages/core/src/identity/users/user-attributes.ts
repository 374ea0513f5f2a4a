import { z } from 'zod'
import { MAX_INTEGER } from '../../base/kit/common-fields.ts'
import { invalid } from '../../base/kit/domain-error.ts'
import { changesOf, validate, withInput } from '../../base/kit/field-table.ts'
import { clearable } from '../../base/kit/parameter-schemas.ts'
import type { User } from '../../base/model/user.ts'
import { userSettings } from '../../base/model/user-settings.ts'
import type { Tx } from '../../base/operations/context.ts'
import { type Avatar, avatarFrom, avatarInput } from '../avatars/avatar.ts'
import { saveAvatar } from '../avatars/avatar-store.ts'
import type { UserChanges } from './user-store.ts'

/** The parameters for the rights, the profile and the preferences of a user. */
export const userAttributes = {
  ...changesOf(userSettings),
  external: z.boolean().optional(),
  canCreateGroup: z.boolean().optional(),
  projectsLimit: z.int().min(0).max(MAX_INTEGER).optional(),
  /** The e-mail address for commits. Only the primary address is accepted, because commits have it. */
  commitEmail: clearable(z.string().max(255)),
  avatar: avatarInput,
}
type UserAttributes = z.output<z.ZodObject<typeof userAttributes>>

/** Valid changes to a user; `avatar` is a picture that is not stored yet. */
interface AttributeChanges extends Omit<UserChanges, 'avatar'> {
  readonly avatar?: Avatar | null
}

/** Returns the changes that the input makes to a user. @throws DomainError `invalid` */
export function attributeChanges(
  before: Pick<User, 'email' | 'settings' | 'isExternal'>,
  { external, canCreateGroup, projectsLimit, commitEmail, avatar, ...input }: UserAttributes,
): AttributeChanges {
  const settings = withInput(userSettings, before.settings, input)
  validate(userSettings, settings)
  if (commitEmail && commitEmail.toLowerCase() !== before.email.toLowerCase())
    throw invalid({ commitEmail: ['must be the primary email'] })
  const picture = avatarFrom(avatar)
  return {
    settings,
    ...(canCreateGroup !== undefined && { canCreateGroup }),
    ...(projectsLimit !== undefined && { projectsLimit }),
    ...(external !== undefined && { isExternal: external }),
    // As on GitLab, whatever the other parameters say.
    ...((external ?? before.isExternal) && { canCreateGroup: false, projectsLimit: 0 }),
    ...(picture !== undefined && { avatar: picture }),
  }
}

/** Stores or removes the picture if the changes include one, and returns the changes to the user's row. */
export async function withStoredAvatar(tx: Tx, id: number, changes: AttributeChanges): Promise<UserChanges> {
  const { avatar, ...others } = changes
  if (avatar === undefined) return others
  return { ...others, avatar: await saveAvatar(tx, { kind: 'user', id }, avatar) }
}
