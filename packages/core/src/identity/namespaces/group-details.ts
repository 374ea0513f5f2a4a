import { z } from 'zod'
import { isVisibleProject } from '../../base/access/visible-store.ts'
import { type Page, pageInput } from '../../base/kit/page.ts'
import { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Group } from '../../base/model/group.ts'
import { query } from '../../base/operations/operation.ts'
import { getGroup } from '../groups/group-store.ts'
import { projectListInput } from '../projects/project-input.ts'
import { listProjectRows } from '../projects/project-list-store.ts'
import type { ProjectView } from '../projects/project-view.ts'
import { viewsOf } from '../projects/project-view-store.ts'

/** A group with the projects directly in it, if they were asked for. */
export interface GroupDetails {
  readonly group: Group
  readonly projects: readonly ProjectView[] | undefined
}

/** The most projects that are shown with their group; all others are found in the list of projects. */
const MAX_PROJECTS = 100

const aboutGroup = {
  caller: 'anyone',
  permission: 'read_group',
  subject: (context: ReadContext, { group }: { readonly group: number | string }) => getGroup(context, group),
} as const

export const showGroupDetails = query(
  {
    name: 'showGroupDetails',
    input: z.object({ group: namespaceRef, withProjects: z.boolean().default(true) }),
    ...aboutGroup,
  },
  async (context, { withProjects }): Promise<GroupDetails> => {
    const { subject: group, actor } = context
    if (!withProjects) return { group, projects: undefined }
    const filter = { within: { group, depth: 'direct' }, where: [isVisibleProject(context, actor)] } as const
    const order = { by: 'id', direction: 'desc' } as const
    const { items } = await listProjectRows(context, filter, order, { page: 1, perPage: MAX_PROJECTS }, false)
    return { group, projects: await viewsOf(context, actor, items) }
  },
)

const { pagination: _, cursor: __, ...pagedProjects } = projectListInput

/** Lists the projects of other namespaces that were shared with the group: none, because projects cannot be shared. */
export const listSharedProjects = query(
  {
    name: 'listSharedProjects',
    input: z.object({
      group: namespaceRef,
      includeSubgroups: z.boolean().default(false),
      ...pagedProjects,
      ...pageInput,
    }),
    ...aboutGroup,
  },
  async (_context, { page, perPage }): Promise<Page<ProjectView>> => ({
    items: [],
    page,
    perPage,
    hasNext: false,
    total: 0,
  }),
)
