import {
  count,
  date,
  type Fields,
  flag,
  id,
  isObject,
  requiredId,
  requiredSection,
  section,
  sections,
  text,
} from '../body/fields.ts'
import { url } from '../body/url.ts'
import type { JobDetails, MergeRequestDetails, PipelineDetails, PipelineVariable } from '../record/pipeline-details.ts'
import type { RunId } from '../record/run-id.ts'

/** Reads the fields of a pipeline hook that are not part of its record. */
export function readPipelineDetails(hook: Fields): PipelineDetails {
  const run = requiredSection(hook, 'object_attributes')
  const commit = section(hook, 'commit')
  const author = commit && section(commit, 'author')
  return {
    userName: readUserName(hook),
    authorName: author && text(author, 'name'),
    committedAtNs: commit && date(commit, 'timestamp'),
    beforeSha: text(run, 'before_sha'),
    startedAtNs: date(run, 'started_at'),
    url: url(run, 'url'),
    mergeRequest: readMergeRequest(hook),
    variables: readVariables(run),
    jobs: new Map(['builds', 'bridges'].flatMap((key) => readJobs(hook, key))),
  }
}

function readUserName(owner: Fields): string | undefined {
  const user = section(owner, 'user')
  return user && text(user, 'name')
}

function readMergeRequest(hook: Fields): MergeRequestDetails | undefined {
  const request = section(hook, 'merge_request')
  if (request === undefined) return undefined
  return {
    id: id(request, 'id'),
    iid: id(request, 'iid'),
    title: text(request, 'title'),
    sourceBranch: text(request, 'source_branch'),
    sourceProjectId: id(request, 'source_project_id'),
    targetBranch: text(request, 'target_branch'),
    targetProjectId: id(request, 'target_project_id'),
    state: text(request, 'state'),
    mergeStatus: text(request, 'merge_status'),
    detailedMergeStatus: text(request, 'detailed_merge_status'),
    draft: flag(request, 'draft'),
    workInProgress: flag(request, 'work_in_progress'),
    url: url(request, 'url'),
  }
}

/** Reads the variables unchanged. Items of other types are left out. */
function readVariables({ values: { variables } }: Fields): readonly PipelineVariable[] {
  if (!Array.isArray(variables)) return []
  return variables.filter(isObject).flatMap(({ key, value }) => {
    return typeof key === 'string' && typeof value === 'string' ? [{ key, value }] : []
  })
}

const readJobs = (hook: Fields, key: string): [RunId, JobDetails][] =>
  (sections(hook, key) ?? []).map((job) => [
    requiredId(job, 'id'),
    { userName: readUserName(job), retriesCount: count(job, 'retries_count') },
  ])
