import type { RunFields } from '../actions/bodies.ts'
import { readPullRequest } from '../actions/merge-request.ts'
import { readUser } from '../actions/owners.ts'
import { readSharedFields } from '../actions/run.ts'
import { dateAfterEpoch, type Fields, section, text } from '../body/fields.ts'
import { findEntry } from '../record/find-entry.ts'
import { isFinished } from '../record/status.ts'

/** The events that run for a branch, and those that run for a tag. For the others, the branch of a run may be a tag. */
const tagByEvent: Readonly<Record<string, boolean>> = {
  merge_group: false,
  pull_request: false,
  pull_request_review: false,
  pull_request_target: false,
  schedule: false,
  release: true,
}

/** Reads a run, which has the same form in hooks and in REST. `owner` is the hook or the bundle that it is in. */
export function readRun(run: Fields, owner: Fields): RunFields {
  const shared = readSharedFields(run, owner)
  const { attempt, source, status, createdAtNs, updatedAtNs } = shared
  return {
    ...shared,
    forge: 'github',
    tag: source === undefined ? undefined : findEntry(tagByEvent, source),
    startedAtNs: dateAfterEpoch(run, 'run_started_at') ?? (attempt === 1 ? createdAtNs : undefined),
    // A run has no end of its own: it ends with its last job. With an unknown conclusion, it ended when it changed last.
    finishedAtNs: run.values.status === 'completed' && !isFinished(status) ? updatedAtNs : undefined,
    mergeRequest: readPullRequest(run, source),
    user: readUser(run, ['triggering_actor', 'actor']),
    commit: readHeadCommit(run),
  }
}

/** Reads the commit. Its author and committer are not read, because they have e-mail addresses. */
function readHeadCommit(run: Fields): RunFields['commit'] {
  const commit = section(run, 'head_commit')
  if (commit === undefined) return undefined
  const record = { id: text(commit, 'id'), title: undefined, message: text(commit, 'message') }
  return record.id === undefined && record.message === undefined ? undefined : record
}
