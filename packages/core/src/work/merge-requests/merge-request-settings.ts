import { z } from 'zod'
import { invalid } from '../../base/kit/domain-error.ts'
import { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import { command } from '../../base/operations/operation.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import { findUsersByUsername } from '../../identity/users/user-store.ts'
import { issuableTitle, MAX_LABELS, MAX_USERS } from '../issues/issuable.ts'
import { applyListMode, listMode } from '../issues/issuable-changes.ts'
import { titleAsDraft } from './merge-request.ts'
import { changeMergeRequest, getMergeRequestToUpdate } from './merge-request-changes.ts'

const oneMergeRequest = { project: namespaceRef, mergeRequestIid: z.int() }
const subject = (context: ReadContext, { project }: { readonly project: z.output<typeof namespaceRef> }) =>
  getProject(context, project)

/** Sets assignees or reviewers by username. Unknown usernames are ignored. */
export const setMergeRequestPeople = command(
  {
    name: 'setMergeRequestPeople',
    input: z.object({
      ...oneMergeRequest,
      part: z.enum(['assignees', 'reviewers']),
      usernames: z.array(z.string().max(255)).max(MAX_USERS),
      mode: listMode,
    }),
    permission: 'read_merge_request',
    subject,
  },
  async (tx, input) => {
    const before = await getMergeRequestToUpdate(tx, input)
    const given = (await findUsersByUsername(tx, input.usernames)).map(({ id }) => id)
    const stored = before[input.part].map(({ id }) => id)
    const ids = applyListMode(stored, given, input.mode)
    if (ids.length > MAX_USERS) throw invalid({ [input.part]: [`are too many (maximum is ${MAX_USERS})`] })
    return changeMergeRequest(tx, before, input.part === 'assignees' ? { assigneeIds: ids } : { reviewerIds: ids })
  },
)

/** Sets labels by id. Labels that are not available in the project are ignored. */
export const setMergeRequestLabels = command(
  {
    name: 'setMergeRequestLabels',
    input: z.object({ ...oneMergeRequest, labelIds: z.array(z.int()).max(MAX_LABELS), mode: listMode }),
    permission: 'read_merge_request',
    subject,
  },
  async (tx, input) => {
    const before = await getMergeRequestToUpdate(tx, input)
    const by = { append: 'addLabelIds', remove: 'removeLabelIds', replace: 'labelIds' } as const
    return changeMergeRequest(tx, before, { [by[input.mode]]: input.labelIds })
  },
)

/** Adds or removes the draft prefix of the title, which alone marks a draft. */
export const setMergeRequestDraft = command(
  {
    name: 'setMergeRequestDraft',
    input: z.object({ ...oneMergeRequest, draft: z.boolean() }),
    permission: 'read_merge_request',
    subject,
  },
  async (tx, input) => {
    const before = await getMergeRequestToUpdate(tx, input)
    const title = issuableTitle.safeParse(titleAsDraft(before.title, input.draft))
    if (!title.success) throw invalid({ title: ['is too long, or would be empty'] })
    return changeMergeRequest(tx, before, { title: title.data })
  },
)
