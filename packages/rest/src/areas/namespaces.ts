import { type CountedNamespace, checkNamespacePath, getNamespace, listNamespaces } from '@penstock/core'
import { z } from 'zod'
import { jsonShape, type Members, member } from '../routing/json-shape.ts'
import { type Area, route, type Shape } from '../routing/route.ts'
import { orderedList } from './parameters/lists.ts'
import { namespaceMembers } from './shapes/namespace-shape.ts'

const members: Members<CountedNamespace> = {
  ...namespaceMembers,
  plan: member(z.literal('default'), () => 'default'),
  trial: member(z.literal(false), () => false),
  trialEndsOn: member(z.null(), () => null),
  membersCountWithDescendants: member(z.int().optional(), ({ counts }) => counts?.membersWithin),
  /** Null for a subgroup. */
  rootRepositorySize: member(z.int().nullable().optional(), ({ counts }) =>
    counts?.projectsWithin === undefined ? undefined : (counts.repositoryBytes ?? null),
  ),
  projectsCount: member(z.int().optional(), ({ counts }) => counts?.projectsWithin),
}
const shape = jsonShape<CountedNamespace>('CountedNamespace', members)

const existenceShape: Shape<{ readonly exists: boolean; readonly suggests: readonly string[] }> = {
  schema: z.object({ exists: z.boolean(), suggests: z.array(z.string()) }).meta({ id: 'NamespaceExistence' }),
  of: (existence) => existence,
}

export const namespacesArea: Area = {
  tag: 'Namespaces',
  routes: [
    route({
      method: 'GET',
      path: '/namespaces',
      operation: listNamespaces,
      summary: 'List the namespaces of the current user, or all for an administrator.',
      shape,
      parameters: orderedList,
    }),
    route({
      method: 'GET',
      path: '/namespaces/:id',
      operation: getNamespace,
      summary: 'Get a namespace, by its id or path.',
      names: { namespace: 'id' },
      shape,
    }),
    route({
      method: 'GET',
      path: '/namespaces/:id/exists',
      operation: checkNamespacePath,
      summary: 'Check whether the path of a namespace is taken.',
      names: { path: 'id' },
      shape: existenceShape,
    }),
  ],
}
