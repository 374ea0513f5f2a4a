import { type Fields, flag, id, section, sections, text } from '../body/fields.ts'
import { absentMergeRequestFields } from '../record/absent-fields.ts'
import type { MergeRequestRecord } from '../record/pipeline-record.ts'

/** Matches the branch of a merge queue: its target branch and the number of the pull request. */
const queueBranch = /^gh-readonly-queue\/(.{1,255})\/pr-(\d{1,18})-[0-9a-f]{7,64}$/

/**
 * Returns the pull request that a run is about. A push is about none, even if its branch has one. Runs for forks name none, and a run
 * that names several is not known to be about one of them.
 */
export function readPullRequest(run: Fields, event: string | undefined): MergeRequestRecord | undefined {
  if (event === 'merge_group') return queuedPullRequest(text(run, 'head_branch'))
  if (!event?.startsWith('pull_request')) return undefined
  const listed = sections(run, 'pull_requests') ?? []
  const { head_sha } = run.values
  const [request, ...others] =
    listed.length < 2 ? listed : listed.filter((each) => section(each, 'head')?.values.sha === head_sha)
  return request === undefined || others.length > 0 ? undefined : toMergeRequest(request)
}

/** Reads a pull request. Those in a run have no title and no state. */
export function toMergeRequest(request: Fields): MergeRequestRecord | undefined {
  const base = section(request, 'base')
  const record = {
    id: id(request, 'id'),
    iid: id(request, 'number'),
    title: text(request, 'title'),
    state: toState(text(request, 'state'), flag(request, 'merged')),
    draft: flag(request, 'draft') ?? false,
    targetBranch: base && text(base, 'ref'),
  }
  return record.id === undefined && record.iid === undefined ? undefined : record
}

/** Returns the record's word for the state of a pull request. */
function toState(state: string | undefined, merged: boolean | undefined): string | undefined {
  if (merged) return 'merged'
  return state === 'open' ? 'opened' : state
}

function queuedPullRequest(branch: string | undefined): MergeRequestRecord | undefined {
  const [, targetBranch, number] = queueBranch.exec(branch ?? '') ?? []
  return number === undefined ? undefined : { ...absentMergeRequestFields, iid: BigInt(number), targetBranch }
}
