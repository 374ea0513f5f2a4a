import { z } from 'zod'
import { type ResponseRow, type RouteShape, withPathParameters } from './route.ts'

type Json = { readonly [key: string]: unknown }

interface ApiDescription<Access> {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string }
  readonly tags?: readonly { readonly name: string; readonly description: string }[]
  readonly securitySchemes: Readonly<Record<string, Json>>
  /** Returns the names of the accepted schemes. An empty list, or `undefined` in it, means that no credential is needed. */
  security(access: Access): readonly (string | undefined)[]
  /** Changes the JSON Schema that zod has generated, to add what zod cannot express. */
  refine?(schema: z.core.$ZodType, json: z.core.JSONSchema.BaseSchema, io: 'input' | 'output'): void
}

/** The state that is shared while a document is generated. */
interface Generation {
  readonly components: Record<string, unknown>
  readonly refine: ApiDescription<never>['refine']
}

/**
 * Returns the OpenAPI 3.1 document of the documented routes, generated from the schemas that validate their requests.
 *
 * A schema with `.meta({ id })` becomes a component that others refer to; ids are unique over all routes. Requests are
 * described before parsing (zod's input), responses after it (zod's output).
 */
export function openApiDocument<Access>(routes: readonly RouteShape<Access>[], api: ApiDescription<Access>): Json {
  const components: Record<string, unknown> = {}
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of routes) {
    if (route.documentation === undefined || route.method === '*') continue
    const path = withPathParameters(route.path, (name) => `{${name}}`)
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

function operationOf<Access>(route: RouteShape<Access>, api: ApiDescription<Access>, generation: Generation): Json {
  const { operationId, tag, summary, description, isDeprecated, responses } = route.documentation!
  const parameters = [
    ...parametersOf('path', route.params, generation),
    ...parametersOf('query', route.query, generation),
    ...parametersOf('header', route.headers, generation),
  ]
  return {
    operationId,
    tags: [tag],
    summary,
    ...(description && { description }),
    ...(isDeprecated && { deprecated: true }),
    security: api.security(route.access).map((scheme) => (scheme === undefined ? {} : { [scheme]: [] })),
    ...(parameters.length > 0 && { parameters }),
    ...(route.body && {
      requestBody: {
        required: !route.body.safeParse(undefined).success,
        content: requestContent(schemaOf(route.body, 'input', generation), route.forms !== undefined),
      },
    }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, row]) => [status, responseOf(row, generation)]),
    ),
  }
}

function parametersOf(
  place: 'path' | 'query' | 'header',
  schema: z.ZodType | undefined,
  generation: Generation,
): Json[] {
  if (schema === undefined) return []
  const { properties = {}, required = [] } = schemaOf(schema, 'input', generation) as {
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

function responseOf(
  { description, body, headers, contentType = 'application/json', otherBodies, links }: ResponseRow,
  generation: Generation,
): Json {
  const bodies = Object.entries({ ...(body && { [contentType]: body }), ...otherBodies })
  const content = bodies.map(([type, schema]) => [type, { schema: schemaOf(schema, 'output', generation) }])
  return {
    description,
    ...(headers && {
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, meaning]) => [name, { description: meaning, schema: { type: 'string' } }]),
      ),
    }),
    ...(content.length > 0 && { content: Object.fromEntries(content) }),
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

function schemaOf(schema: z.ZodType, io: 'input' | 'output', generation: Generation): Json {
  const { components, refine } = generation
  const {
    $schema: _,
    $defs = {},
    ...rest
  } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => refine?.(zodSchema, jsonSchema, io),
  })
  for (const [id, definition] of Object.entries($defs)) components[id] = withComponentReferences(definition)
  return withComponentReferences(rest) as Json
}

/** Rewrites zod's references, which point beside the schema, to the place where OpenAPI keeps all components. */
function withComponentReferences(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withComponentReferences)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === '$ref' && typeof inner === 'string'
        ? inner.replace(/^#\/\$defs\//, '#/components/schemas/')
        : withComponentReferences(inner),
    ]),
  )
}
