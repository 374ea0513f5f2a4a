import { z } from 'zod'
import { requirePermission } from '../../base/access/subject.ts'
import { DomainError, invalid, notFound } from '../../base/kit/domain-error.ts'
import {
  type KeysetPage,
  keysetInput,
  type Page,
  type PageRequest,
  pageInput,
  requireReachableOffset,
} from '../../base/kit/page.ts'
import { clearable, namespaceRef } from '../../base/kit/parameter-schemas.ts'
import { acrossParameters, problem } from '../../base/kit/parse-input.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project } from '../../base/model/project.ts'
import type { OperationContext } from '../../base/operations/context.ts'
import { command, query, steps, unscopedQuery } from '../../base/operations/operation.ts'
import { recordChange } from '../../base/operations/record-change.ts'
import { rateOf } from '../../base/settings/rate-of.ts'
import { captchaInput, requireNoSpam } from '../../base/spam/spam-check.ts'
import { getGroup } from '../../identity/groups/group-store.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import { findUsersByUsername } from '../../identity/users/user-store.ts'
import { issuableFields, issuableTitle, MAX_USERS, scopeOf } from './issuable.ts'
import { applyListMode, listMode, milestoneIdAfter, setMetadata } from './issuable-changes.ts'
import { withLabelDetails } from './issuable-label-store.ts'
import {
  type DescribedIssue,
  type IssueFilter,
  issueFields,
  issueFilterOf,
  type ListedIssue,
  ownerFields,
  restIssueFilterInput,
  type ShownIssue,
} from './issue.ts'
import {
  canAdminister,
  changeIssue,
  changes,
  draftAfter,
  getIssue,
  getIssueToUpdate,
  inProject,
  issueEvents,
  labelIds,
  oneIssue,
  shownIssue,
  subject,
} from './issue-changes.ts'
import { keysetPageOfIssues, pageOfIssues } from './issue-list-store.ts'
import { deleteIssue, findDescribedIssueById, insertIssue, isIssueIidTaken, issueTables } from './issue-store.ts'

/** Issues of archived projects are left out by default. */
const nonArchived = z.boolean().default(true)

export const listIssues = unscopedQuery(
  { name: 'listIssues', input: z.object({ ...restIssueFilterInput, nonArchived, ...pageInput }) },
  (context, { scope = 'created_by_me', ...input }) =>
    pageOfListedIssues(context, { ...issueFilterOf(input), ...scopeOf(scope, context.actor) }, input),
)

export const listGroupIssues = query(
  {
    name: 'listGroupIssues',
    caller: 'anyone',
    input: z.object({ group: namespaceRef, ...restIssueFilterInput, nonArchived, ...pageInput }),
    permission: 'read_group',
    subject: (context, { group }) => getGroup(context, group),
  },
  (context, { scope, ...input }) => {
    const within = { group: context.subject, withSubgroups: true }
    const filter = { ...issueFilterOf(input), ...scopeOf(scope, context.actor), within }
    return pageOfListedIssues(context, filter, input)
  },
)

export const listProjectIssues = query(
  {
    name: 'listProjectIssues',
    caller: 'anyone',
    input: z.object({ ...inProject, ...restIssueFilterInput, ...pageInput, ...keysetInput }),
    permission: 'read_issue',
    subject,
  },
  async (context, { scope, ...input }): Promise<Page<ListedIssue> | KeysetPage<ListedIssue>> => {
    const { actor } = context
    const within = { projectId: context.subject.id, standing: context.standing }
    const filter = { ...issueFilterOf(input), ...scopeOf(scope, actor), within }
    if (input.pagination === 'keyset') {
      const page = await keysetPageOfIssues(context, actor, filter, input)
      return { ...page, items: await withLabelDetails(context, issueTables, page.items, input) }
    }
    requireReachableOffset(input, 'Issue')
    return pageOfListedIssues(context, filter, input)
  },
)

export const getProjectIssue = query(
  { name: 'getProjectIssue', caller: 'anyone', input: z.object(oneIssue), permission: 'read_issue', subject },
  async (context, { issueIid }) =>
    shownIssue(context, await getIssue(context, context.actor, context.subject, issueIid)),
)

async function pageOfListedIssues(
  context: ReadContext & OperationContext,
  filter: IssueFilter,
  input: PageRequest & { readonly withLabelsDetails: boolean },
): Promise<Page<ListedIssue>> {
  const page = await pageOfIssues(context, context.actor, filter, input)
  return { ...page, items: await withLabelDetails(context, issueTables, page.items, input) }
}

/** Returns an issue of any project by its id. */
export const getIssueById = unscopedQuery(
  { name: 'getIssueById', caller: 'administrator', input: z.object({ id: z.int() }) },
  async (context, { id }) => {
    const issue = await findDescribedIssueById(context, context.actor, id)
    if (issue === undefined) throw notFound('Issue')
    return shownIssue(context, issue)
  },
)

const labelsByEitherWay = { names: ['labels', 'labelIds'] }

/** Creates an issue. Metadata (labels, assignees, dates) is ignored if the actor may only create issues. */
export const createIssue = steps(
  {
    name: 'createIssue',
    limits: [{ name: 'issues_create', per: ['user'], periodSeconds: 60, count: rateOf('issues_create_limit') }],
    input: z
      .object({
        ...inProject,
        title: issuableTitle,
        ...issuableFields,
        ...issueFields,
        labelIds,
        discussionLocked: clearable(z.boolean()),
        ...ownerFields,
        captcha: captchaInput,
      })
      .superRefine(({ labels, labelIds }, context) => {
        if (labels !== undefined && labelIds !== undefined) {
          context.addIssue(problem('mutually_exclusive', labelsByEitherWay))
        }
      }, acrossParameters),
    permission: 'create_issue',
    subject,
  },
  async (context, input): Promise<ShownIssue> => {
    const description = input.description ?? undefined
    await requireNoSpam(context, toSpamSubject(context.subject, { title: input.title, description }), input.captcha)
    return context.write(async (tx) => {
      // The spam check may take a while, in which the project or the actor's permission may have been removed.
      const project = await getProject(tx, context.subject.id)
      await requirePermission(tx, project, 'create_issue')
      const { iid: givenIid, createdAt: createdAtMs } = input
      if (givenIid !== undefined || createdAtMs !== undefined) {
        await requirePermission(tx, project, 'set_issue_numbers')
      }
      if (givenIid !== undefined && (await isIssueIidTaken(tx, project.id, givenIid))) {
        throw new DomainError({ code: 'conflict', reason: 'Duplicated issue' })
      }
      const metadata: Partial<typeof input> = (await canAdminister(tx, project)) ? input : {}
      const draft = {
        title: input.title,
        description,
        type: input.issueType ?? 'issue',
        severity: 'unknown' as const,
        isConfidential: input.confidential ?? false,
        dueDate: metadata.dueDate ?? undefined,
        weight: metadata.weight ?? undefined,
        isDiscussionLocked: metadata.discussionLocked ?? undefined,
        milestoneId: await milestoneIdAfter(tx, project, metadata.milestoneId),
      }
      const { id, iid } = await insertIssue(tx, project, tx.actor!.id, draft, { iid: givenIid, createdAtMs })
      await setMetadata(tx, issueTables, project, id, metadata)
      const issue = await getIssue(tx, tx.actor, project, iid)
      await recordChange(tx, issueEvents, 'created', { after: issue, projectId: project.id })
      return shownIssue(tx, issue)
    })
  },
)

const changeNames = Object.keys(changes) as (keyof typeof changes)[]

/** The author may change title and description, and close and reopen the issue; metadata needs `update_issue`. */
export const updateIssue = steps(
  {
    name: 'updateIssue',
    input: z.object({ ...oneIssue, ...changes, captcha: captchaInput }).superRefine((input, context) => {
      if (changeNames.every((name) => input[name] === undefined)) {
        context.addIssue(problem('at_least_one', { names: changeNames }))
      }
      if (input.labelIds !== undefined && (input.addLabelIds ?? input.removeLabelIds) !== undefined) {
        context.addIssue(problem('mutually_exclusive', { names: ['labelIds', 'addLabelIds', 'removeLabelIds'] }))
      }
    }, acrossParameters),
    permission: 'read_issue',
    subject,
  },
  async (context, input): Promise<ShownIssue> => {
    const { subject: project } = context
    const { administers, before } = await getIssueToUpdate(context, project, input)
    const { title, description } = draftAfter(before, input, administers)
    if (title !== before.title || description !== before.description) {
      await requireNoSpam(context, toSpamSubject(project, { title, description }), input.captcha)
    }
    return context.write(async (tx) => {
      // Loads both again, because the spam check may take a while.
      const now = await getProject(tx, project.id)
      return shownIssue(tx, await changeIssue(tx, now, await getIssueToUpdate(tx, now, input), input))
    })
  },
)

/** Assigns users by username. Unknown usernames are ignored. */
export const setIssueAssignees = command(
  {
    name: 'setIssueAssignees',
    input: z.object({ ...oneIssue, usernames: z.array(z.string().max(255)).max(MAX_USERS), mode: listMode }),
    permission: 'read_issue',
    subject,
  },
  async (tx, input): Promise<DescribedIssue> => {
    const target = await getIssueToUpdate(tx, tx.subject, input)
    const given = await findUsersByUsername(tx, input.usernames)
    const stored = target.before.assignees.map(({ id }) => id)
    const assigneeIds = applyListMode(
      stored,
      given.map(({ id }) => id),
      input.mode,
    )
    if (assigneeIds.length > MAX_USERS) {
      throw invalid({ assignees: [`are too many (maximum is ${MAX_USERS})`] })
    }
    return changeIssue(tx, tx.subject, target, { assigneeIds })
  },
)

export const removeIssue = command(
  { name: 'removeIssue', input: z.object(oneIssue), permission: 'read_issue', subject, isConditional: true },
  async (tx, { issueIid }) => {
    const issue = await getIssue(tx, tx.actor, tx.subject, issueIid)
    await requirePermission(tx, tx.subject, 'remove_issue')
    tx.requireUnmodified(issue.updatedAtMs)
    await deleteIssue(tx, issue.id)
    await recordChange(tx, issueEvents, 'removed', { before: issue, projectId: tx.subject.id })
  },
)

const toSpamSubject = (
  { visibility }: Project,
  { title, description }: Pick<DescribedIssue, 'title' | 'description'>,
) => ({
  kind: 'issue' as const,
  title,
  description,
  isPublic: visibility === 'public',
})
