import { z } from 'zod'
import { requirePermission } from '../../base/access/subject.ts'
import { notFound } from '../../base/kit/domain-error.ts'
import { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import { query, unscopedQuery } from '../../base/operations/operation.ts'
import { getAvatar } from '../avatars/avatar-store.ts'
import { getGroup } from '../groups/group-store.ts'
import { getProject } from '../projects/project-store.ts'
import { getUser } from '../users/user-store.ts'

const input = z.object({ parent: namespaceRef })

export const showProjectAvatar = query(
  {
    name: 'showProjectAvatar',
    caller: 'anyone',
    input,
    permission: 'read_project',
    subject: (context, { parent }) => getProject(context, parent),
  },
  (context) => getAvatar(context, context.subject),
)

export const showGroupAvatar = query(
  {
    name: 'showGroupAvatar',
    caller: 'anyone',
    input,
    permission: 'read_group',
    subject: (context, { parent }) => getGroup(context, parent),
  },
  (context) => getAvatar(context, context.subject),
)

/** Returns the picture that an `avatar_url` names. The picture of a user is public. */
export const showUploadedAvatar = unscopedQuery(
  {
    name: 'showUploadedAvatar',
    caller: 'anyone',
    input: z.object({ kind: z.enum(['user', 'group', 'project']), id: z.int(), fileName: z.string().max(255) }),
  },
  async (context, { kind, id, fileName }) => {
    const owner = await { user: getUser, group: getGroup, project: getProject }[kind](context, id)
    if ('kind' in owner) await requirePermission(context, owner, owner.kind === 'group' ? 'read_group' : 'read_project')
    // The name changes with the picture, so that caches do not return the former one.
    if (owner.avatar !== fileName) throw notFound('Avatar')
    return getAvatar(context, { kind, id })
  },
)
