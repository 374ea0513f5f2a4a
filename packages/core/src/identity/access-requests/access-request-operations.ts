import { z } from 'zod'
import { can, canSee } from '../../base/access/can.ts'
import { requirePermission, type Subject, standingOf } from '../../base/access/subject.ts'
import { forbidden, invalid, notFound } from '../../base/kit/domain-error.ts'
import { pageInput } from '../../base/kit/page.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import { accessLevels, memberLevels } from '../../base/model/access-level.ts'
import { type ParentRef, parentIds } from '../../base/model/parent.ts'
import { command, query, unscopedCommand } from '../../base/operations/operation.ts'
import { comparedMembers, type RecordedKind, recordChange } from '../../base/operations/record-change.ts'
import { addMember, isPossibleLevel, requireNotAbove } from '../members/member-changes.ts'
import { getParent, parentInput } from '../parents/parent-operations.ts'
import { getUser } from '../users/user-store.ts'
import type { AccessRequest } from './access-request.ts'
import {
  deleteAccessRequest,
  findAccessRequest,
  insertAccessRequest,
  pageOfAccessRequests,
} from './access-request-store.ts'
import { mayRequestAccess } from './may-request-access.ts'

export const groupAccessRequests = accessRequestsOf('group')
export const projectAccessRequests = accessRequestsOf('project')

function accessRequestsOf(kind: Subject['kind']) {
  const owner = kind === 'group' ? 'Group' : 'Project'
  const subject = (context: ReadContext, { parent }: { readonly parent: number | string }) =>
    getParent(context, kind, parent)
  const sees = { permission: 'read_access_request', subject } as const
  /** Those who may add members decide about requests. */
  const decides = kind === 'group' ? 'admin_group_members' : 'admin_project_members'
  const one = { ...parentInput, userId: z.int() }

  return {
    /** Lists all requests to those who decide about them, and to everyone else their own. */
    list: query(
      { name: `list${owner}AccessRequests`, input: z.object({ ...parentInput, ...pageInput }), ...sees },
      async (context, page) => {
        const decider = can(await standingOf(context, context.actor, context.subject), decides)
        return pageOfAccessRequests(context, context.subject, decider ? undefined : context.actor!.id, page)
      },
    ),

    create: command(
      { name: `request${owner}Access`, input: z.object(parentInput), ...sees },
      async (tx): Promise<AccessRequest> => {
        const { actor } = tx
        if (!mayRequestAccess(actor, tx.subject, await standingOf(tx, actor, tx.subject))) throw forbidden()
        if ((await findAccessRequest(tx, tx.subject, actor!.id)) !== undefined)
          throw invalid({ userId: ['already exists in source'] })
        const request = await insertAccessRequest(tx, tx.subject, await getUser(tx, actor!.id))
        await recordChange(tx, accessRequestEvents, 'created', { after: request, ...parentIds(tx.subject) })
        return request
      },
    ),

    /** Makes the user a member, which ends the request. */
    approve: command(
      {
        name: `approve${owner}AccessRequest`,
        input: z.object({ ...one, accessLevel: z.int().default(accessLevels.developer) }),
        permission: decides,
        subject,
      },
      async (tx, { userId, accessLevel }) => {
        const level = memberLevels.find((each) => each === accessLevel)
        if (level === undefined || !isPossibleLevel(tx.subject, level))
          throw invalid({ accessLevel: ['is not included in the list'] })
        requireNotAbove(await standingOf(tx, tx.actor, tx.subject), level)
        const request = await getAccessRequest(tx, tx.subject, userId)
        const member = await addMember(tx, request.user, level, undefined)
        await recordChange(tx, accessRequestEvents, 'approved', { before: request, ...parentIds(tx.subject) })
        return member
      },
    ),

    /** Denies the request of another user, or withdraws the actor's own. */
    remove: unscopedCommand(
      { name: `remove${owner}AccessRequest`, input: z.object(one), isConditional: true },
      async (tx, { userId, ...input }): Promise<void> => {
        const from = await subject(tx, input)
        const isOwn = userId === tx.actor!.id && canSee(await standingOf(tx, tx.actor, from))
        if (!isOwn) await requirePermission(tx, from, decides)
        const request = await getAccessRequest(tx, from, userId)
        tx.requireUnmodified(request.requestedAtMs)
        await deleteAccessRequest(tx, request.id)
        const what = isOwn ? 'withdrawn' : 'denied'
        await recordChange(tx, accessRequestEvents, what, { before: request, ...parentIds(from) })
      },
    ),
  }
}

/** @throws DomainError `not_found`, also for a member */
async function getAccessRequest(context: ReadContext, subject: ParentRef, userId: number): Promise<AccessRequest> {
  const request = await findAccessRequest(context, subject, userId)
  if (request === undefined) throw notFound()
  return request
}

const accessRequestEvents: RecordedKind<AccessRequest> = {
  noun: 'access_request',
  compared: { ...comparedMembers<AccessRequest>()('requestedAtMs'), userId: ({ user }) => user.id },
  detailsOf: ({ user }) => ({ userId: user.id }),
}
