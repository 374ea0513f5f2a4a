import type { Counted } from './connection-field.ts'

/**
 * Connections that tell how long their list is.
 *
 * @see spec/graphql-contract.md 5
 */
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
