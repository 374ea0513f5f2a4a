import {
  cherryPickCommit,
  createCommit,
  getCommitSequence,
  getCommitSignature,
  getCommitWithPipeline,
  listCommitDiffs,
  listCommitRefs,
  listCommitStatuses,
  listCommits,
  listMergeRequestsOfCommit,
  postCommitStatus,
  revertCommit,
} from '@penstock/core'
import { type Area, route } from '../routing/route.ts'
import { orderedList, pagedList } from './parameters/lists.ts'
import { CONTENT_LIMIT_BYTES, newCommit } from './parameters/repository.ts'
import { commitShape, pickedCommitShape, singleCommitShape } from './shapes/commit-shape.ts'
import { commitStatusShape } from './shapes/commit-status-shape.ts'
import { commitRefShape, commitSequenceShape, commitSignatureShape } from './shapes/history-shapes.ts'
import { mergeRequestShape } from './shapes/merge-request-shape.ts'
import { diffShape } from './shapes/repository-shapes.ts'

const names = { project: 'id' }
const endsInName = true
const list = '/projects/:id/repository/commits'
const one = `${list}/:sha`

export const commitsArea: Area = {
  tag: 'Commits',
  routes: [
    route({
      method: 'GET',
      path: list,
      operation: listCommits,
      parameters: orderedList,
      summary: 'List the commits of a project, newest first.',
      names,
      shape: commitShape,
      takesJobTokens: true,
    }),
    route({
      method: 'POST',
      path: list,
      operation: createCommit,
      parameters: newCommit,
      bodyLimitBytes: CONTENT_LIMIT_BYTES,
      summary: 'Create a commit with changes to several files.',
      names,
      shape: singleCommitShape,
    }),
    route({
      method: 'POST',
      path: `${one}/cherry_pick`,
      operation: cherryPickCommit,
      summary: 'Repeat the changes of a commit on a branch. With `dry_run`, only find out whether that is possible.',
      names,
      shape: pickedCommitShape,
      status: 200,
      isCreated: ({ commit }) => commit !== undefined,
    }),
    route({
      method: 'POST',
      path: `${one}/revert`,
      operation: revertCommit,
      summary: 'Undo the changes of a commit on a branch. With `dry_run`, only find out whether that is possible.',
      names,
      shape: pickedCommitShape,
      status: 200,
      isCreated: ({ commit }) => commit !== undefined,
    }),
    route({
      method: 'GET',
      path: `${one}/diff`,
      operation: listCommitDiffs,
      parameters: orderedList,
      summary: 'List the diffs of a commit.',
      names,
      shape: diffShape,
      takesJobTokens: true,
    }),
    route({
      method: 'GET',
      path: `${one}/statuses`,
      operation: listCommitStatuses,
      parameters: pagedList,
      summary: 'List the jobs of the recorded pipelines of a commit, and the statuses that were posted for it.',
      names,
      shape: commitStatusShape,
      takesJobTokens: true,
    }),
    route({
      method: 'POST',
      path: '/projects/:id/statuses/:sha',
      operation: postCommitStatus,
      summary: 'Post the status of a commit, which belongs to a pipeline of the commit.',
      names,
      shape: commitStatusShape,
    }),
    route({
      method: 'GET',
      path: `${one}/refs`,
      operation: listCommitRefs,
      parameters: orderedList,
      summary: 'List the branches and tags that contain a commit.',
      names,
      shape: commitRefShape,
      takesJobTokens: true,
    }),
    route({
      method: 'GET',
      path: `${one}/sequence`,
      operation: getCommitSequence,
      summary: 'Count the commits of the history that ends with a commit.',
      names,
      shape: commitSequenceShape,
      takesJobTokens: true,
    }),
    route({
      method: 'GET',
      path: `${one}/signature`,
      operation: getCommitSignature,
      summary: 'Get the signature of a signed commit. Signatures are not verified.',
      names,
      shape: commitSignatureShape,
      takesJobTokens: true,
    }),
    route({
      method: 'GET',
      path: `${one}/merge_requests`,
      operation: listMergeRequestsOfCommit,
      parameters: orderedList,
      summary: 'List the merge requests that have a commit, or that created it when they were merged.',
      names,
      shape: mergeRequestShape,
      takesJobTokens: true,
    }),
    route({
      method: 'GET',
      path: one,
      operation: getCommitWithPipeline,
      summary: 'Get a commit by its id, an abbreviated id, a branch or a tag.',
      names,
      shape: singleCommitShape,
      takesJobTokens: true,
      endsInName,
    }),
  ],
}
