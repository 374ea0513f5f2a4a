import {
  archiveProject,
  createProject,
  listProjects,
  removeProject,
  showProject,
  transferProject,
  unarchiveProject,
  updateProject,
} from '@penstock/core'
import { type Area, route } from '../routing/route.ts'
import { immediateDeletion } from './parameters/common.ts'
import { changedProject, newProject, oneProject, projectList } from './parameters/projects.ts'
import { acceptedShape } from './shapes/accepted-shape.ts'
import { listedProjectShape, projectShape } from './shapes/project-shape.ts'

const names = { project: 'id' } as const
const shape = projectShape

export const projectsArea: Area = {
  tag: 'Projects',
  routes: [
    route({
      method: 'GET',
      path: '/projects',
      operation: listProjects,
      parameters: projectList,
      summary: 'List projects.',
      shape: listedProjectShape,
    }),
    route({
      method: 'POST',
      path: '/projects',
      operation: createProject,
      parameters: newProject,
      summary: 'Create a project.',
      shape,
    }),
    route({
      method: 'GET',
      path: '/projects/:id',
      operation: showProject,
      parameters: oneProject,
      summary: 'Get a project.',
      names,
      shape,
    }),
    route({
      method: 'PUT',
      path: '/projects/:id',
      operation: updateProject,
      parameters: changedProject,
      summary: 'Update a project.',
      names,
      shape,
    }),
    route({
      method: 'DELETE',
      path: '/projects/:id',
      operation: removeProject,
      parameters: { noEffect: immediateDeletion },
      summary: 'Delete a project.',
      names,
      status: 202,
      shape: acceptedShape,
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
