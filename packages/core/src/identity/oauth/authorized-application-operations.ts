import { z } from 'zod'
import { unscopedCommand, unscopedQuery } from '../../base/operations/operation.ts'
import { findAuthorizedApplications, revokeAccessOf } from './authorized-application-store.ts'

/** Lists the applications that can access the account of the caller. */
export const listAuthorizedApplications = unscopedQuery(
  { name: 'listAuthorizedApplications', input: z.object({}) },
  (context) => findAuthorizedApplications(context, context.actor!.id),
)

/** Ends the access of an application to the account of the caller, or that of programs without an application. */
export const revokeAuthorizedApplication = unscopedCommand(
  { name: 'revokeAuthorizedApplication', input: z.object({ applicationId: z.int().optional() }) },
  async (tx, { applicationId }) => {
    const { id } = tx.actor!
    if (!(await revokeAccessOf(tx, id, applicationId))) return
    await tx.recordEvent({
      type: 'user.application_revoked',
      objectId: id,
      details: { applicationId: applicationId ?? null },
    })
  },
)
