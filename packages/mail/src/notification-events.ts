import {
  type DomainEvent,
  findOpenMergeRequests,
  findPipelineByKey,
  finishedPipelineEvent,
  type Notification,
  type NotificationEvent,
  type OperationContext,
  readMergeRequestFacts,
  readNoteFacts,
  type SubscribableKind,
  type Tx,
} from '@penstock/core'

type Context = OperationContext & Tx
type Draft = Omit<Notification, 'id' | 'atMs' | 'projectId' | 'actorId'>
type Source = (context: Context, event: DomainEvent & { readonly projectId: number }) => Promise<readonly Draft[]>

/** The events of the core that notifications are about, by type. */
export const notificationSources: Readonly<Record<string, Source>> = {
  'issue.created': itemSource('issue', 'newIssue'),
  'issue.closed': itemSource('issue', 'closeIssue'),
  'issue.reopened': itemSource('issue', 'reopenIssue'),
  'issue.updated': changeSource('issue', { assigneeIds: 'reassignIssue' }),
  'issue.due': itemSource('issue', 'issueDue'),
  'merge_request.created': itemSource('merge_request', 'newMergeRequest'),
  'merge_request.closed': itemSource('merge_request', 'closeMergeRequest'),
  'merge_request.reopened': itemSource('merge_request', 'reopenMergeRequest'),
  'merge_request.merged': itemSource('merge_request', 'mergeMergeRequest'),
  'merge_request.updated': changeSource('merge_request', {
    assigneeIds: 'reassignMergeRequest',
    reviewers: 'changeReviewerMergeRequest',
  }),
  'merge_request.approved': itemSource('merge_request', 'approveMergeRequest'),
  'merge_request.unapproved': itemSource('merge_request', 'unapproveMergeRequest'),
  'merge_request.auto_merge_enabled': itemSource('merge_request', 'mergeWhenPipelineSucceeds'),
  'repository.pushed': pushedMergeRequests,
  'note.created': newNotes,
  'release.created': async (_context, { objectId }) => [
    draft({ event: 'newRelease', kind: 'release', itemId: objectId }),
  ],
  'pipeline.created': finishedPipelines,
  'pipeline.updated': finishedPipelines,
  'project.transferred': async (_context, { objectId }) => [movedProject(objectId)],
  'project.updated': async (_context, { objectId, changes = {} }) =>
    changes.path === undefined ? [] : [movedProject(objectId)],
}

const draft = ({ event, kind, itemId, ...more }: Pick<Draft, 'event' | 'kind' | 'itemId'> & Partial<Draft>): Draft => ({
  ...{ event, kind, itemId, itemIid: 0, noteId: undefined, formerUserIds: [] },
  ...more,
})

const movedProject = (itemId: number) => draft({ event: 'movedProject', kind: 'project', itemId })

function itemSource(kind: SubscribableKind, event: NotificationEvent): Source {
  return async (_context, { objectId, details }) => [
    draft({ event, kind, itemId: objectId, itemIid: Number(details?.iid) }),
  ]
}

/** Returns a notification for each of these values that has changed: the ids of users, or objects with such ids. */
function changeSource(kind: SubscribableKind, events: Readonly<Record<string, NotificationEvent>>): Source {
  return async (_context, { objectId, details, changes = {} }) =>
    Object.entries(events).flatMap(([name, event]) => {
      const change = changes[name]
      if (change === undefined) return []
      const former = idsIn(change.previous)
      // A reviewer's verdict changes the value too.
      if (former.join() === idsIn(change.current).join()) return []
      return [draft({ event, kind, itemId: objectId, itemIid: Number(details?.iid), formerUserIds: former })]
    })
}

const idsIn = (value: unknown): number[] =>
  ((value ?? []) as readonly (number | { readonly id: number })[]).map((each) =>
    typeof each === 'number' ? each : each.id,
  )

/** Returns a notification for each open merge request that gets new commits by a push to its source branch. */
async function pushedMergeRequests(context: Context, { projectId, push }: Parameters<Source>[1]): ReturnType<Source> {
  const branch = /^refs\/heads\/(.*)$/s.exec(push?.ref ?? '')?.[1]
  if (branch === undefined || push?.before === undefined || push.after === undefined) return []
  const drafts: Draft[] = []
  for (const iid of await findOpenMergeRequests(context, projectId, branch)) {
    const { id } = await readMergeRequestFacts(context, projectId, iid)
    drafts.push(draft({ event: 'pushToMergeRequest', kind: 'merge_request', itemId: id, itemIid: iid }))
  }
  return drafts
}

async function finishedPipelines(
  context: Context,
  { objectId, changes = {}, written }: DomainEvent,
): ReturnType<Source> {
  if (changes.status === undefined) return []
  const pipeline = written?.pipeline ?? (await findPipelineByKey(context, objectId))
  const event = pipeline && (await finishedPipelineEvent(context, pipeline, changes.status.previous))
  return event === undefined ? [] : [draft({ event, kind: 'pipeline', itemId: objectId })]
}

/** Notes on snippets and commits have no notifications. */
async function newNotes(context: Context, { objectId }: DomainEvent): ReturnType<Source> {
  const { note, on } = await readNoteFacts(context, objectId)
  if (note.isSystem || (on.kind !== 'issue' && on.kind !== 'merge_request')) return []
  const { id, iid } = on.kind === 'issue' ? on.issue : on.mergeRequest
  return [draft({ event: 'newNote', kind: on.kind, itemId: id, itemIid: iid, noteId: note.id })]
}
