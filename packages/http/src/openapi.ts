import { z } from 'zod'
import type { ResponseRow, RouteShape } from './route.ts'

type Json = { readonly [key: string]: unknown }

export interface ApiDescription<Access> {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string }
  readonly tags?: readonly { readonly name: string; readonly description: string }[]
  readonly securitySchemes: Readonly<Record<string, Json>>
  /** Names of the schemes, any one of which opens a route; none, or `undefined` among them: it is open to all. */
  security(access: Access): readonly (string | undefined)[]
  /** Says more of a schema than zod can: changes the JSON Schema it has made. */
  refine?(schema: z.core.$ZodType, json: z.core.JSONSchema.BaseSchema, io: 'input' | 'output'): void
}

/** What the parts of a document share while it is made. */
interface Making {
  readonly components: Record<string, unknown>
  readonly refine: ApiDescription<never>['refine']
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
    paths[path] = {
      ...paths[path],
      [route.method.toLowerCase()]: operationOf(route, api, { components, refine: api.refine }),
    }
  }
  return {
    openapi: '3.1.0',
    info: api.info,
    ...(api.tags && { tags: api.tags }),
    paths,
    components: { schemas: components, securitySchemes: api.securitySchemes },
  }
}

function operationOf<Access>(route: RouteShape<Access>, api: ApiDescription<Access>, making: Making): Json {
  const { operationId, tag, summary, description, responses } = route.documentation!
  const parameters = [
    ...parametersOf('path', route.params, making),
    ...parametersOf('query', route.query, making),
    ...parametersOf('header', route.headers, making),
  ]
  return {
    operationId,
    tags: [tag],
    summary,
    ...(description && { description }),
    security: api.security(route.access).map((scheme) => (scheme === undefined ? {} : { [scheme]: [] })),
    ...(parameters.length > 0 && { parameters }),
    ...(route.body && {
      requestBody: {
        required: !route.body.safeParse(undefined).success,
        content: requestContent(schemaOf(route.body, 'input', making), route.forms !== undefined),
      },
    }),
    responses: Object.fromEntries(Object.entries(responses).map(([status, row]) => [status, responseOf(row, making)])),
  }
}

function parametersOf(place: 'path' | 'query' | 'header', schema: z.ZodType | undefined, making: Making): Json[] {
  if (schema === undefined) return []
  const { properties = {}, required = [] } = schemaOf(schema, 'input', making) as {
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

function responseOf({ description, body, headers, contentType, links }: ResponseRow, making: Making): Json {
  return {
    description,
    ...(headers && {
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, meaning]) => [name, { description: meaning, schema: { type: 'string' } }]),
      ),
    }),
    ...(body && { content: { [contentType ?? 'application/json']: { schema: schemaOf(body, 'output', making) } } }),
    ...(links && { links }),
  }
}

function requestContent(schema: unknown, takesForms: boolean): Json {
  const types = [
    'application/json',
    ...(takesForms ? ['application/x-www-form-urlencoded', 'multipart/form-data'] : []),
  ]
  return Object.fromEntries(types.map((type) => [type, { schema }]))
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output', making: Making): Json {
  const { components, refine } = making
  const {
    $schema: _,
    $defs = {},
    ...rest
  } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => refine?.(zodSchema, jsonSchema, io),
  })
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
