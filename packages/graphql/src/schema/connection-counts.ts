import type { Counted } from './connections.ts'

/** The connections that have a `count`, by node type, if their area does not declare it with `connections.count`. */
export const connectionCounts: Readonly<Record<string, Counted>> = {
  UserCore: 'exact',
  Group: 'exact',
  Project: 'exact',
  Pipeline: 'exact',
  CiJob: 'limited',
  CiJobInterface: 'limited',
  MergeRequest: 'exact',
  MergeRequestAssignee: 'exact',
  MergeRequestReviewer: 'exact',
  MergeRequestParticipant: 'exact',
  Issue: 'exact',
}
