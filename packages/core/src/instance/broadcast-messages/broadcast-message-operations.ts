import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { errorTexts } from '../../base/kit/error-texts.ts'
import { validate } from '../../base/kit/field-table.ts'
import { pageInput } from '../../base/kit/page.ts'
import { unscopedCommand, unscopedQuery } from '../../base/operations/operation.ts'
import { comparedFields, type RecordedKind, recordChange } from '../../base/operations/record-change.ts'
import {
  type BroadcastMessage,
  broadcastMessageDraft,
  broadcastMessageInput,
  changedMessage,
  createBroadcastMessageInput,
  matchesTargetPath,
  newMessage,
  updateBroadcastMessageInput,
} from './broadcast-message.ts'
import {
  activeMessagesForAll,
  deleteMessage,
  getMessage,
  insertMessage,
  messagesByIds,
  pageOfMessages,
  updateMessage,
} from './broadcast-message-store.ts'

/** The limit of messages on a page, which shows the newest ones. */
const MAX_SHOWN = 10

/** Lists all messages. The target of a message decides where it is shown, not who may read it. */
export const listBroadcastMessages = unscopedQuery(
  { name: 'listBroadcastMessages', caller: 'anyone', input: z.object(pageInput) },
  (context, page) => pageOfMessages(context, page),
)

export const getBroadcastMessage = unscopedQuery(
  { name: 'getBroadcastMessage', caller: 'anyone', input: broadcastMessageInput },
  (context, { broadcastMessageId }) => getMessage(context, broadcastMessageId),
)

/**
 * Lists the active messages for a page outside groups and projects, except the dismissed ones. No one has a role on such a
 * page, so messages for certain roles are left out.
 */
export const listShownBroadcastMessages = unscopedQuery(
  {
    name: 'listShownBroadcastMessages',
    caller: 'anyone',
    input: z.object({ path: z.string(), dismissedIds: z.array(z.int()) }),
  },
  async (context, { path, dismissedIds }) => {
    const shown = (await activeMessagesForAll(context)).filter(
      ({ id, targetPath, isDismissable }) =>
        matchesTargetPath(targetPath, path) && !(isDismissable && dismissedIds.includes(id)),
    )
    return messagesByIds(
      context,
      shown.slice(0, MAX_SHOWN).map(({ id }) => id),
    )
  },
)

/** Lists the active messages that can be dismissed, by id and end. */
export const listDismissableBroadcastMessages = unscopedQuery(
  { name: 'listDismissableBroadcastMessages', caller: 'anyone', input: z.object({}) },
  async (context) => (await activeMessagesForAll(context)).filter(({ isDismissable }) => isDismissable),
)

export const createBroadcastMessage = unscopedCommand(
  { name: 'createBroadcastMessage', caller: 'administrator', input: createBroadcastMessageInput },
  async (tx, input) => {
    const draft = newMessage(input, tx.nowMs)
    validate(broadcastMessageDraft, draft)
    const message = await insertMessage(tx, draft)
    await recordChange(tx, messageEvents, 'created', { after: message })
    return message
  },
)

export const updateBroadcastMessage = unscopedCommand(
  { name: 'updateBroadcastMessage', caller: 'administrator', input: updateBroadcastMessageInput },
  async (tx, { broadcastMessageId, ...input }) => {
    const before = await getMessage(tx, broadcastMessageId)
    const draft = changedMessage(before, input)
    validate(broadcastMessageDraft, draft, {
      ...(input.startsAt === null && { startsAtMs: [errorTexts.blank] }),
      ...(input.endsAt === null && { endsAtMs: [errorTexts.blank] }),
    })
    if (isDeepStrictEqual(draft, before)) return before
    const message = await updateMessage(tx, before.id, draft)
    await recordChange(tx, messageEvents, 'updated', { before, after: message })
    return message
  },
)

export const removeBroadcastMessage = unscopedCommand(
  { name: 'removeBroadcastMessage', caller: 'administrator', input: broadcastMessageInput, isConditional: true },
  async (tx, { broadcastMessageId }) => {
    const message = await getMessage(tx, broadcastMessageId)
    tx.requireUnmodified(message.updatedAtMs)
    await deleteMessage(tx, message.id)
    await recordChange(tx, messageEvents, 'removed', { before: message })
  },
)

const messageEvents: RecordedKind<BroadcastMessage> = {
  noun: 'broadcast_message',
  compared: comparedFields(broadcastMessageDraft),
  detailsOf: ({ broadcastType }) => ({ broadcastType }),
}
