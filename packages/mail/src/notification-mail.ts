import {
  type Actor,
  actingUser,
  type Core,
  DomainError,
  findPipelineByKey,
  findReleaseById,
  findUser,
  getPipeline,
  getProject,
  getProjectIssue,
  getProjectMergeRequest,
  getRelease,
  issueNotes,
  locateProject,
  mergeRequestNotes,
  type Notification,
  type NotificationEvent,
  type NotifiedKind,
  nameOfRelease,
  notFound,
  notificationEmailOf,
  type Project,
  perform,
  type ReadContext,
  readContextOf,
  type UnsubscribeLink,
  type User,
  unsubscribeUrl,
} from '@penstock/core'
import { escaped, htmlDocument } from './html.ts'
import type { Message } from './message.ts'

/** The event in words, as the end of a sentence that begins with a name. */
const happened: Readonly<Record<Exclude<NotificationEvent, PipelineEvent>, string>> = {
  newIssue: 'created the issue',
  closeIssue: 'closed the issue',
  reopenIssue: 'reopened the issue',
  reassignIssue: 'changed the assignees of the issue',
  issueDue: 'reminds you that tomorrow is the due date of the issue',
  newMergeRequest: 'created the merge request',
  closeMergeRequest: 'closed the merge request',
  reopenMergeRequest: 'reopened the merge request',
  mergeMergeRequest: 'merged the merge request',
  reassignMergeRequest: 'changed the assignees of the merge request',
  changeReviewerMergeRequest: 'changed the reviewers of the merge request',
  pushToMergeRequest: 'pushed new commits to the merge request',
  approveMergeRequest: 'approved the merge request',
  unapproveMergeRequest: 'withdrew the approval of the merge request',
  mergeWhenPipelineSucceeds: 'lets the merge request be merged when its pipeline succeeds',
  newNote: 'commented',
  newRelease: 'created the release',
  movedProject: 'moved the project to',
}
type PipelineEvent = 'failedPipeline' | 'fixedPipeline' | 'successPipeline'

/** These events have no actor: the sentence is about the pipeline. */
const ended: Readonly<Record<PipelineEvent, string>> = {
  failedPipeline: 'A pipeline has failed',
  fixedPipeline: 'A pipeline is fixed',
  successPipeline: 'A pipeline has succeeded',
}
const isOfPipeline = (event: NotificationEvent): event is PipelineEvent => event in ended

const sentenceOf = (event: NotificationEvent, actor: string): string =>
  isOfPipeline(event) ? ended[event] : `${actor} ${happened[event]}`

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

/** The text of a mail about the subject of its notification. */
interface Content {
  /** The subject in one line, for the subject line and for a link. */
  readonly name: string
  /** The new text. */
  readonly text: string
  /** The page about it, below that of the project; empty for the project itself. */
  readonly page: string
}

async function compose({ core, context, user, notification, key }: Composing): Promise<Message> {
  const { event, kind, itemId, projectId, actorId, atMs } = notification
  const project = await getProject(context, projectId)
  const { name, text, page } = await readers[kind](core, actingUser(user), notification, context)
  const actor = actorId === undefined ? undefined : await findUser(context, actorId)
  const url = `${core.settings.externalUrl}/${project.fullPath}${page}`
  const sentence = `${sentenceOf(event, actor?.name ?? 'This service')}:`
  const content = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text
  const { noun, link } = unsubscribing(notification)
  const unsubscribe = unsubscribeUrl(core, { ...link, userId: user.id })
  const reason = `You get this mail because of your notification settings. Unsubscribe from ${noun}:`
  const isThread = kind === 'issue' || kind === 'merge_request'
  const isFirst = !isThread || isNew(event)
  return {
    to: await notificationEmailOf(context, user, project),
    subject: `${isFirst ? '' : 'Re: '}${project.name} | ${name}`,
    text: [sentence, name, ...(content === '' ? [] : [content]), url, '-- ', `${reason} ${unsubscribe}`].join('\n\n'),
    html: htmlDocument([
      escaped(sentence),
      `<a href="${escaped(url)}">${escaped(name)}</a>`,
      `<div style="white-space:pre-wrap">${escaped(content)}</div>`,
      `${escaped(reason)} <a href="${escaped(unsubscribe)}">Unsubscribe</a>`,
    ]),
    key,
    atMs,
    list: {
      id: listIdOf(project),
      unsubscribeUrl: unsubscribe,
      threadKey: isThread ? `${kind}.${itemId}` : `notification.${notification.id}`,
      isFirst,
    },
  }
}

const isNew = (event: NotificationEvent): boolean => event === 'newIssue' || event === 'newMergeRequest'

/** Returns what the link in a mail ends, and its name. Users do not subscribe to single releases and pipelines. */
function unsubscribing({ kind, itemId, projectId }: Notification): {
  readonly noun: string
  readonly link: Omit<UnsubscribeLink, 'userId'>
} {
  if (kind === 'issue') return { noun: 'this issue', link: { kind, itemId } }
  if (kind === 'merge_request') return { noun: 'this merge request', link: { kind, itemId } }
  return { noun: 'this project', link: { kind: 'project', itemId: projectId } }
}

/** Reads the subject of a notification with the rights of the actor. @throws DomainError if the actor may not read it */
type Reader = (core: Core, actor: Actor, notification: Notification, context: ReadContext) => Promise<Content>

const readers: Readonly<Record<NotifiedKind, Reader>> = {
  async issue(core, actor, notification) {
    const { projectId: project, itemIid: issueIid, noteId } = notification
    const issue = await perform(core, actor, getProjectIssue, { project, issueIid })
    const note = noteId && (await perform(core, actor, issueNotes.get, { project, issueIid, noteId }))
    return threadContent(notification, { item: issue, note: note || undefined, sign: '#', folder: 'issues' })
  },

  async merge_request(core, actor, notification) {
    const { projectId: project, itemIid: mergeRequestIid, noteId } = notification
    const mergeRequest = await perform(core, actor, getProjectMergeRequest, { project, mergeRequestIid })
    const note = noteId && (await perform(core, actor, mergeRequestNotes.get, { project, mergeRequestIid, noteId }))
    const item = mergeRequest
    return threadContent(notification, { item, note: note || undefined, sign: '!', folder: 'merge_requests' })
  },

  async release(core, actor, { projectId: project, itemId }, context) {
    const found = await findReleaseById(context, itemId)
    if (found === undefined) throw notFound()
    const release = await perform(core, actor, getRelease, { project, tagName: found.tag })
    const page = `/-/releases/${encodeURIComponent(release.tag)}`
    return { name: nameOfRelease(release), text: release.description ?? '', page }
  },

  async pipeline(core, actor, { projectId: project, itemId }, context) {
    const found = await findPipelineByKey(context, itemId)
    if (found === undefined) throw notFound()
    const { id, ref, sha } = await perform(core, actor, getPipeline, { project, pipelineId: found.id })
    const of = [ref, sha?.slice(0, 8)].filter((part) => part !== undefined).join(', ')
    return { name: `Pipeline #${id}${of === '' ? '' : ` (${of})`}`, text: '', page: `/-/pipelines/${id}` }
  },

  async project(core, actor, { projectId: project }) {
    const { fullPath } = await perform(core, actor, locateProject, { project })
    return { name: fullPath, text: '', page: '' }
  },
}

interface Thread {
  readonly item: { readonly title: string; readonly description: string | undefined }
  /** The new comment. */
  readonly note: { readonly body: string } | undefined
  /** The sign before the iid in references. */
  readonly sign: '#' | '!'
  readonly folder: 'issues' | 'merge_requests'
}

function threadContent({ event, itemIid, noteId }: Notification, { item, note, sign, folder }: Thread): Content {
  return {
    name: `${item.title} (${sign}${itemIid})`,
    text: note?.body ?? (isNew(event) ? (item.description ?? '') : ''),
    page: `/-/${folder}/${itemIid}${noteId === undefined ? '' : `#note_${noteId}`}`,
  }
}

/** Paths have only letters, digits and `_-./`. */
const listIdOf = ({ id, fullPath }: Project): string => `${fullPath} <${id}.${fullPath.replaceAll('/', '.')}>`
