import {
  DomainError,
  findPipelineByKey,
  findReleaseById,
  findUsersByUsername,
  getProject,
  type Notification,
  type Notified,
  type NotifiedKind,
  type ReadContext,
  readIssueFacts,
  readMergeRequestFacts,
  readNoteFacts,
} from '@penstock/core'

/** Returns what a notification is about; `undefined` if it has been removed in between. */
export async function readNotified(context: ReadContext, notification: Notification): Promise<Notified | undefined> {
  try {
    const project = await getProject(context, notification.projectId)
    const found = await readers[notification.kind](context, notification)
    return found && { project, ...found }
  } catch (error) {
    if (error instanceof DomainError && error.failure.code === 'not_found') return undefined
    throw error
  }
}

type Found = Omit<Notified, 'project'>

const readers: Readonly<
  Record<NotifiedKind, (context: ReadContext, notification: Notification) => Promise<Found | undefined>>
> = {
  issue: readItem,
  merge_request: readItem,
  release: readRelease,
  pipeline: readPipeline,
  project: async () => ({ participantIds: [], text: '' }),
}

async function readRelease(context: ReadContext, { itemId }: Notification): Promise<Found | undefined> {
  const release = await findReleaseById(context, itemId)
  return release && { participantIds: [], text: release.description ?? '' }
}

/** Reads a pipeline, which ran on another forge: the user who started it is the one here with the same name. */
async function readPipeline(context: ReadContext, { itemId }: Notification): Promise<Found | undefined> {
  const pipeline = await findPipelineByKey(context, itemId)
  if (pipeline === undefined) return undefined
  const username = pipeline.user?.username
  const users = username === undefined ? [] : await findUsersByUsername(context, [username])
  return { participantIds: users.map(({ id }) => id), text: '' }
}

async function readItem(
  context: ReadContext,
  { kind, projectId, itemId, itemIid, noteId, event }: Notification,
): Promise<Found> {
  const item =
    kind === 'issue'
      ? { ...(await readIssueFacts(context, itemId)), reviewers: [] }
      : await readMergeRequestFacts(context, projectId, itemIid)
  const isNew = event === 'newIssue' || event === 'newMergeRequest'
  const text =
    noteId === undefined ? (isNew ? (item.description ?? '') : '') : (await readNoteFacts(context, noteId)).note.body
  const people = [...(item.author === undefined ? [] : [item.author]), ...item.assignees, ...item.reviewers]
  return { participantIds: people.map(({ id }) => id), text }
}
