import { addContextCommits, createMergeRequest } from '@penstock/core'
import { withBranch } from '../http-matrix-repository-things.ts'
import type { MatrixRow } from '../http-matrix-row.ts'
import { basicUserMembers, commitMembers, listOf, type Shape } from '../http-matrix-shapes.ts'
import type { MatrixArea, ThingContext, Values } from '../matrix-area.ts'

const added: Shape = { exactly: { ...commitMembers, parent_ids: { listOf: 'text' }, extended_trailers: 'map' } }
const nothing: Shape = { is: null }
const listed: Shape = {
  exactly: {
    ...commitMembers,
    parent_ids: nothing,
    extended_trailers: nothing,
    web_url: 'text',
    author: { exactly: { ...basicUserMembers, show_status: 'flag', path: 'text' }, nullable: true },
    author_avatar_service_url: nothing,
    author_gravatar_url: nothing,
    commit_url: 'text',
    commit_path: 'text',
    description_html: 'text',
    title_html: 'text',
    signature_html: nothing,
    prev_commit_id: nothing,
    next_commit_id: nothing,
    pipeline_status_path: nothing,
  },
}

const path = '/projects/:id/merge_requests/:merge_request_iid/context_commits'
const developers = { may: { project: 30 }, send: { commits: ['{sha}'] } } as const

const rows: readonly MatrixRow[] = [
  {
    call: `GET ${path}`,
    may: { project: 20 },
    visitors: 'anyone',
    needs: ['merge request with context'],
    answer: [200, listOf(listed)],
  },
  { call: `POST ${path}`, ...developers, needs: ['merge request without context'], answer: [201, listOf(added)] },
  { call: `DELETE ${path}`, ...developers, needs: ['merge request with context'], answer: [204] },
]

async function withoutContext({ server, parent }: ThingContext): Promise<Values> {
  const { world, root } = server
  const { sha } = await withBranch(server, parent!, 'thistles')
  const draft = { title: 'Thistles', sourceBranch: 'thistles', targetBranch: 'main' }
  const { iid } = await world.perform(root, createMergeRequest, { project: parent!.id, ...draft })
  return { merge_request_iid: iid, sha: sha! }
}

export const area: MatrixArea = {
  access: {},
  rows,
  things: {
    'merge request without context': withoutContext,
    'merge request with context': async (context) => {
      const { world, root } = context.server
      const values = await withoutContext(context)
      const { merge_request_iid: mergeRequestIid, sha } = values
      const draft = { project: context.parent!.id, mergeRequestIid, commits: [sha] }
      await world.perform(root, addContextCommits, draft)
      return values
    },
  },
}
