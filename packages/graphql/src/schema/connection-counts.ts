import type { Counted } from './connections.ts'

/** The connections that have a `count`, by node type. */
export const connectionCounts: Readonly<Record<string, Counted>> = {
  UserCore: 'exact',
  Group: 'exact',
  Project: 'exact',
  Label: 'exact',
  Pipeline: 'exact',
  CiJob: 'limited',
  CiJobInterface: 'limited',
  MergeRequest: 'exact',
  MergeRequestAssignee: 'exact',
  MergeRequestReviewer: 'exact',
  MergeRequestParticipant: 'exact',
  Issue: 'exact',
}
