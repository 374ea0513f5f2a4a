import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { can } from '../access/can.ts'
import { requirePermission, standingOf } from '../access/subject.ts'
import { getGroup } from '../groups/group-store.ts'
import { forbidden, invalid, notFound } from '../kit/domain-error.ts'
import { type KeysetPage, keysetInput, type Page, pageInput, requireReachableOffset } from '../kit/page.ts'
import { clearable, namespaceRef } from '../kit/parameter-schemas.ts'
import { acrossParameters, problem } from '../kit/parse-input.ts'
import type { ReadContext } from '../kit/store-context.ts'
import type { Project } from '../model/project.ts'
import type { Actor } from '../model/user.ts'
import type { OperationContext, Tx } from '../operations/context.ts'
import { command, query, steps, unscopedQuery } from '../operations/operation.ts'
import { comparedMembers, type RecordedKind, recordChange } from '../operations/record-change.ts'
import { getProject } from '../projects/project-store.ts'
import { rateOf } from '../settings/rate-of.ts'
import { captchaInput, requireNoSpam } from '../spam/spam-check.ts'
import { findUsersByUsername } from '../users/user-store.ts'
import {
  comparedIssuable,
  issuableChanges,
  issuableFields,
  issuableTitle,
  MAX_LABELS,
  MAX_USERS,
  scopeOf,
} from './issuable.ts'
import { applyListMode, listMode, milestoneIdAfter, setMetadata } from './issuable-changes.ts'
import { type DescribedIssue, type Issue, issueFields, issueFilterInput } from './issue.ts'
import { keysetPageOfIssues, pageOfIssues } from './issue-list-store.ts'
import { deleteIssue, findIssue, insertIssue, issueTables, setIssueState, updateIssueRow } from './issue-store.ts'

const inProject = { project: namespaceRef }
const oneIssue = { ...inProject, issueIid: z.int() }
const subject = (context: ReadContext, { project }: { readonly project: z.output<typeof namespaceRef> }) =>
  getProject(context, project)
/** Issues of archived projects are left out by default. */
const nonArchived = z.boolean().default(true)

export const listIssues = unscopedQuery(
  { name: 'listIssues', input: z.object({ ...issueFilterInput, nonArchived, ...pageInput }) },
  (context, { scope = 'created_by_me', ...filter }) =>
    pageOfIssues(context, context.actor, { ...filter, ...scopeOf(scope, context.actor) }, filter),
)

export const listGroupIssues = query(
  {
    name: 'listGroupIssues',
    caller: 'anyone',
    input: z.object({ group: namespaceRef, ...issueFilterInput, nonArchived, ...pageInput }),
    permission: 'read_group',
    subject: (context, { group }) => getGroup(context, group),
  },
  (context, { scope, ...filter }) => {
    const within = { group: context.subject, withSubgroups: true }
    return pageOfIssues(context, context.actor, { ...filter, ...scopeOf(scope, context.actor), within }, filter)
  },
)

export const listProjectIssues = query(
  {
    name: 'listProjectIssues',
    caller: 'anyone',
    input: z.object({ ...inProject, ...issueFilterInput, ...pageInput, ...keysetInput }),
    permission: 'read_issue',
    subject,
  },
  async (context, { scope, ...input }): Promise<Page<DescribedIssue> | KeysetPage<DescribedIssue>> => {
    const { actor } = context
    const filter = { ...input, ...scopeOf(scope, actor), within: { projectId: context.subject.id } }
    if (input.pagination === 'keyset') return keysetPageOfIssues(context, actor, filter, input)
    requireReachableOffset(input, 'Issue')
    return pageOfIssues(context, actor, filter, input)
  },
)

export const getProjectIssue = query(
  { name: 'getProjectIssue', caller: 'anyone', input: z.object(oneIssue), permission: 'read_issue', subject },
  (context, { issueIid }) => getIssue(context, context.actor, context.subject, issueIid),
)

const labelIds = z.array(z.int()).max(MAX_LABELS).optional()
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
  async (context, input): Promise<DescribedIssue> => {
    const description = input.description ?? undefined
    await requireNoSpam(context, toSpamSubject(context.subject, { title: input.title, description }), input.captcha)
    return context.write(async (tx) => {
      // The spam check may take a while: meanwhile the project or the actor's permission may have been removed.
      const project = await getProject(tx, context.subject.id)
      await requirePermission(tx, project, 'create_issue')
      const metadata: Partial<typeof input> = (await canAdminister(tx, project)) ? input : {}
      const { id, iid } = await insertIssue(tx, project, tx.actor!.id, {
        title: input.title,
        description,
        isConfidential: input.confidential ?? false,
        dueDate: metadata.dueDate ?? undefined,
        weight: metadata.weight ?? undefined,
        isDiscussionLocked: metadata.discussionLocked ?? undefined,
        milestoneId: await milestoneIdAfter(tx, project, metadata.milestoneId),
      })
      await setMetadata(tx, issueTables, project, id, metadata)
      const issue = await getIssue(tx, tx.actor, project, iid)
      await recordChange(tx, issueEvents, 'created', { after: issue, projectId: project.id })
      return issue
    })
  },
)

const changes = {
  title: issuableTitle.optional(),
  ...issuableFields,
  ...issueFields,
  ...issuableChanges,
  labelIds,
  addLabelIds: labelIds,
  removeLabelIds: labelIds,
}
type Changes = Partial<z.output<z.ZodObject<typeof changes>>>
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
  async (context, input): Promise<DescribedIssue> => {
    const { subject: project } = context
    const { administers, before } = await getIssueToUpdate(context, project, input)
    const { title, description } = draftAfter(before, input, administers)
    if (title !== before.title || description !== before.description) {
      await requireNoSpam(context, toSpamSubject(project, { title, description }), input.captcha)
    }
    return context.write(async (tx) => {
      // Loads both again, because the spam check may take a while.
      const now = await getProject(tx, project.id)
      return changeIssue(tx, now, await getIssueToUpdate(tx, now, input), input)
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

interface IssueToUpdate {
  readonly before: DescribedIssue
  /** Whether the actor may change metadata too, not only title and description. */
  readonly administers: boolean
}

/** @throws DomainError `not_found`, `forbidden` */
async function getIssueToUpdate(
  context: ReadContext & OperationContext,
  project: Project,
  { issueIid }: { readonly issueIid: number },
): Promise<IssueToUpdate> {
  const before = await getIssue(context, context.actor, project, issueIid)
  const administers = await canAdminister(context, project)
  if (!administers) await requireAuthor(context, project, before)
  return { before, administers }
}

async function changeIssue(
  tx: Tx & OperationContext,
  project: Project,
  { before, administers }: IssueToUpdate,
  input: Changes,
): Promise<DescribedIssue> {
  const metadata: Changes = administers ? input : {}
  const draft = {
    ...draftAfter(before, input, administers),
    milestoneId: await milestoneIdAfter(tx, project, metadata.milestoneId, before),
  }
  const hasNewMetadata = await setMetadata(tx, issueTables, project, before.id, metadata, before)
  const isUpdated = hasNewMetadata || !isDeepStrictEqual(draft, draftOf(before))
  if (isUpdated) await updateIssueRow(tx, before.id, draft)
  const state = input.stateEvent === undefined ? before.state : stateAfter[input.stateEvent]
  if (state !== before.state) await setIssueState(tx, before.id, state, tx.actor!.id)
  if (!isUpdated && state === before.state) return before
  const issue = await getIssue(tx, tx.actor, project, before.iid)
  const change = { before, after: issue, projectId: project.id }
  if (isUpdated) await recordChange(tx, issueEvents, 'updated', change)
  if (state !== before.state) {
    await recordChange(tx, issueEvents, state === 'closed' ? 'closed' : 'reopened', change)
  }
  return issue
}

/** Returns the fields of the issue's own row after the change. */
function draftAfter(before: DescribedIssue, input: Changes, administers: boolean) {
  const metadata: Changes = administers ? input : {}
  return {
    title: input.title ?? before.title,
    description: input.description === undefined ? before.description : (input.description ?? undefined),
    isConfidential: input.confidential ?? before.isConfidential,
    dueDate: metadata.dueDate === undefined ? before.dueDate : (metadata.dueDate ?? undefined),
    weight: metadata.weight === undefined ? before.weight : (metadata.weight ?? undefined),
    isDiscussionLocked: metadata.discussionLocked ?? before.isDiscussionLocked,
  }
}

export const removeIssue = command(
  { name: 'removeIssue', input: z.object(oneIssue), permission: 'read_issue', subject },
  async (tx, { issueIid }) => {
    const issue = await getIssue(tx, tx.actor, tx.subject, issueIid)
    await requirePermission(tx, tx.subject, 'remove_issue')
    await deleteIssue(tx, issue.id)
    await recordChange(tx, issueEvents, 'removed', { before: issue, projectId: tx.subject.id })
  },
)

const stateAfter = { close: 'closed', reopen: 'opened' } as const

const draftOf = (issue: DescribedIssue) => ({
  title: issue.title,
  description: issue.description,
  isConfidential: issue.isConfidential,
  dueDate: issue.dueDate,
  weight: issue.weight,
  isDiscussionLocked: issue.isDiscussionLocked,
  milestoneId: issue.milestone?.id,
})

/** @throws DomainError `not_found`, also if the actor may not see the issue */
async function getIssue(context: ReadContext, actor: Actor, { id }: Project, iid: number): Promise<DescribedIssue> {
  const issue = await findIssue(context, actor, id, iid)
  if (issue === undefined) throw notFound()
  return issue
}

const canAdminister = async (context: ReadContext & OperationContext, project: Project) =>
  can(await standingOf(context, context.actor, project), 'update_issue')

async function requireAuthor(
  context: ReadContext & OperationContext,
  project: Project,
  { author }: Issue,
): Promise<void> {
  if (author?.id !== context.actor!.id) throw forbidden()
  await requirePermission(context, project, 'update_own_issue')
}

const toSpamSubject = (
  { visibility }: Project,
  { title, description }: Pick<DescribedIssue, 'title' | 'description'>,
) => ({
  kind: 'issue' as const,
  title,
  description,
  isPublic: visibility === 'public',
})

const issueEvents: RecordedKind<DescribedIssue> = {
  noun: 'issue',
  compared: {
    ...comparedIssuable,
    ...comparedMembers<DescribedIssue>()('iid', 'state', 'isConfidential', 'dueDate', 'weight'),
  },
  detailsOf: ({ iid, title }) => ({ iid, title }),
}
