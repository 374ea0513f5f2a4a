import { z } from 'zod'
import { mapPage, type Page, pageInput } from '../../base/kit/page.ts'
import { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import type { User } from '../../base/model/user.ts'
import { query } from '../../base/operations/operation.ts'
import { pageOfMembers } from '../members/member-store.ts'
import { getProject } from '../projects/project-store.ts'

/** Lists the users who are members of a project, directly or through its groups. */
export const listProjectUsers = query(
  {
    name: 'listProjectUsers',
    caller: 'anyone',
    input: z.object({
      project: namespaceRef,
      search: z.string().max(255).optional(),
      /** Ids of users who are left out. */
      skipUsers: z.array(z.int()).max(100).optional(),
      ...pageInput,
    }),
    permission: 'read_members',
    subject: (context, { project }) => getProject(context, project),
  },
  async (context, { search, skipUsers, ...page }): Promise<Page<User>> => {
    const filter = { search: search || undefined, exceptUserIds: skipUsers }
    return mapPage(await pageOfMembers(context, context.subject, 'inherited', filter, page), ({ user }) => user)
  },
)
