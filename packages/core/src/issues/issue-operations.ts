import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { can } from '../access/can.ts'
import { requirePermission, standingOf } from '../access/subject.ts'
import { getGroup } from '../groups/group-store.ts'
import type { Actor, OperationContext, Reading, Tx } from '../kit/context.ts'
import { forbidden, notFound } from '../kit/domain-error.ts'
import type { DomainEvent } from '../kit/event.ts'
import { command, freeQuery, query } from '../kit/operation.ts'
import { type KeysetPage, keysetInput, type Page, pageInput, requireNearOffset } from '../kit/page.ts'
import { namespaceRef } from '../kit/parameter-schemas.ts'
import { acrossParameters, problem } from '../kit/parse-input.ts'
import type { Project } from '../projects/project.ts'
import { getProject } from '../projects/project-store.ts'
import { issuableChanges, issuableFields, issuableTitle, scopeOf } from './issuable.ts'
import { milestoneIdAfter, setMetadata } from './issuable-changes.ts'
import { type Issue, issueFields, issueFilterInput } from './issue.ts'
import {
  deleteIssue,
  findIssue,
  insertIssue,
  issueTables,
  keysetPageOfIssues,
  pageOfIssues,
  setIssueState,
  updateIssueRow,
} from './issue-store.ts'

const inProject = { project: namespaceRef }
const oneIssue = { ...inProject, issueIid: z.int() }
const subject = (reading: Reading, { project }: { readonly project: z.output<typeof namespaceRef> }) =>
  getProject(reading, project)
/** Issues of archived projects are left out, unless they are asked for. */
const nonArchived = z.boolean().default(true)

export const listIssues = freeQuery(
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
    subject: (reading, { group }) => getGroup(reading, group),
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
  async (context, { scope, ...input }): Promise<Page<Issue> | KeysetPage<Issue>> => {
    const { actor } = context
    const filter = { ...input, ...scopeOf(scope, actor), within: { projectId: context.subject.id } }
    if (input.pagination === 'keyset') return keysetPageOfIssues(context, actor, filter, input)
    requireNearOffset(input, 'Issue')
    return pageOfIssues(context, actor, filter, input)
  },
)

export const getProjectIssue = query(
  { name: 'getProjectIssue', caller: 'anyone', input: z.object(oneIssue), permission: 'read_issue', subject },
  (context, { issueIid }) => getIssue(context, context.actor, context.subject, issueIid),
)

/** Of those who only may make one, what sorts it (labels, people, dates) is not heeded. */
export const createIssue = command(
  {
    name: 'createIssue',
    input: z.object({ ...inProject, title: issuableTitle, ...issuableFields, ...issueFields }),
    permission: 'create_issue',
    subject,
  },
  async (tx, input) => {
    const project = tx.subject
    const sorting: Partial<typeof input> = (await maySort(tx, project)) ? input : {}
    const { id, iid } = await insertIssue(tx, project, tx.actor!.id, {
      title: input.title,
      description: input.description ?? undefined,
      isConfidential: input.confidential ?? false,
      dueDate: sorting.dueDate ?? undefined,
      weight: sorting.weight ?? undefined,
      milestoneId: await milestoneIdAfter(tx, project, sorting.milestoneId),
    })
    await setMetadata(tx, issueTables, project, id, sorting)
    const issue = await getIssue(tx, tx.actor, project, iid)
    await tx.recordEvent(eventOf('created', issue))
    return issue
  },
)

const changes = { title: issuableTitle.optional(), ...issuableFields, ...issueFields, ...issuableChanges }
const changeNames = Object.keys(changes) as (keyof typeof changes)[]

/** Its author may change what it says, and close and open it; the rest is for those who may update any. */
export const updateIssue = command(
  {
    name: 'updateIssue',
    input: z.object({ ...oneIssue, ...changes }).superRefine((input, context) => {
      if (changeNames.every((name) => input[name] === undefined)) {
        context.addIssue(problem('at_least_one', { names: changeNames }))
      }
    }, acrossParameters),
    permission: 'read_issue',
    subject,
  },
  async (tx, input) => {
    const project = tx.subject
    const before = await getIssue(tx, tx.actor, project, input.issueIid)
    const sorts = await maySort(tx, project)
    if (!sorts) await requireAuthor(tx, project, before)
    const sorting: Partial<typeof input> = sorts ? input : {}
    const draft = {
      title: input.title ?? before.title,
      description: input.description === undefined ? before.description : (input.description ?? undefined),
      isConfidential: input.confidential ?? before.isConfidential,
      dueDate: sorting.dueDate === undefined ? before.dueDate : (sorting.dueDate ?? undefined),
      weight: sorting.weight === undefined ? before.weight : (sorting.weight ?? undefined),
      isDiscussionLocked: sorting.discussionLocked ?? before.isDiscussionLocked,
      milestoneId: await milestoneIdAfter(tx, project, sorting.milestoneId, before),
    }
    const isSortedAnew = await setMetadata(tx, issueTables, project, before.id, sorting, before)
    const isRewritten = isSortedAnew || !isDeepStrictEqual(draft, draftOf(before))
    if (isRewritten) await updateIssueRow(tx, before.id, draft)
    const state = input.stateEvent === undefined ? before.state : stateAfter[input.stateEvent]
    if (state !== before.state) await setIssueState(tx, before.id, state, tx.actor!.id)
    if (!isRewritten && state === before.state) return before
    const issue = await getIssue(tx, tx.actor, project, before.iid)
    if (isRewritten) await tx.recordEvent(eventOf('updated', issue))
    if (state !== before.state) await tx.recordEvent(eventOf(state === 'closed' ? 'closed' : 'reopened', issue))
    return issue
  },
)

export const removeIssue = command(
  { name: 'removeIssue', input: z.object(oneIssue), permission: 'read_issue', subject },
  async (tx, { issueIid }) => {
    const issue = await getIssue(tx, tx.actor, tx.subject, issueIid)
    await requirePermission(tx, tx.subject, 'remove_issue')
    await deleteIssue(tx, issue.id)
    await tx.recordEvent(eventOf('removed', issue))
  },
)

const stateAfter = { close: 'closed', reopen: 'opened' } as const

const draftOf = (issue: Issue) => ({
  title: issue.title,
  description: issue.description,
  isConfidential: issue.isConfidential,
  dueDate: issue.dueDate,
  weight: issue.weight,
  isDiscussionLocked: issue.isDiscussionLocked,
  milestoneId: issue.milestone?.id,
})

/** @throws DomainError `not_found`, also for one that the actor may not see */
async function getIssue(reading: Reading, actor: Actor, { id }: Project, iid: number): Promise<Issue> {
  const issue = await findIssue(reading, actor, id, iid)
  if (issue === undefined) throw notFound()
  return issue
}

const maySort = async (context: Reading & OperationContext, project: Project) =>
  can(await standingOf(context, context.actor, project), 'update_issue')

async function requireAuthor(tx: Tx & OperationContext, project: Project, { author }: Issue): Promise<void> {
  if (author?.id !== tx.actor!.id) throw forbidden()
  await requirePermission(tx, project, 'update_own_issue')
}

function eventOf(what: 'created' | 'updated' | 'closed' | 'reopened' | 'removed', issue: Issue): DomainEvent {
  const { id, iid, projectId, title } = issue
  return { type: `issue.${what}`, objectId: id, projectId, details: { iid, title } }
}
