import type { RunFields } from '../actions/bodies.ts'
import { readPullRequest, toMergeRequest } from '../actions/merge-request.ts'
import { readGiteaRepository, readUser } from '../actions/owners.ts'
import { readSharedFields } from '../actions/run.ts'
import { dateAfterEpoch, type Fields, section, text } from '../body/fields.ts'
import { lastSegment } from '../body/url.ts'
import { absentMergeRequestFields } from '../record/absent-fields.ts'
import type { MergeRequestRecord } from '../record/pipeline-record.ts'

/** Reads a run, which has the same form in hooks and in REST. `owner` is the hook or the bundle that it is in. */
export function readRun(run: Fields, owner: Fields): RunFields {
  const shared = readSharedFields(run, owner)
  const { attempt, name, ref, source, createdAtNs } = shared
  const path = readPath(text(run, 'path'))
  return {
    ...shared,
    forge: 'gitea',
    attemptsUncounted: attempt === undefined ? true : undefined,
    project: readGiteaRepository(section(run, 'repository') ?? section(owner, 'repository'), shared.url),
    name: name ?? path.file,
    ref: ref ?? path.branch ?? path.tag ?? path.ref,
    tag: path.tag !== undefined ? true : path.branch === undefined ? undefined : false,
    // The first attempt begins with the run, which then waits for a runner.
    startedAtNs: (attempt === 1 ? createdAtNs : undefined) ?? dateAfterEpoch(run, 'started_at'),
    finishedAtNs: dateAfterEpoch(run, 'completed_at'),
    mergeRequest: readMergeRequest(run, owner, source, path.pullRequest),
    user: readUser(run, ['trigger_actor', 'triggering_actor', 'actor']),
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
