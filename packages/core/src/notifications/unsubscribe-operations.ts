import { z } from 'zod'
import { issueTables } from '../issues/issue-store.ts'
import { DomainError } from '../kit/domain-error.ts'
import { mergeRequestTables } from '../merge-requests/merge-request-store.ts'
import type { Core } from '../operations/context.ts'
import { unscopedCommand } from '../operations/operation.ts'
import { setSubscription } from '../operations/subscription-store.ts'
import { isSignatureOf, signatureOf } from '../secrets/signed-text.ts'
import { findUser } from '../users/user-store.ts'
import { type NotifiedKind, notifiedKinds } from './notification-store.ts'

export const UNSUBSCRIBE_PATH = '/-/notifications/unsubscribe'

/** The subscription of a user that a link ends. */
export interface UnsubscribeLink {
  readonly kind: NotifiedKind
  readonly itemId: number
  readonly userId: number
}

const partsOf = ({ kind, itemId, userId }: UnsubscribeLink): readonly string[] => [
  'unsubscribe',
  kind,
  String(itemId),
  String(userId),
]

/** Returns the URL of the page that ends a subscription, for the mails about an issue or merge request. */
export function unsubscribeUrl({ settings }: Pick<Core, 'settings'>, link: UnsubscribeLink): string {
  const query = new URLSearchParams({
    kind: link.kind,
    item: String(link.itemId),
    user: String(link.userId),
    signature: signatureOf(settings.secretsKey, partsOf(link)),
  })
  return `${settings.externalUrl}${UNSUBSCRIBE_PATH}?${query}`
}

/** Ends the subscription of a user to an issue or merge request, with the signature of a link. Needs no sign-in. */
export const unsubscribeByLink = unscopedCommand(
  {
    name: 'unsubscribeByLink',
    caller: 'anyone',
    input: z.object({
      kind: z.enum(notifiedKinds),
      itemId: z.int(),
      userId: z.int(),
      signature: z.string().max(100),
    }),
  },
  async (tx, { signature, ...link }): Promise<void> => {
    const refused = new DomainError({ code: 'refused', message: 'The link is invalid' })
    if (!isSignatureOf(tx.core.settings.secretsKey, partsOf(link), signature)) throw refused
    const { kind, itemId, userId } = link
    const table = kind === 'issue' ? ('issues' as const) : ('merge_requests' as const)
    const item = await tx.db.selectFrom(table).select('project_id').where('id', '=', itemId).executeTakeFirst()
    if (item === undefined || (await findUser(tx, userId)) === undefined) throw refused
    await setSubscription(tx, kind === 'issue' ? issueTables : mergeRequestTables, itemId, userId, false)
    await tx.recordEvent({
      type: `${kind}.unsubscribed`,
      objectId: itemId,
      projectId: item.project_id,
      actorId: userId,
    })
  },
)
