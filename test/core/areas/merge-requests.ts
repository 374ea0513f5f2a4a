import { createCommit, createMergeRequest } from '@penstock/core'
import { byAuthor, issuableRows } from '../http-matrix-issuables.ts'
import { withBranch } from '../http-matrix-repository-things.ts'
import type { Answer } from '../http-matrix-row.ts'
import { basicUser, listOf, mergeRequest } from '../http-matrix-shapes.ts'
import type { Maker, MatrixArea } from '../matrix-area.ts'

const createdMergeRequest: Maker = async ({ server, parent }) => {
  const { world, root } = server
  await withBranch(server, parent!)
  const draft = { project: parent!.id, title: 'Seeds', sourceBranch: 'seeds', targetBranch: 'main' }
  const { iid } = await world.perform(root, createMergeRequest, draft)
  return { merge_request_iid: iid }
}
const unauthorized: Answer = { status: 401, body: { message: '401 Unauthorized' } }
const mergeRequests = byAuthor('merge_requests', createdMergeRequest)

export const area: MatrixArea = {
  access: {
    read_merge_request: {
      rule: 'anonymous callers in public projects; Reporters and higher in private ones',
      project: '---nnyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
    },
    create_merge_request: {
      rule: 'Developers and higher',
      project: '---nnnnyyyy -nnnnnnyyyy nnnnnnnyyyy',
    },
    update_merge_request: {
      rule: 'Developers and higher',
      project: '---nnnnyyyy -nnnnnnyyyy nnnnnnnyyyy',
    },
    update_own_merge_request: {
      rule: 'authors and assignees who may read the merge request',
      project: '---nnyyyyyy -yyyyyyyyyy nyyyyyyyyyy',
    },
    remove_merge_request: {
      rule: 'Owners',
      project: '---nnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
    },
    subscribe_merge_request: {
      rule: 'everyone who may read merge requests and is signed in',
      project: '---nnyyyyyy -yyyyyyyyyy nyyyyyyyyyy',
    },
  },

  rows: [
    ...issuableRows({
      path: 'merge_requests',
      key: 'merge_request_iid',
      thing: 'merge request',
      shape: mergeRequest,
      reads: 20,
      changes: 30,
      reading: { job: true },
      inGroup: { mayBeEmpty: true },
    }),
    {
      call: 'POST /projects/:id/merge_requests',
      may: { project: 30 },
      answer: [201, mergeRequest],
      needs: ['branch'],
      send: { title: 'Seeds', source_branch: 'seeds', target_branch: 'main' },
    },
    {
      call: 'PUT /projects/:id/merge_requests/:merge_request_iid/merge',
      may: { project: 40 },
      answer: [200, mergeRequest],
      needs: ['merge request to merge'],
      // As on GitLab, those who see the merge request but may not merge it are answered like callers without a sign-in.
      except: {
        'one role below': unauthorized,
        'stranger, internal': unauthorized,
        'stranger, public': unauthorized,
        'bot of another project, public': unauthorized,
      },
    },
    {
      call: 'POST /projects/:id/merge_requests/:merge_request_iid/cancel_merge_when_pipeline_succeeds',
      may: { project: 40 },
      // It does not wait for a pipeline.
      answer: [406, { exactly: { message: 'text' } }],
      needs: ['merge request'],
      except: {
        'one role below': unauthorized,
        'stranger, internal': unauthorized,
        'stranger, public': unauthorized,
        'bot of another project, public': unauthorized,
      },
    },
    {
      call: 'GET /projects/:id/merge_requests/:merge_request_iid/reviewers',
      may: { project: 20 },
      visitors: 'anyone',
      answer: [200, listOf({ exactly: { user: basicUser, state: 'text', created_at: 'time?' } })],
      needs: ['merge request'],
      mayBeEmpty: true,
    },
  ],

  things: {
    'merge request': createdMergeRequest,
    'merge request to merge': async ({ server, parent }) => {
      const { world, root } = server
      const project = parent!.id
      const branch = server.word('merged')
      await withBranch(server, parent!, branch)
      const actions = [{ action: 'create', filePath: `${branch}.md`, content: 'Seeds' }]
      await world.perform(root, createCommit, { project, branch, commitMessage: 'Sow', actions })
      const draft = { project, title: 'Seeds', sourceBranch: branch, targetBranch: 'main' }
      return { merge_request_iid: (await world.perform(root, createMergeRequest, draft)).iid }
    },
    'own merge request': mergeRequests.own,
    'merge request of another': mergeRequests.ofAnother,
  },
}
