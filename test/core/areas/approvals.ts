import { approveMergeRequest, createMergeRequest } from '@penstock/core'
import { withBranch } from '../http-matrix-repository-things.ts'
import type { Answer, MatrixRow } from '../http-matrix-row.ts'
import { basicUser, listOf, type Shape } from '../http-matrix-shapes.ts'
import type { MatrixArea } from '../matrix-area.ts'

const approvals: Shape = {
  has: {
    id: 'int',
    iid: 'int',
    project_id: 'int',
    title: 'text',
    state: 'text',
    merge_status: 'text',
    approved: 'flag',
    approvals_required: 'int',
    approvals_left: 'int',
    approved_by: { listOf: { exactly: { user: basicUser, approved_at: 'time' } } },
    user_has_approved: 'flag',
    user_can_approve: 'flag',
  },
}
const unauthorized: Answer = { status: 401, body: { message: '401 Unauthorized' } }
/** The callers who see a merge request, and are no bots of its project or group. */
const people = [
  'least role',
  'administrator',
  'impersonation',
  'OAuth',
  'sudo',
  'session, CSRF token',
  'one role below',
  'stranger, internal',
  'stranger, public',
  'bot of another project, public',
]
const one = '/projects/:id/merge_requests/:merge_request_iid'
const reads = {
  may: { project: 20 },
  visitors: 'anyone',
  needs: ['merge request'],
} as const satisfies Partial<MatrixRow>
const writes = { may: { project: 30 }, needs: ['merge request'] } as const satisfies Partial<MatrixRow>

export const area: MatrixArea = {
  access: {
    approve_merge_request: {
      rule: 'Developers and higher',
      project: '---nnnnyyyy -nnnnnnyyyy nnnnnnnyyyy',
    },
  },

  rows: [
    { call: `GET ${one}/approvals`, ...reads, answer: [200, approvals] },
    {
      call: `GET ${one}/approval_state`,
      ...reads,
      answer: [200, { exactly: { approval_rules_overwritten: 'flag', rules: listOf({ has: { name: 'text' } }) } }],
      mayBeEmpty: true,
    },
    { call: `POST ${one}/approve`, ...writes, answer: [201, approvals] },
    // There is no approval of the caller.
    { call: `POST ${one}/unapprove`, ...writes, answer: [404, { exactly: { message: 'text' } }] },
    {
      call: `PUT ${one}/reset_approvals`,
      may: { project: 30 },
      needs: ['approved merge request'],
      answer: [202, approvals],
      except: Object.fromEntries(people.map((name) => [name, unauthorized])),
    },
  ],

  things: {
    'approved merge request': async ({ server, parent }) => {
      const { world, root } = server
      const project = parent!.id
      await withBranch(server, parent!)
      const draft = { project, title: 'Seeds', sourceBranch: 'seeds', targetBranch: 'main' }
      const { iid } = await world.perform(root, createMergeRequest, draft)
      await world.perform(root, approveMergeRequest, { project, mergeRequestIid: iid })
      return { merge_request_iid: iid }
    },
  },
}
