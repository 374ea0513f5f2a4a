import type { CommitRecord, UserRecord } from './pipeline-record.ts'
import type { RunId } from './run-id.ts'

/** Returns a user; `undefined` if nothing is known about them. */
export const toUser = (id: RunId | undefined, username: string | undefined): UserRecord | undefined =>
  id === undefined && username === undefined ? undefined : { id, username }

/** Returns a commit, with the first line of its message as title; `undefined` if nothing is known about it. */
export const toCommit = (id: string | undefined, message: string | undefined): CommitRecord | undefined =>
  id === undefined && message === undefined ? undefined : { id, title: message?.split('\n', 1)[0], message }
