import {
  archiveProject,
  createProject,
  listProjects,
  removeProject,
  showProject,
  showProjectAvatar,
  transferProject,
  unarchiveProject,
  updateProject,
} from '@penstock/core'
import { type Area, route } from '../routing/route.ts'
import { immediateDeletion } from './parameters/absent-features.ts'
import { changedProject, newProject, oneProject, projectList } from './parameters/projects.ts'
import { acceptedShape } from './shapes/accepted-shape.ts'
import { avatarContent } from './shapes/avatar-url.ts'
import { listedProjectShape, projectShape, withSimple } from './shapes/project-shape.ts'

const names = { project: 'id' } as const
const shape = projectShape

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
      method: 'PUT',
      path: '/projects/:id/transfer',
      operation: transferProject,
      summary: 'Transfer a project to another namespace.',
      names,
      shape,
    }),
  ],
}
