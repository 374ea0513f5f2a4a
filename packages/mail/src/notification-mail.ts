import {
  actingUser,
  type Core,
  DomainError,
  findUser,
  getProject,
  getProjectIssue,
  getProjectMergeRequest,
  issueNotes,
  mergeRequestNotes,
  type Notification,
  type NotificationSwitch,
  notificationEmailOf,
  type Project,
  perform,
  type ReadContext,
  readContextOf,
  type User,
  unsubscribeUrl,
} from '@penstock/core'
import { escaped, htmlDocument } from './html.ts'
import type { Message } from './message.ts'

/** The event in words, as the end of a sentence that begins with a name. */
const happened: Readonly<Partial<Record<NotificationSwitch, string>>> = {
  newIssue: 'created the issue',
  closeIssue: 'closed the issue',
  reopenIssue: 'reopened the issue',
  reassignIssue: 'changed the assignees of the issue',
  newMergeRequest: 'created the merge request',
  closeMergeRequest: 'closed the merge request',
  reopenMergeRequest: 'reopened the merge request',
  mergeMergeRequest: 'merged the merge request',
  reassignMergeRequest: 'changed the assignees of the merge request',
  changeReviewerMergeRequest: 'changed the reviewers of the merge request',
  newNote: 'commented',
}
const MAX_TEXT = 20_000

/**
 * Returns the mail about a notification to a user; `undefined` if the user may not read what it is about by now, or is not
 * active. Everything in it is read with the rights of the user.
 */
export async function notificationMail(
  core: Core,
  notification: Notification,
  { userId, key }: { readonly userId: number; readonly key: string },
): Promise<Message | undefined> {
  const context = readContextOf(core)
  const user = await findUser(context, userId)
  if (user === undefined || user.state !== 'active') return undefined
  try {
    return await compose({ core, context, user, notification, key })
  } catch (error) {
    const isHidden = error instanceof DomainError && ['not_found', 'forbidden'].includes(error.failure.code)
    if (isHidden) return undefined
    throw error
  }
}

interface Composing {
  readonly core: Core
  readonly context: ReadContext
  readonly user: User
  readonly notification: Notification
  readonly key: string
}

async function compose({ core, context, user, notification, key }: Composing): Promise<Message> {
  const { event, kind, itemId, itemIid, projectId, noteId, actorId, atMs } = notification
  const { externalUrl } = core.settings
  const { item, text } = await readAs(core, user, notification)
  const project = await getProject(context, projectId)
  const actor = actorId === undefined ? undefined : await findUser(context, actorId)
  const isIssue = kind === 'issue'
  const page = `${externalUrl}/${project.fullPath}/-/${isIssue ? 'issues' : 'merge_requests'}/${itemIid}`
  const url = noteId === undefined ? page : `${page}#note_${noteId}`
  const sentence = `${actor?.name ?? 'This service'} ${happened[event]}:`
  const name = `${item.title} (${isIssue ? '#' : '!'}${itemIid})`
  const content = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text
  const unsubscribe = unsubscribeUrl(core, { kind, itemId, userId: user.id })
  const reason = 'You get this mail because of your notification settings. Unsubscribe:'
  const isFirst = event === 'newIssue' || event === 'newMergeRequest'
  return {
    to: await notificationEmailOf(context, user, project),
    subject: `${isFirst ? '' : 'Re: '}${project.name} | ${name}`,
    text: [sentence, name, ...(content === '' ? [] : [content]), url, '-- ', `${reason} ${unsubscribe}`].join('\n\n'),
    html: htmlDocument([
      escaped(sentence),
      `<a href="${escaped(url)}">${escaped(name)}</a>`,
      `<div style="white-space:pre-wrap">${escaped(content)}</div>`,
      `${escaped(reason)} <a href="${escaped(unsubscribe)}">${escaped(isIssue ? 'this issue' : 'this merge request')}</a>`,
    ]),
    key,
    atMs,
    list: {
      id: listIdOf(project),
      unsubscribeUrl: unsubscribe,
      threadKey: `${kind}.${itemId}`,
      isFirst,
    },
  }
}

/** Reads the item, and the new text, with the rights of the user. @throws DomainError if the user may not */
async function readAs(core: Core, user: User, { kind, projectId, itemIid, noteId, event }: Notification) {
  const actor = actingUser(user)
  const isIssue = kind === 'issue'
  const item = isIssue
    ? await perform(core, actor, getProjectIssue, { project: projectId, issueIid: itemIid })
    : await perform(core, actor, getProjectMergeRequest, { project: projectId, mergeRequestIid: itemIid })
  if (noteId !== undefined) {
    const at = { project: projectId, noteId, ...(isIssue ? { issueIid: itemIid } : { mergeRequestIid: itemIid }) }
    const { body } = await perform(core, actor, isIssue ? issueNotes.get : mergeRequestNotes.get, at)
    return { item, text: body }
  }
  const isNew = event === 'newIssue' || event === 'newMergeRequest'
  return { item, text: isNew ? (item.description ?? '') : '' }
}

/** Paths have only letters, digits and `_-./`. */
const listIdOf = ({ id, fullPath }: Project): string => `${fullPath} <${id}.${fullPath.replaceAll('/', '.')}>`
