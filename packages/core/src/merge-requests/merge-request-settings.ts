import { z } from 'zod'
import { issuableTitle, MOST_PEOPLE } from '../issues/issuable.ts'
import { combined, listMode } from '../issues/issuable-changes.ts'
import type { ReadContext } from '../kit/context.ts'
import { invalid } from '../kit/domain-error.ts'
import { command } from '../kit/operation.ts'
import { namespaceRef } from '../kit/parameter-schemas.ts'
import { getProject } from '../projects/project-store.ts'
import { findUsersByUsername } from '../users/user-store.ts'
import { titleAsDraft } from './merge-request.ts'
import { changeMergeRequest, getOneToUpdate } from './merge-request-changes.ts'

const oneMergeRequest = { project: namespaceRef, mergeRequestIid: z.int() }
const subject = (context: ReadContext, { project }: { readonly project: z.output<typeof namespaceRef> }) =>
  getProject(context, project)
const MOST_LABELS = 100

/** Assignees or reviewers, by their names; there is nobody of a name that is not known. */
export const setMergeRequestPeople = command(
  {
    name: 'setMergeRequestPeople',
    input: z.object({
      ...oneMergeRequest,
      part: z.enum(['assignees', 'reviewers']),
      usernames: z.array(z.string().max(255)).max(MOST_PEOPLE),
      mode: listMode,
    }),
    permission: 'read_merge_request',
    subject,
  },
  async (tx, input) => {
    const before = await getOneToUpdate(tx, input)
    const given = (await findUsersByUsername(tx, input.usernames)).map(({ id }) => id)
    const stored = before[input.part].map(({ id }) => id)
    const ids = combined(stored, given, input.mode)
    if (ids.length > MOST_PEOPLE) throw invalid({ [input.part]: [`are too many (maximum is ${MOST_PEOPLE})`] })
    return changeMergeRequest(tx, before, input.part === 'assignees' ? { assigneeIds: ids } : { reviewerIds: ids })
  },
)

/** By their ids; of the labels that things of the project may carry. */
export const setMergeRequestLabels = command(
  {
    name: 'setMergeRequestLabels',
    input: z.object({ ...oneMergeRequest, labelIds: z.array(z.int()).max(MOST_LABELS), mode: listMode }),
    permission: 'read_merge_request',
    subject,
  },
  async (tx, input) => {
    const before = await getOneToUpdate(tx, input)
    const by = { append: 'addLabelIds', remove: 'removeLabelIds', replace: 'labelIds' } as const
    return changeMergeRequest(tx, before, { [by[input.mode]]: input.labelIds })
  },
)

/** By its title, which is all that makes it one. */
export const setMergeRequestDraft = command(
  {
    name: 'setMergeRequestDraft',
    input: z.object({ ...oneMergeRequest, draft: z.boolean() }),
    permission: 'read_merge_request',
    subject,
  },
  async (tx, input) => {
    const before = await getOneToUpdate(tx, input)
    const title = issuableTitle.safeParse(titleAsDraft(before.title, input.draft))
    if (!title.success) throw invalid({ title: ['is too long, or would be empty'] })
    return changeMergeRequest(tx, before, { title: title.data })
  },
)
