import {
  archiveProject,
  createProject,
  listProjects,
  listStarrers,
  removeProject,
  type Starrer,
  showProject,
  showProjectAvatar,
  starProject,
  transferProject,
  unarchiveProject,
  unstarProject,
  updateProject,
} from '@penstock/core'
import { z } from 'zod'
import { isoTime } from '../routing/iso-time.ts'
import { type Area, route, type Shape } from '../routing/route.ts'
import { immediateDeletion } from './parameters/absent-features.ts'
import { orderedList } from './parameters/lists.ts'
import { changedProject, newProject, oneProject, projectList } from './parameters/projects.ts'
import { acceptedShape } from './shapes/accepted-shape.ts'
import { avatarContent } from './shapes/avatar-url.ts'
import { basicUserShape } from './shapes/basic-user.ts'
import { listedProjectShape, projectShape, withSimple } from './shapes/project-shape.ts'

const names = { project: 'id' } as const
const shape = projectShape

const starrerShape: Shape<Starrer> = {
  schema: z.object({ starred_since: z.string(), user: basicUserShape.schema }).meta({ id: 'Starrer' }),
  of: ({ user, starredAtMs }, context) => ({
    starred_since: isoTime(starredAtMs),
    user: basicUserShape.of(user, context),
  }),
}

export const projectsArea: Area = {
  tag: 'Projects',
  routes: [
    route({
      method: 'GET',
      path: '/projects',
      operation: withSimple(listProjects),
      summary: 'List projects.',
      shape: listedProjectShape,
      parameters: projectList,
    }),
    route({
      method: 'POST',
      path: '/projects',
      operation: createProject,
      summary: 'Create a project.',
      shape,
      parameters: newProject,
    }),
    route({
      method: 'GET',
      path: '/projects/:id',
      operation: showProject,
      summary: 'Get a project.',
      names,
      shape,
      parameters: oneProject,
    }),
    route({
      method: 'PUT',
      path: '/projects/:id',
      operation: updateProject,
      summary: 'Update a project.',
      names,
      shape,
      parameters: changedProject,
    }),
    route({
      method: 'DELETE',
      path: '/projects/:id',
      operation: removeProject,
      summary: 'Delete a project.',
      names,
      parameters: { noEffect: immediateDeletion },
      status: 202,
      shape: acceptedShape,
    }),
    route({
      method: 'GET',
      path: '/projects/:id/avatar',
      operation: showProjectAvatar,
      summary: 'Get the picture of a project.',
      names: { parent: 'id' },
      content: avatarContent,
    }),
    route({
      method: 'POST',
      path: '/projects/:id/archive',
      operation: archiveProject,
      summary: 'Archive a project, which makes it read-only.',
      names,
      shape,
    }),
    route({
      method: 'POST',
      path: '/projects/:id/unarchive',
      operation: unarchiveProject,
      summary: 'Unarchive a project.',
      names,
      shape,
    }),
    route({
      method: 'POST',
      path: '/projects/:id/star',
      operation: starProject,
      summary: 'Star a project. The status is 304 if the caller had already starred it.',
      names,
      shape,
      isUnchanged: ({ isUnchanged }) => isUnchanged,
    }),
    route({
      method: 'POST',
      path: '/projects/:id/unstar',
      operation: unstarProject,
      summary: 'Remove the star of the caller from a project. The status is 304 if there was none.',
      names,
      shape,
      isUnchanged: ({ isUnchanged }) => isUnchanged,
    }),
    route({
      method: 'GET',
      path: '/projects/:id/starrers',
      operation: listStarrers,
      summary: 'List the users who have starred a project. Private profiles are left out.',
      names,
      parameters: orderedList,
      shape: starrerShape,
    }),
    route({
      method: 'PUT',
      path: '/projects/:id/transfer',
      operation: transferProject,
      summary: 'Transfer a project to another namespace.',
      names,
      shape,
    }),
  ],
}
