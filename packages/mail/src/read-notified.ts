import {
  DomainError,
  getProject,
  type Notification,
  type Notified,
  type ReadContext,
  readIssueFacts,
  readMergeRequestFacts,
  readNoteFacts,
} from '@penstock/core'

/** Returns what a notification is about; `undefined` if it has been removed meanwhile. */
export async function readNotified(
  context: ReadContext,
  { kind, projectId, itemId, itemIid, noteId, event }: Notification,
): Promise<Notified | undefined> {
  try {
    const project = await getProject(context, projectId)
    const item =
      kind === 'issue'
        ? { ...(await readIssueFacts(context, itemId)), reviewers: [] }
        : await readMergeRequestFacts(context, projectId, itemIid)
    const isNew = event === 'newIssue' || event === 'newMergeRequest'
    const text =
      noteId === undefined ? (isNew ? (item.description ?? '') : '') : (await readNoteFacts(context, noteId)).note.body
    const people = [...(item.author === undefined ? [] : [item.author]), ...item.assignees, ...item.reviewers]
    return { project, participantIds: people.map(({ id }) => id), text }
  } catch (error) {
    if (error instanceof DomainError && error.failure.code === 'not_found') return undefined
    throw error
  }
}
