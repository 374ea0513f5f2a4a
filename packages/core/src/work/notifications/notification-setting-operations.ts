import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { DomainError, invalid } from '../../base/kit/domain-error.ts'
import { errorTexts } from '../../base/kit/error-texts.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Group } from '../../base/model/group.ts'
import { type ParentRef, parentIds } from '../../base/model/parent.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import type { CallContext, Tx } from '../../base/operations/context.ts'
import { unscopedBatchQuery, unscopedCommand, unscopedQuery } from '../../base/operations/operation.ts'
import { type RecordedKind, recordChange } from '../../base/operations/record-change.ts'
import { onGroupsAndProjects, parentInput } from '../../identity/parents/parent-operations.ts'
import { isVerifiedEmail } from '../../identity/users/email-store.ts'
import { getUser } from '../../identity/users/user-store.ts'
import {
  defaultGlobalSetting,
  defaultParentSetting,
  type NotificationLevel,
  type NotificationSetting,
  type NotificationSwitch,
  notificationLevels,
  notificationSwitches,
  type SwitchValues,
} from './notification-level.ts'
import {
  findNotificationSetting,
  notificationEmailsIn,
  type StoredSetting,
  saveNotificationSetting,
} from './notification-setting-store.ts'

/** The setting of a user for everything, with the address that notifications go to. */
export interface GlobalNotificationSetting extends NotificationSetting {
  readonly notificationEmail: string
}

const optionalSwitch = z.boolean().nullish()
const switchInput = Object.fromEntries(notificationSwitches.map((name) => [name, optionalSwitch])) as {
  readonly [Name in NotificationSwitch]: typeof optionalSwitch
}
/** Null for a switch means that it has never been set. */
const changes = { level: z.string().max(255).nullish(), ...switchInput }
type Changes = z.output<z.ZodObject<typeof changes>>
const address = { notificationEmail: z.string().max(255).nullish() }

export const getNotificationSetting = unscopedQuery(
  { name: 'getNotificationSetting', input: z.object({}) },
  async (context): Promise<GlobalNotificationSetting> => {
    const user = await getUser(context, context.actor!.id)
    return shownGlobally(user, await findNotificationSetting(context, user.id, undefined))
  },
)

/** Changes the setting of the actor for everything. An empty address means the primary one. */
export const updateNotificationSetting = unscopedCommand(
  {
    name: 'updateNotificationSetting',
    input: z.object({ ...changes, ...address }),
  },
  async (tx, { notificationEmail, ...input }): Promise<GlobalNotificationSetting> => {
    const user = await getUser(tx, tx.actor!.id)
    const chosen = await chosenEmail(tx, user, notificationEmail)
    // The primary address follows changes by administrators.
    const email = chosen === user.email ? null : chosen
    return shownGlobally(user, await change(tx, undefined, { ...input, ...(email !== undefined && { email }) }))
  },
)

/**
 * The operations on the settings of the actor for a group or project. Everyone who sees it has a setting. Notifications go to
 * the address that is stored for the nearest group, and else to the one for everything.
 */
export const { group: groupNotificationSettings, project: projectNotificationSettings } = onGroupsAndProjects(
  { noun: 'NotificationSetting', permissions: () => 'set_notifications' },
  (on) => ({
    get: on.get(
      z.object(parentInput),
      async (context): Promise<NotificationSetting> =>
        (await findNotificationSetting(context, context.actor!.id, context.subject)) ?? defaultParentSetting,
    ),

    update: on.update(
      z.object({ ...parentInput, ...changes }),
      async (tx, { parent, ...input }): Promise<NotificationSetting> =>
        (await change(tx, tx.subject, input)) ?? defaultParentSetting,
    ),
  }),
)

/** Returns for each group the address that notifications about it go to, for the actor. */
export const notificationEmailInEachGroup = unscopedBatchQuery(
  { name: 'notificationEmailInEachGroup', input: z.object({}) },
  async (context, groups: readonly Group[]): Promise<(string | undefined)[]> => {
    if (context.actor === undefined) return groups.map(() => undefined)
    const { id } = context.actor
    const chosen = await notificationEmailsIn(
      context,
      id,
      groups.flatMap(({ groupIds }) => groupIds),
    )
    const elsewhere = chosen.get(0) ?? (await getUser(context, id)).email
    return groups.map(({ groupIds }) => {
      const nearest = groupIds.findLast((groupId) => chosen.has(groupId))
      return nearest === undefined ? elsewhere : chosen.get(nearest)
    })
  },
)

/** Returns the address that notifications about a project go to: that of the nearest group with one, or the one for everything. */
export async function notificationEmailOf(
  context: ReadContext,
  { id, email }: Pick<User, 'id' | 'email'>,
  { groupIds }: Pick<Project, 'groupIds'>,
): Promise<string> {
  const chosen = await notificationEmailsIn(context, id, groupIds)
  const nearest = groupIds.findLast((groupId) => chosen.has(groupId)) ?? 0
  return chosen.get(nearest) ?? email
}

const shownGlobally = (user: User, stored: StoredSetting | undefined): GlobalNotificationSetting => ({
  ...(stored ?? defaultGlobalSetting),
  notificationEmail: stored?.email ?? user.email,
})

/**
 * Returns the address to store, which the user has confirmed; null for none, and `undefined` for no change.
 *
 * @throws DomainError `invalid`
 */
async function chosenEmail(context: ReadContext, user: Pick<User, 'id'>, text: string | null | undefined) {
  if (text === undefined) return undefined
  const email = text?.toLowerCase()
  if (!email) return null
  if (await isVerifiedEmail(context, user.id, email)) return email
  throw invalid({ notificationEmail: ['must be an email you have verified'] })
}

/** Changes a setting of the actor, and returns the stored one. A request that changes nothing stores nothing. */
async function change(
  tx: CallContext & Tx,
  parent: ParentRef | undefined,
  { level, email, ...switches }: Changes & { readonly email?: string | null },
): Promise<StoredSetting | undefined> {
  const userId = tx.actor!.id
  const stored = await findNotificationSetting(tx, userId, parent)
  const before = stored ?? { ...(parent === undefined ? defaultGlobalSetting : defaultParentSetting), email: undefined }
  const after = {
    level: level === undefined ? before.level : validLevel(level),
    switches: withSwitches(before.switches, switches),
    email: email === undefined ? before.email : (email ?? undefined),
  }
  if (isDeepStrictEqual(after, { level: before.level, switches: before.switches, email: before.email })) return stored
  const id = await saveNotificationSetting(tx, { userId, parent }, stored, after)
  const setting = { id, ...after }
  await recordChange(tx, settingEvents, 'updated', {
    before: { id, ...before },
    after: setting,
    ...(parent && parentIds(parent)),
  })
  return setting
}

/** @throws DomainError `invalid` or `refused` */
function validLevel(level: string | null): NotificationLevel {
  if (!level) throw invalid({ level: [errorTexts.blank] })
  const known = notificationLevels.find((each) => each === level)
  if (known !== undefined) return known
  throw new DomainError({ code: 'refused', message: `'${level}' is not a valid level` })
}

function withSwitches(
  before: SwitchValues,
  changed: Readonly<Partial<Record<NotificationSwitch, boolean | null | undefined>>>,
): SwitchValues {
  const valueAfter = (name: NotificationSwitch) => (changed[name] === undefined ? before[name] : changed[name])
  return Object.fromEntries(
    notificationSwitches.flatMap((name) => {
      const value = valueAfter(name)
      return value === undefined || value === null ? [] : [[name, value]]
    }),
  )
}

/** The address is personal, so that events do not contain it. */
const settingEvents: RecordedKind<StoredSetting> = {
  noun: 'notification_setting',
  compared: { level: ({ level }) => level, switches: ({ switches }) => switches },
}
