import type { InputSchema, Operation, Page } from '@penstock/core'
import { type RestRoute, type RouteParameters, type RouteRow, route, type Shape } from './route.ts'

/** The operations on what belongs to groups, or to projects. */
interface ParentOperations<Value> {
  readonly list: Operation<InputSchema, Page<Value>>
  readonly get: Operation<InputSchema, Value>
  readonly create: Operation<InputSchema, Value>
  readonly update: Operation<InputSchema, Value>
  readonly remove: Operation<InputSchema, void>
}

export type ParentKind = 'group' | 'project'
type Row = RouteRow<InputSchema, unknown>

type ActionParameters = Readonly<Partial<Record<keyof ParentOperations<unknown>, RouteParameters>>>

interface ParentArea<Value extends object> {
  /** The noun in summaries and, as a plural, in paths: `label` for `/projects/:id/labels`. */
  readonly noun: string
  /** The path parameter that names one thing: `label_id`. */
  readonly key: string
  /** The parents, in the order of the documentation. */
  readonly operations: Readonly<Partial<Record<ParentKind, ParentOperations<Value>>>>
  readonly shape: Shape<Value> | Readonly<Record<ParentKind, Shape<Value>>>
  /** Additions to the summaries of the list and of one thing: `by due date`, `by its key`. */
  readonly listedBy?: string
  readonly foundBy?: string
  /** Set if the key is a name that may end with `.json`. */
  readonly endsInName?: true
  /** The declared parameters of the actions, of all parents or by kind of parent. */
  readonly parameters?: ActionParameters | Readonly<Partial<Record<ParentKind, ActionParameters>>>
  /** Formats validation errors of an action. */
  readonly invalid?: (action: 'create' | 'update') => NonNullable<Row['invalid']>
  /** Further routes for a kind of parent, at or below the paths of the usual ones. */
  readonly others?: (kind: ParentKind, paths: { readonly all: string; readonly one: string }) => readonly RestRoute[]
}

/** Returns the five usual routes of an area for each kind of parent: list, get, create, update and remove. */
export function parentRoutes<Value extends object>(area: ParentArea<Value>): RestRoute[] {
  const kinds = Object.keys(area.operations) as ParentKind[]
  return kinds.flatMap((kind) => routesOf(area, kind, area.operations[kind]!))
}

function routesOf(area: ParentArea<object>, kind: ParentKind, operations: ParentOperations<object>): RestRoute[] {
  const { noun, key, endsInName, invalid } = area
  const all = `/${kind}s/:id/${noun}s`
  const one = { path: `${all}/:${key}`, ...(endsInName && { endsInName }) }
  const shape = 'of' in area.shape ? area.shape : area.shape[kind]
  const names: Row['names'] = parentNames
  const listedBy = area.listedBy === undefined ? '' : `, ${area.listedBy}`
  const foundBy = area.foundBy === undefined ? '' : ` ${area.foundBy}`
  const errors = (action: 'create' | 'update') => invalid && { invalid: invalid(action) }
  const declared = (action: keyof ActionParameters) => {
    const parameters = parametersOf(area, kind)[action]
    return parameters && { parameters }
  }
  return [
    route({
      method: 'GET',
      path: all,
      operation: operations.list,
      names,
      shape,
      ...declared('list'),
      summary: `List the ${noun}s of a ${kind}${listedBy}.`,
    }),
    route({
      method: 'GET',
      ...one,
      operation: operations.get,
      names,
      shape,
      ...declared('get'),
      summary: `Get a ${noun} of a ${kind}${foundBy}.`,
    }),
    route({
      method: 'POST',
      path: all,
      operation: operations.create,
      names,
      shape,
      ...errors('create'),
      ...declared('create'),
      summary: `Create a ${noun} in a ${kind}.`,
    }),
    route({
      method: 'PUT',
      ...one,
      operation: operations.update,
      names,
      shape,
      ...errors('update'),
      ...declared('update'),
      summary: `Update a ${noun} of a ${kind}.`,
    }),
    route({
      method: 'DELETE',
      ...one,
      operation: operations.remove,
      names,
      ...declared('remove'),
      summary: `Delete a ${noun} of a ${kind}.`,
    }),
    ...(area.others?.(kind, { all, one: one.path }) ?? []),
  ]
}

function parametersOf({ parameters = {} }: ParentArea<object>, kind: ParentKind): ActionParameters {
  const isByKind = 'group' in parameters || 'project' in parameters
  return isByKind ? (parameters[kind] ?? {}) : (parameters as ActionParameters)
}

/** The parameter `parent` of operations is `:id` in paths. */
export const parentNames = { parent: 'id' }
