import {
  type DomainEvent,
  type Notification,
  type NotificationSwitch,
  type NotifiedKind,
  type OperationContext,
  readNoteFacts,
  type Tx,
} from '@penstock/core'

type Context = OperationContext & Tx
type Draft = Omit<Notification, 'id' | 'atMs'>
type Source = (context: Context, event: DomainEvent) => Promise<readonly Omit<Draft, 'projectId' | 'actorId'>[]>

/** The events of the core that notifications are about, by type. */
export const notificationSources: Readonly<Record<string, Source>> = {
  'issue.created': itemSource('issue', 'newIssue'),
  'issue.closed': itemSource('issue', 'closeIssue'),
  'issue.reopened': itemSource('issue', 'reopenIssue'),
  'issue.updated': changeSource('issue', { assigneeIds: 'reassignIssue' }),
  'merge_request.created': itemSource('merge_request', 'newMergeRequest'),
  'merge_request.closed': itemSource('merge_request', 'closeMergeRequest'),
  'merge_request.reopened': itemSource('merge_request', 'reopenMergeRequest'),
  'merge_request.merged': itemSource('merge_request', 'mergeMergeRequest'),
  'merge_request.updated': changeSource('merge_request', {
    assigneeIds: 'reassignMergeRequest',
    reviewers: 'changeReviewerMergeRequest',
  }),
  'note.created': newNotes,
}

function itemSource(kind: NotifiedKind, event: NotificationSwitch): Source {
  return async (_context, { objectId, details }) => [
    { event, kind, itemId: objectId, itemIid: Number(details?.iid), noteId: undefined, formerUserIds: [] },
  ]
}

/** Returns a notification for each of these values that has changed: the ids of users, or objects with such ids. */
function changeSource(kind: NotifiedKind, events: Readonly<Record<string, NotificationSwitch>>): Source {
  return async (_context, { objectId, details, changes = {} }) =>
    Object.entries(events).flatMap(([name, event]) => {
      const change = changes[name]
      if (change === undefined) return []
      const former = idsIn(change.previous)
      // A reviewer's verdict changes the value too.
      if (former.join() === idsIn(change.current).join()) return []
      return [
        { event, kind, itemId: objectId, itemIid: Number(details?.iid), noteId: undefined, formerUserIds: former },
      ]
    })
}

const idsIn = (value: unknown): number[] =>
  ((value ?? []) as readonly (number | { readonly id: number })[]).map((each) =>
    typeof each === 'number' ? each : each.id,
  )

/** Notes on snippets and commits have no notifications. */
async function newNotes(context: Context, { objectId }: DomainEvent): ReturnType<Source> {
  const { note, on } = await readNoteFacts(context, objectId)
  const item = on.kind === 'issue' ? on.issue : on.kind === 'merge_request' ? on.mergeRequest : undefined
  if (note.isSystem || item === undefined) return []
  const kind = on.kind as NotifiedKind
  return [{ event: 'newNote', kind, itemId: item.id, itemIid: item.iid, noteId: note.id, formerUserIds: [] }]
}
