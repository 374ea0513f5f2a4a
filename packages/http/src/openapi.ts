import { z } from 'zod'
import type { ResponseRow, RouteShape } from './route.ts'

type Json = { readonly [key: string]: unknown }

export interface ApiDescription<Access> {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string }
  readonly tags?: readonly { readonly name: string; readonly description: string }[]
  readonly securitySchemes: Readonly<Record<string, Json>>
  /** Names of the schemes, any one of which opens a route; none: it is open to all. */
  security(access: Access): readonly string[]
}

/**
 * The OpenAPI 3.1 document of the documented routes, from the very schemas that check their requests.
 *
 * A schema with `.meta({ id })` becomes a component and is referred to; ids are unique over all routes. Requests are
 * described as they are sent, answers as they arrive.
 */
export function openApiDocument<Access>(routes: readonly RouteShape<Access>[], api: ApiDescription<Access>): Json {
  const components: Record<string, unknown> = {}
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of routes) {
    if (route.documentation === undefined || route.method === '*') continue
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, api, components) }
  }
  return {
    openapi: '3.1.0',
    info: api.info,
    ...(api.tags && { tags: api.tags }),
    paths,
    components: { schemas: components, securitySchemes: api.securitySchemes },
  }
}

function operationOf<Access>(
  route: RouteShape<Access>,
  api: ApiDescription<Access>,
  components: Record<string, unknown>,
): Json {
  const { operationId, tag, summary, description, responses } = route.documentation!
  const parameters = [
    ...parametersOf('path', route.params, components),
    ...parametersOf('query', route.query, components),
    ...parametersOf('header', route.headers, components),
  ]
  return {
    operationId,
    tags: [tag],
    summary,
    ...(description && { description }),
    security: api.security(route.access).map((scheme) => ({ [scheme]: [] })),
    ...(parameters.length > 0 && { parameters }),
    ...(route.body && {
      requestBody: {
        required: !route.body.safeParse(undefined).success,
        content: jsonContent(schemaOf(route.body, 'input', components)),
      },
    }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, row]) => [status, responseOf(row, components)]),
    ),
  }
}

function parametersOf(
  place: 'path' | 'query' | 'header',
  schema: z.ZodType | undefined,
  components: Record<string, unknown>,
): Json[] {
  if (schema === undefined) return []
  const { properties = {}, required = [] } = schemaOf(schema, 'input', components) as {
    properties?: Record<string, Json>
    required?: string[]
  }
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    ...(description !== undefined && { description }),
    schema: rest,
  }))
}

function responseOf({ description, body, headers }: ResponseRow, components: Record<string, unknown>): Json {
  return {
    description,
    ...(headers && {
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, meaning]) => [name, { description: meaning, schema: { type: 'string' } }]),
      ),
    }),
    ...(body && { content: jsonContent(schemaOf(body, 'output', components)) }),
  }
}

const jsonContent = (schema: unknown): Json => ({ 'application/json': { schema } })

function schemaOf(schema: z.ZodType, io: 'input' | 'output', components: Record<string, unknown>): Json {
  const { $schema: _, $defs = {}, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  for (const [id, definition] of Object.entries($defs)) components[id] = referringToComponents(definition)
  return referringToComponents(rest) as Json
}

/** zod keeps named schemas beside the one that uses them; OpenAPI keeps them in one place. */
function referringToComponents(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(referringToComponents)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === '$ref' && typeof inner === 'string'
        ? inner.replace(/^#\/\$defs\//, '#/components/schemas/')
        : referringToComponents(inner),
    ]),
  )
}
