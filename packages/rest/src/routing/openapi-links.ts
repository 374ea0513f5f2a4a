import type { ResponseRow, RouteShape } from '@penstock/http'
import { type RestRoute, successStatus } from './route.ts'
import { shapeOf } from './schema-traits.ts'

type Documented = RouteShape<RestRoute>
type Links = NonNullable<ResponseRow['links']>

/** Adds OpenAPI links from each call that creates a resource to the calls for that resource, which have one more parameter. */
export function withLinks(routes: readonly Documented[]): Documented[] {
  return routes.map((route) => {
    const { documentation, access: row } = route
    const success = documentation!.responses[successStatus(row)]!
    const links = linksFrom(route, routes)
    if (Object.keys(links).length === 0) return route
    const responses = { ...documentation!.responses, [successStatus(row)]: { ...success, links } }
    return { ...route, documentation: { ...documentation!, responses } }
  })
}

function linksFrom({ method, path, access: row }: Documented, routes: readonly Documented[]): Links {
  const members = Object.keys((row.shape && shapeOf(row.shape.schema)) ?? {})
  if (method !== 'POST') return {}
  const known = [...path.matchAll(/:(\w+)/g)].map(([, name]) => [name!, `$request.path.${name}`])
  const links = routes.flatMap((target) => {
    const parameter = target.path.startsWith(path) && /^\/:(\w+)(?:\/[^:]+)?$/.exec(target.path.slice(path.length))?.[1]
    const member = parameter && memberFor(parameter, members)
    if (!member) return []
    const parameters = Object.fromEntries([...known, [parameter, `$response.body#/${member}`]])
    const { operationId } = target.documentation!
    return [[operationId, { operationId, parameters }] as const]
  })
  return Object.fromEntries(links)
}

/** Returns the response field for a path parameter: `iid` for `issue_iid`, `name` for `branch`, `id` for a commit's `sha`. */
const memberFor = (parameter: string, members: readonly string[]): string | undefined =>
  [parameter, parameter.split('_').at(-1)!, 'name', 'id'].find((name) => members.includes(name))
