import { groupVariables, projectVariables, type ShownVariable, variableTypes } from '@penstock/core'
import { z } from 'zod'
import { type Area, type RestRoute, route, type Shape } from './route.ts'

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

export const variablesArea: Area = {
  tag: 'CI/CD variables',
  routes: [...routesOf('project', projectVariables), ...routesOf('group', groupVariables)],
}

function routesOf(parent: 'group' | 'project', operations: typeof groupVariables): RestRoute[] {
  const all = `/${parent}s/:id/variables`
  const path = `${all}/:key`
  const names = { parent: 'id' }
  const shape = variableShape
  const endsInName = true
  return [
    route({
      method: 'GET',
      path: all,
      operation: operations.list,
      summary: `List the variables of a ${parent}.`,
      names,
      shape,
    }),
    route({
      method: 'POST',
      path: all,
      operation: operations.create,
      summary: `Create a variable in a ${parent}.`,
      names,
      shape,
    }),
    route({
      method: 'GET',
      path,
      operation: operations.get,
      summary: `Get a variable of a ${parent}.`,
      names,
      shape,
      endsInName,
    }),
    route({
      method: 'PUT',
      path,
      operation: operations.update,
      summary: `Update a variable of a ${parent}.`,
      names,
      shape,
      endsInName,
    }),
    route({
      method: 'DELETE',
      path,
      operation: operations.remove,
      summary: `Delete a variable of a ${parent}.`,
      names,
      endsInName,
    }),
  ]
}
