import {
  type DescribedVersion,
  getMergeRequestChanges,
  getMergeRequestVersion,
  listMergeRequestCommits,
  listMergeRequestDiffs,
  listMergeRequestPipelines,
  listMergeRequestVersions,
  type MergeRequestChanges,
  type VersionWithDiffs,
} from '@penstock/core'
import { z } from 'zod'
import { isoTime } from '../routing/iso-time.ts'
import { type Area, route, type Shape } from '../routing/route.ts'
import { orderedList } from './parameters/lists.ts'
import { mergeRequestChanges } from './parameters/repository.ts'
import { commitJson, commitSchema, commitShape } from './shapes/commit-shape.ts'
import { shownMergeRequestShape } from './shapes/merge-request-shape.ts'
import { pipelineSummaryShape } from './shapes/pipeline-shape.ts'
import { diffShape } from './shapes/repository-shapes.ts'

const changesShape: Shape<MergeRequestChanges> = {
  schema: shownMergeRequestShape.schema
    .extend({ changes: z.array(diffShape.schema), overflow: z.boolean() })
    .meta({ id: 'MergeRequestChanges' }),
  of: ({ mergeRequest, diffs, isIncomplete }, context) => ({
    ...shownMergeRequestShape.of(mergeRequest, context),
    changes: diffs.map((diff) => diffShape.of(diff, context)),
    overflow: isIncomplete,
  }),
}

const versionFields = {
  id: z.int(),
  head_commit_sha: z.string(),
  base_commit_sha: z.string().nullable(),
  start_commit_sha: z.string().nullable(),
  created_at: z.string(),
  merge_request_id: z.int(),
  state: z.string(),
  real_size: z.string(),
  patch_id_sha: z.string().nullable(),
}

const versionJson = (version: DescribedVersion) => ({
  id: version.id,
  head_commit_sha: version.headSha,
  base_commit_sha: version.baseSha ?? null,
  start_commit_sha: version.startSha ?? null,
  created_at: isoTime(version.createdAtMs),
  merge_request_id: version.mergeRequestId,
  state: version.fileCount === 0 ? 'empty' : 'collected',
  real_size: String(version.fileCount),
  patch_id_sha: null,
})

const versionShape: Shape<DescribedVersion> = {
  schema: z.object(versionFields).meta({ id: 'MergeRequestVersion' }),
  of: versionJson,
}

const versionWithDiffsShape: Shape<VersionWithDiffs> = {
  schema: z
    .object({ ...versionFields, commits: z.array(commitSchema), diffs: z.array(diffShape.schema) })
    .meta({ id: 'MergeRequestVersionDetails' }),
  of: (version, context) => ({
    ...versionJson(version),
    commits: version.commits.map((commit) => commitJson(commit, context)),
    diffs: version.diffs.map((diff) => diffShape.of(diff, context)),
  }),
}

const names = { project: 'id' }
const mergeRequest = '/projects/:id/merge_requests/:merge_request_iid'

export const mergeRequestDiffsArea: Area = {
  tag: 'Merge requests',
  routes: [
    route({
      method: 'GET',
      path: `${mergeRequest}/commits`,
      operation: listMergeRequestCommits,
      parameters: orderedList,
      summary: 'List the commits of a merge request, newest first.',
      names,
      shape: commitShape,
    }),
    route({
      method: 'GET',
      path: `${mergeRequest}/pipelines`,
      operation: listMergeRequestPipelines,
      parameters: orderedList,
      summary: 'List the pipelines for a merge request and those of its source branch, newest first.',
      names,
      shape: pipelineSummaryShape,
    }),
    route({
      method: 'GET',
      path: `${mergeRequest}/diffs`,
      operation: listMergeRequestDiffs,
      parameters: orderedList,
      summary: 'List the diffs of a merge request.',
      names,
      shape: diffShape,
    }),
    route({
      method: 'GET',
      path: `${mergeRequest}/changes`,
      operation: getMergeRequestChanges,
      parameters: mergeRequestChanges,
      summary: 'Get a merge request with its diffs.',
      names,
      shape: changesShape,
    }),
    route({
      method: 'GET',
      path: `${mergeRequest}/versions`,
      operation: listMergeRequestVersions,
      parameters: orderedList,
      summary: 'List the states of the source branch since the merge request was created, newest first.',
      names,
      shape: versionShape,
    }),
    route({
      method: 'GET',
      path: `${mergeRequest}/versions/:version_id`,
      operation: getMergeRequestVersion,
      summary: 'Get a state of the source branch with its commits and diffs.',
      names,
      shape: versionWithDiffsShape,
    }),
  ],
}
