import {
  approveMergeRequest,
  createCommit,
  createMergeRequest,
  mergeMergeRequest,
  postCommitStatus,
  putPipelineRecord,
  requestReviewAgain,
  unapproveMergeRequest,
  updateMergeRequest,
  updateProject,
} from '@penstock/core'
import { recordInput } from '@penstock/testkit'
import { expect, test } from 'vitest'
import { HookWorld } from './webhooks.harness.ts'

const commit = (message: string, branch: string, startBranch?: string) => ({
  branch,
  startBranch,
  commitMessage: message,
  actions: [{ action: 'create', filePath: `${message}.md`, content: message }],
})

test('a merge request arrives when it is opened, changed, pushed to, and merged', async () => {
  const hooks = await HookWorld.open()
  await hooks.perform(createCommit, commit('first', 'main'))
  await hooks.perform(createCommit, commit('fix', 'fix', 'main'))
  await hooks.hook({ mergeRequestsEvents: true })
  const branches = { sourceBranch: 'fix', targetBranch: 'main' }
  const opened = await hooks.perform(createMergeRequest, { ...branches, title: 'Draft: Fix' })
  const one = { mergeRequestIid: opened.iid }
  await hooks.bodies(1)
  const { sha } = opened
  const record = { id: 31, status: 'running', ref: 'fix', sha }
  await hooks.perform(putPipelineRecord, recordInput({ pipelineId: 31, objectAttributes: record, builds: [] }))
  // A pipeline of another branch is not the head pipeline, although its id is higher.
  await hooks.perform(postCommitStatus, { sha, state: 'success', ref: 'other' })
  await hooks.perform(updateMergeRequest, { ...one, title: 'Fix', reviewerIds: [hooks.mira.id] })
  await hooks.bodies(2)
  await hooks.perform(createCommit, commit('more', 'fix'))
  await hooks.bodies(3)
  await hooks.perform(mergeMergeRequest, one)
  const [open, update, push, merge] = await hooks.bodies(4)
  const reviewer = { id: hooks.mira.id, username: 'mira' }
  expect(open).toMatchObject({
    object_attributes: { action: 'open', draft: true, last_commit: { title: 'fix' }, source: { name: 'tools' } },
  })
  expect(update).toMatchObject({
    object_attributes: { action: 'update', draft: false, head_pipeline_id: 31 },
    changes: {
      title: { previous: 'Draft: Fix', current: 'Fix' },
      draft: { current: false },
      reviewers: { previous: [], current: [reviewer] },
    },
    reviewers: [{ ...reviewer, state: 'unreviewed', re_requested: false, email: '[REDACTED]' }],
  })
  expect(push).toMatchObject({
    object_attributes: { action: 'update', oldrev: opened.sha, last_commit: { title: 'more' } },
    changes: {},
  })
  expect(merge).toMatchObject({
    object_attributes: { action: 'merge', state: 'merged', state_id: 3, merge_user_id: hooks.mira.id },
  })
})

interface ReviewedBody {
  readonly object_attributes: { readonly action: string }
  readonly reviewers: readonly { readonly state: string }[]
}

test('approvals arrive, those that are not sufficient with another action', async () => {
  const hooks = await HookWorld.open()
  await hooks.perform(createCommit, commit('first', 'main'))
  await hooks.perform(createCommit, commit('fix', 'fix', 'main'))
  const draft = { sourceBranch: 'fix', targetBranch: 'main', title: 'Fix', reviewerIds: [hooks.mira.id] }
  const one = { mergeRequestIid: (await hooks.perform(createMergeRequest, draft)).iid }
  await hooks.hook({ mergeRequestsEvents: true })
  await hooks.perform(approveMergeRequest, one)
  await hooks.perform(unapproveMergeRequest, one)
  await hooks.perform(updateProject, { approvalsBeforeMerge: 2 })
  await hooks.perform(approveMergeRequest, one)
  await hooks.perform(unapproveMergeRequest, one)
  // Deliveries may arrive in another order than their events.
  const bodies = ((await hooks.bodies(4)) as unknown as ReviewedBody[]).toSorted((one, other) =>
    one.object_attributes.action.localeCompare(other.object_attributes.action),
  )
  expect(bodies.map((body) => [body.object_attributes.action, body.reviewers[0]?.state])).toEqual([
    ['approval', 'approved'],
    ['approved', 'approved'],
    ['unapproval', 'unapproved'],
    ['unapproved', 'unapproved'],
  ])
  const [insufficient, approved] = bodies
  const reviewer = { id: hooks.mira.id, username: 'mira', re_requested: false }
  expect(approved).toMatchObject({
    object_kind: 'merge_request',
    user: { username: 'mira' },
    object_attributes: { detailed_merge_status: 'mergeable', system: false },
    changes: {
      reviewers: {
        previous: [{ ...reviewer, state: 'unreviewed' }],
        current: [{ ...reviewer, state: 'approved' }],
      },
    },
  })
  expect(insufficient).toMatchObject({ object_attributes: { detailed_merge_status: 'not_approved' } })
})

test('a review that is requested again is marked', async () => {
  const hooks = await HookWorld.open()
  await hooks.perform(createCommit, commit('first', 'main'))
  await hooks.perform(createCommit, commit('fix', 'fix', 'main'))
  const draft = { sourceBranch: 'fix', targetBranch: 'main', title: 'Fix', reviewerIds: [hooks.mira.id] }
  const one = { mergeRequestIid: (await hooks.perform(createMergeRequest, draft)).iid }
  await hooks.perform(approveMergeRequest, one)
  await hooks.hook({ mergeRequestsEvents: true })
  await hooks.perform(requestReviewAgain, { ...one, userId: hooks.mira.id })
  const [body] = await hooks.bodies(1)
  expect(body).toMatchObject({
    object_attributes: { action: 'update' },
    changes: {
      reviewers: {
        previous: [{ username: 'mira', state: 'approved', re_requested: false }],
        current: [{ username: 'mira', state: 'unreviewed', re_requested: true }],
      },
    },
    reviewers: [{ username: 'mira', state: 'unreviewed', re_requested: true }],
  })
})
