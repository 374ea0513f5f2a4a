import type { RunFields } from '../actions/bodies.ts'
import { readAttempt } from '../actions/jobs.ts'
import { readPullRequest, toMergeRequest } from '../actions/merge-request.ts'
import { readRepository, readUser } from '../actions/owners.ts'
import { readOutcome } from '../actions/status-words.ts'
import { dateAfterEpoch, type Fields, id, requiredId, section, text } from '../body/fields.ts'
import { lastSegment, url } from '../body/url.ts'
import { absentMergeRequestFields, absentRunFields } from '../record/absent-fields.ts'
import type { MergeRequestRecord } from '../record/pipeline-record.ts'

/** Reads a run, which has the same form in hooks and in REST. `owner` is the hook or the bundle that it is in. */
export function readRun(run: Fields, owner: Fields): RunFields {
  const runId = requiredId(run, 'id')
  const { status, word, failureReason } = readOutcome(run)
  const attempt = readAttempt(run)
  const event = text(run, 'event')
  const workflow = section(owner, 'workflow')
  const webUrl = url(run, 'html_url')
  const createdAtNs = dateAfterEpoch(run, 'created_at')
  const path = readPath(text(run, 'path'))
  return {
    ...absentRunFields,
    forge: 'gitea',
    id: runId,
    attempt,
    previousAttempt: attempt === undefined || attempt === 1 ? undefined : { runId, attempt: attempt - 1 },
    iid: id(run, 'run_number'),
    name: text(run, 'name') ?? (workflow && text(workflow, 'name')) ?? path.file,
    status,
    detailedStatus: word,
    ref: text(run, 'head_branch') ?? path.branch ?? path.tag ?? path.ref,
    tag: path.tag !== undefined ? true : path.branch === undefined ? undefined : false,
    sha: text(run, 'head_sha'),
    source: event,
    createdAtNs,
    // The first attempt begins with the run, which then waits for a runner.
    startedAtNs: (attempt === 1 ? createdAtNs : undefined) ?? dateAfterEpoch(run, 'started_at'),
    updatedAtNs: dateAfterEpoch(run, 'updated_at'),
    finishedAtNs: dateAfterEpoch(run, 'completed_at'),
    url: webUrl,
    failureReason,
    mergeRequest: readMergeRequest(run, owner, event, path.pullRequest),
    user: readUser(run, ['trigger_actor', 'triggering_actor', 'actor']),
    project: readRepository(section(run, 'repository') ?? section(owner, 'repository'), webUrl),
    bridgesListed: false,
  }
}

interface WorkflowPath {
  readonly file?: string | undefined
  readonly ref?: string | undefined
  readonly branch?: string | undefined
  readonly tag?: string | undefined
  readonly pullRequest?: string | undefined
}

/** Reads the path of a workflow with the full name of its ref, such as `ci.yml@refs/heads/main`. */
function readPath(path: string | undefined): WorkflowPath {
  if (path === undefined) return {}
  const at = path.indexOf('@refs/')
  if (at < 0) return { file: lastSegment(path) }
  const ref = path.slice(at + 1)
  return {
    file: lastSegment(path.slice(0, at)),
    ref,
    branch: /^refs\/heads\/(.+)$/.exec(ref)?.[1],
    tag: /^refs\/tags\/(.+)$/.exec(ref)?.[1],
    pullRequest: /^refs\/pull\/(\d{1,18})\//.exec(ref)?.[1],
  }
}

/** Returns the pull request: beside the run in hooks, in the run since version 1.27, else its number in the ref. */
function readMergeRequest(
  run: Fields,
  owner: Fields,
  event: string | undefined,
  number: string | undefined,
): MergeRequestRecord | undefined {
  const beside = section(owner, 'pull_request')
  const named = (beside && toMergeRequest(beside)) ?? readPullRequest(run, event)
  if (named !== undefined || number === undefined || Number(number) === 0) return named
  return { ...absentMergeRequestFields, iid: BigInt(number) }
}
