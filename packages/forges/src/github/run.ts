import type { RunFields } from '../actions/bodies.ts'
import { readAttempt } from '../actions/jobs.ts'
import { readPullRequest } from '../actions/merge-request.ts'
import { readRepository, readUser } from '../actions/owners.ts'
import { readOutcome } from '../actions/status-words.ts'
import { dateAfterEpoch, type Fields, id, requiredId, section, text } from '../body/fields.ts'
import { url } from '../body/url.ts'
import { absentRunFields } from '../record/absent-fields.ts'
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
  const runId = requiredId(run, 'id')
  const { status, word, failureReason } = readOutcome(run)
  const attempt = readAttempt(run)
  const event = text(run, 'event')
  const workflow = section(owner, 'workflow')
  const webUrl = url(run, 'html_url')
  const createdAtNs = dateAfterEpoch(run, 'created_at')
  const updatedAtNs = dateAfterEpoch(run, 'updated_at')
  return {
    ...absentRunFields,
    forge: 'github',
    id: runId,
    attempt,
    previousAttempt: attempt === undefined || attempt === 1 ? undefined : { runId, attempt: attempt - 1 },
    iid: id(run, 'run_number'),
    name: text(run, 'name') ?? (workflow && text(workflow, 'name')),
    status,
    detailedStatus: word,
    ref: text(run, 'head_branch'),
    tag: event === undefined ? undefined : findEntry(tagByEvent, event),
    sha: text(run, 'head_sha'),
    source: event,
    createdAtNs,
    startedAtNs: dateAfterEpoch(run, 'run_started_at') ?? (attempt === 1 ? createdAtNs : undefined),
    updatedAtNs,
    // A run has no end of its own: it ends with its last job. With an unknown conclusion, it ended when it changed last.
    finishedAtNs: run.values.status === 'completed' && !isFinished(status) ? updatedAtNs : undefined,
    url: webUrl,
    failureReason,
    mergeRequest: readPullRequest(run, event),
    user: readUser(run, ['triggering_actor', 'actor']),
    commit: readHeadCommit(run),
    project: readRepository(section(run, 'repository') ?? section(owner, 'repository'), webUrl),
    bridgesListed: false,
  }
}

/** Reads the commit. Its author and committer are not read, because they have e-mail addresses. */
function readHeadCommit(run: Fields): RunFields['commit'] {
  const commit = section(run, 'head_commit')
  if (commit === undefined) return undefined
  const record = { id: text(commit, 'id'), title: undefined, message: text(commit, 'message') }
  return record.id === undefined && record.message === undefined ? undefined : record
}
