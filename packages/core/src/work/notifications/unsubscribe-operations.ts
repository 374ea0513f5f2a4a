import { z } from 'zod'
import { DomainError } from '../../base/kit/domain-error.ts'
import type { Core, OperationContext, Tx } from '../../base/operations/context.ts'
import { unscopedCommand } from '../../base/operations/operation.ts'
import { setSubscription } from '../../base/operations/subscription-store.ts'
import { isSignatureOf, signatureOf } from '../../base/secrets/signed-text.ts'
import { findUser } from '../../identity/users/user-store.ts'
import { issueTables } from '../issues/issue-store.ts'
import { mergeRequestTables } from '../merge-requests/merge-request-store.ts'
import { defaultParentSetting } from './notification-level.ts'
import { findNotificationSetting, saveNotificationSetting } from './notification-setting-store.ts'
import { type SubscribableKind, subscribableKinds } from './notification-store.ts'

export const UNSUBSCRIBE_PATH = '/-/notifications/unsubscribe'

/** The kinds of links: they end the subscription to an issue or merge request, or all notifications about a project. */
export const unsubscribeKinds = [...subscribableKinds, 'project'] as const

/** The subscription of a user that a link ends. */
export interface UnsubscribeLink {
  readonly kind: (typeof unsubscribeKinds)[number]
  readonly itemId: number
  readonly userId: number
}

const partsOf = ({ kind, itemId, userId }: UnsubscribeLink): readonly string[] => [
  'unsubscribe',
  kind,
  String(itemId),
  String(userId),
]

/** Returns the URL of the page that ends a subscription, for the mails about it. */
export function unsubscribeUrl({ settings }: Pick<Core, 'settings'>, link: UnsubscribeLink): string {
  const query = new URLSearchParams({
    kind: link.kind,
    item: String(link.itemId),
    user: String(link.userId),
    signature: signatureOf(settings.secretsKey, partsOf(link)),
  })
  return `${settings.externalUrl}${UNSUBSCRIBE_PATH}?${query}`
}

const invalidLink = () => new DomainError({ code: 'refused', message: 'The link is invalid' })

/**
 * Ends the subscription of a user to an issue or merge request, or disables the notifications about a project, with the
 * signature of a link. Needs no sign-in. The links of users who are not active do not work.
 */
export const unsubscribeByLink = unscopedCommand(
  {
    name: 'unsubscribeByLink',
    caller: 'anyone',
    input: z.object({
      kind: z.enum(unsubscribeKinds),
      itemId: z.int(),
      userId: z.int(),
      signature: z.string().max(100),
    }),
    limits: [{ name: 'unsubscribe_link', per: ['address'], periodSeconds: 3_600, count: 100 }],
  },
  async (tx, { signature, ...link }): Promise<void> => {
    if (!isSignatureOf(tx.core.settings.secretsKey, partsOf(link), signature)) throw invalidLink()
    const user = await findUser(tx, link.userId)
    if (user?.state !== 'active') throw invalidLink()
    if (link.kind === 'project') await disableProject(tx, link)
    else await unsubscribe(tx, { ...link, kind: link.kind })
  },
)

async function unsubscribe(
  tx: OperationContext & Tx,
  { kind, itemId, userId }: UnsubscribeLink & { readonly kind: SubscribableKind },
): Promise<void> {
  const table = kind === 'issue' ? ('issues' as const) : ('merge_requests' as const)
  const item = await tx.db.selectFrom(table).select('project_id').where('id', '=', itemId).executeTakeFirst()
  if (item === undefined) throw invalidLink()
  await setSubscription(tx, kind === 'issue' ? issueTables : mergeRequestTables, itemId, userId, false)
  await tx.recordEvent({
    type: `${kind}.unsubscribed`,
    objectId: itemId,
    projectId: item.project_id,
    actorId: userId,
  })
}

/** Sets the level of the user for the project to `disabled`. The address and the switches of the setting stay. */
async function disableProject(tx: OperationContext & Tx, { itemId: id, userId }: UnsubscribeLink): Promise<void> {
  const project = await tx.db.selectFrom('projects').select('id').where('id', '=', id).executeTakeFirst()
  if (project === undefined) throw invalidLink()
  const parent = { kind: 'project', id } as const
  const before = await findNotificationSetting(tx, userId, parent)
  if (before?.level === 'disabled') return
  const after = { email: undefined, ...(before ?? defaultParentSetting), level: 'disabled' as const }
  const settingId = await saveNotificationSetting(tx, { userId, parent }, before, after)
  await tx.recordEvent({
    type: 'notification_setting.updated',
    objectId: settingId,
    projectId: id,
    actorId: userId,
    changes: { level: { previous: before?.level ?? defaultParentSetting.level, current: 'disabled' } },
  })
}
