import { z } from 'zod'
import { requirePermission } from '../access/subject.ts'
import { notFound } from '../kit/domain-error.ts'
import { unscopedQuery } from '../operations/operation.ts'
import type { NamespaceOwner } from '../projects/project-relations.ts'
import { findUserByUsername } from '../users/user-store.ts'
import { findGroup } from './group-store.ts'

/** Returns the group or user that a path belongs to. */
export const showNamespace = unscopedQuery(
  { name: 'showNamespace', caller: 'anyone', input: z.object({ path: z.string().max(1_024) }) },
  async (context, { path }): Promise<NamespaceOwner> => {
    const group = await findGroup(context, path)
    if (group !== undefined) {
      await requirePermission(context, group, 'read_group')
      return { group }
    }
    const user = await findUserByUsername(context, path)
    if (user === undefined) throw notFound('Namespace')
    return { user }
  },
)
