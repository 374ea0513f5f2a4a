import { Gitlab } from '@gitbeaker/rest'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { RunningCore } from './running-core.ts'

let core: RunningCore
let root: InstanceType<typeof Gitlab>
let project: number
let head: string

beforeEach(async () => {
  core = await RunningCore.start()
  root = new Gitlab({ host: core.url, token: core.rootToken })
  project = (await root.Projects.create({ name: 'tools' })).id
  const commit = (branch: string, path: string, startBranch?: string) =>
    root.Commits.create(project, branch, path, [{ action: 'create', filePath: path, content: 'a\n' }], {
      ...(startBranch && { startBranch }),
    })
  await commit('main', 'README.md')
  head = (await commit('fix', 'a.txt', 'main')).id
  const { id } = await root.Users.showCurrentUser()
  await root.MergeRequests.create(project, 'fix', 'main', 'Fix', { reviewerIds: [id] })
})

afterEach(() => core.close())

const record = (status: string) =>
  fetch(`${core.url}/api/v4/projects/${project}/pipeline_records/31`, {
    method: 'PUT',
    headers: { 'private-token': core.rootToken, 'content-type': 'application/json' },
    body: JSON.stringify({ object_attributes: { id: 31, status, ref: 'fix', sha: head } }),
  })

test('a merge request is approved, found by its approval, and the approval is taken back', async () => {
  const { MergeRequestApprovals, MergeRequests } = root
  const approved = await MergeRequestApprovals.approve(project, 1, { sha: head })
  expect(approved).toMatchObject({ iid: 1, approved: true, approvals_required: 0, approvals_left: 0 })
  expect(approved.approved_by).toMatchObject([{ user: { username: 'root' } }])
  expect(await MergeRequestApprovals.showConfiguration(project, { mergerequestIId: 1 })).toEqual(approved)
  expect(await MergeRequestApprovals.showApprovalState(project, 1)).toEqual({
    approval_rules_overwritten: false,
    rules: [],
  })
  const iids = async (options: object) =>
    (await MergeRequests.all({ projectId: project, ...options })).map(({ iid }) => iid)
  expect(await iids({ approvedByIds: 'Any' })).toEqual([1])
  expect(await iids({ approvedByIds: 'None' })).toEqual([])
  expect(await MergeRequests.showReviewers(project, 1)).toMatchObject([
    { state: 'approved', created_at: expect.any(String) },
  ])
  await MergeRequestApprovals.unapprove(project, 1)
  expect((await MergeRequestApprovals.showConfiguration(project, { mergerequestIId: 1 })).approved_by).toEqual([])
})

test('a merge waits for the pipeline, is canceled, and is done when the pipeline succeeds', async () => {
  const { MergeRequests } = root
  await record('running')
  const waiting = await MergeRequests.merge(project, 1, { mergeWhenPipelineSucceeds: true })
  expect(waiting).toMatchObject({
    state: 'opened',
    merge_when_pipeline_succeeds: true,
    merge_user: { username: 'root' },
  })
  expect(await MergeRequests.cancelOnPipelineSuccess(project, 1)).toMatchObject({ merge_when_pipeline_succeeds: false })
  await MergeRequests.merge(project, 1, { mergeWhenPipelineSucceeds: true })
  await record('success')
  expect(await MergeRequests.show(project, 1)).toMatchObject({ state: 'merged', merge_user: { username: 'root' } })
})
