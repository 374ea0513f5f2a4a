import { z } from 'zod'
import { type Page, pageInput } from '../../base/kit/page.ts'
import { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import { command, query } from '../../base/operations/operation.ts'
import { deleteStar, insertStar, pageOfStarrers, type Starrer } from './project-star-store.ts'
import { getProject } from './project-store.ts'
import type { ProjectView } from './project-view.ts'
import { viewOf } from './project-view-store.ts'

const changes = {
  star: { change: insertStar, event: 'project.starred' },
  unstar: { change: deleteStar, event: 'project.unstarred' },
} as const

/** A project after a user has starred or unstarred it. */
interface StarredProject extends ProjectView {
  /** Whether the project had the star, or had none, already. */
  readonly isUnchanged: boolean
}

const starCommand = (verb: keyof typeof changes) =>
  command(
    {
      name: `${verb}Project`,
      input: z.object({ project: namespaceRef }),
      subject: (context, { project }) => getProject(context, project),
      permission: 'star_project',
    },
    async (tx): Promise<StarredProject> => {
      const { subject, actor } = tx
      const { change, event } = changes[verb]
      const isChanged = await change(tx, subject.id, actor!.id)
      if (isChanged) await tx.recordEvent({ type: event, objectId: subject.id, projectId: subject.id })
      return { ...(await viewOf(tx, actor, subject)), isUnchanged: !isChanged }
    },
  )

export const starProject = starCommand('star')
export const unstarProject = starCommand('unstar')

/** Lists the users who have starred a project. */
export const listStarrers = query(
  {
    name: 'listStarrers',
    caller: 'anyone',
    input: z.object({ project: namespaceRef, search: z.string().max(255).optional(), ...pageInput }),
    subject: (context, { project }) => getProject(context, project),
    permission: 'read_project',
  },
  (context, { search, ...page }): Promise<Page<Starrer>> =>
    pageOfStarrers(context, context.actor, { projectId: context.subject.id, search: search || undefined }, page),
)
