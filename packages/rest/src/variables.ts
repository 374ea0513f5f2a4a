import {
  createGroupVariable,
  createProjectVariable,
  getGroupVariable,
  getProjectVariable,
  listGroupVariables,
  listProjectVariables,
  removeGroupVariable,
  removeProjectVariable,
  type ShownVariable,
  updateGroupVariable,
  updateProjectVariable,
  variableTypes,
} from '@penstock/core'
import { z } from 'zod'
import { type Area, route, type Shape } from './route.ts'

const variableShape: Shape<ShownVariable> = {
  schema: z.object({
    variable_type: z.enum(variableTypes),
    key: z.string(),
    value: z.string().nullable(),
    hidden: z.boolean(),
    protected: z.boolean(),
    masked: z.boolean(),
    raw: z.boolean(),
    environment_scope: z.string(),
    description: z.string().nullable(),
  }),
  of: (variable) => ({
    variable_type: variable.type,
    key: variable.key,
    value: variable.value ?? null,
    hidden: variable.isHidden,
    protected: variable.isProtected,
    masked: variable.isMasked,
    raw: variable.isRaw,
    environment_scope: variable.environmentScope,
    description: variable.description ?? null,
  }),
}

const ofProject = { names: { project: 'id' } }
const ofGroup = { names: { group: 'id' } }
const shape = variableShape
const endsInName = true

/** @see design.md 6 */
export const variablesArea: Area = {
  tag: 'CI/CD variables',
  routes: [
    route({
      method: 'GET',
      path: '/projects/:id/variables',
      operation: listProjectVariables,
      summary: 'The variables of a project',
      ...ofProject,
      shape,
    }),
    route({
      method: 'POST',
      path: '/projects/:id/variables',
      operation: createProjectVariable,
      summary: 'Adds a variable to a project',
      ...ofProject,
      shape,
    }),
    route({
      method: 'GET',
      path: '/projects/:id/variables/:key',
      operation: getProjectVariable,
      summary: 'A variable of a project',
      ...ofProject,
      shape,
      endsInName,
    }),
    route({
      method: 'PUT',
      path: '/projects/:id/variables/:key',
      operation: updateProjectVariable,
      summary: 'Changes a variable of a project',
      ...ofProject,
      shape,
      endsInName,
    }),
    route({
      method: 'DELETE',
      path: '/projects/:id/variables/:key',
      operation: removeProjectVariable,
      summary: 'Removes a variable of a project',
      ...ofProject,
      endsInName,
    }),
    route({
      method: 'GET',
      path: '/groups/:id/variables',
      operation: listGroupVariables,
      summary: 'The variables of a group',
      ...ofGroup,
      shape,
    }),
    route({
      method: 'POST',
      path: '/groups/:id/variables',
      operation: createGroupVariable,
      summary: 'Adds a variable to a group',
      ...ofGroup,
      shape,
    }),
    route({
      method: 'GET',
      path: '/groups/:id/variables/:key',
      operation: getGroupVariable,
      summary: 'A variable of a group',
      ...ofGroup,
      shape,
      endsInName,
    }),
    route({
      method: 'PUT',
      path: '/groups/:id/variables/:key',
      operation: updateGroupVariable,
      summary: 'Changes a variable of a group',
      ...ofGroup,
      shape,
      endsInName,
    }),
    route({
      method: 'DELETE',
      path: '/groups/:id/variables/:key',
      operation: removeGroupVariable,
      summary: 'Removes a variable of a group',
      ...ofGroup,
      endsInName,
    }),
  ],
}
