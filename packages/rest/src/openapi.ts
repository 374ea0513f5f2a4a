import { openApiDocument, type ResponseRow, type RouteShape } from '@penstock/http'
import { z } from 'zod'
import { withLinks } from './openapi-links.ts'
import { parametersOf, snakeCase } from './parameter-names.ts'
import { API_PREFIX, type Area, type RestRoute } from './route.ts'
import { isDay, isFile, isMoment, traitsOf } from './schema-traits.ts'
import { statusOf } from './served-row.ts'

type Json = Readonly<Record<string, unknown>>

/** The OpenAPI 3.1 document of the areas, from the schemas that check their requests and the shapes that make their answers. */
export function restOpenApi(areas: readonly Area[], serviceName: string): Json {
  const routes = areas.flatMap(({ tag, routes }) => routes.map((row) => routeShape(tag, row)))
  return openApiDocument(withLinks(withIds(routes)), {
    info: {
      title: 'Penstock REST API',
      version: 'v4',
      description:
        'Parameters may come in the query, in a form or in JSON, whatever the method; the path wins over the body, the body over the query.',
    },
    tags: areas.map(({ tag }) => ({ name: tag, description: `Calls about ${tag}` })),
    securitySchemes: {
      privateToken: { type: 'apiKey', in: 'header', name: 'PRIVATE-TOKEN' },
      privateTokenParameter: { type: 'apiKey', in: 'query', name: 'private_token' },
      bearer: { type: 'http', scheme: 'bearer' },
      accessTokenParameter: { type: 'apiKey', in: 'query', name: 'access_token' },
      jobToken: { type: 'apiKey', in: 'header', name: 'JOB-TOKEN' },
      session: { type: 'apiKey', in: 'cookie', name: `_${serviceName}_session` },
    },
    security: ({ operation, takesJobTokens, ignoresCredentials }) => {
      if (ignoresCredentials) return []
      const nobody = operation.caller === 'anyone' ? [undefined] : []
      return [
        'privateToken',
        'privateTokenParameter',
        'bearer',
        'accessTokenParameter',
        ...(takesJobTokens ? ['jobToken'] : []),
        'session',
        ...nobody,
      ]
    },
    refine(schema, json, io) {
      // Within a parameter too, names are in snake_case outside.
      if (io === 'input' && json.properties !== undefined) {
        json.properties = Object.fromEntries(
          Object.entries(json.properties).map(([name, inner]) => [snakeCase(name), inner]),
        )
        if (json.required !== undefined) json.required = json.required.map(snakeCase)
      }
      if (isMoment(schema)) json.format = isDay(schema) ? 'date' : 'date-time'
      if (isFile(schema)) {
        for (const key of Object.keys(json)) delete json[key]
        Object.assign(json, { type: 'string', format: 'binary' })
      }
    },
  })
}

function routeShape(tag: string, row: RestRoute): RouteShape<RestRoute> {
  const inPath = new Set([...row.path.matchAll(/:(\w+)/g)].map(([, name]) => name!))
  const parameters = parametersOf(row.operation.input, row.names).filter(({ key }) => key !== row.bodyTextAs)
  const place = (wanted: (name: string) => boolean) => {
    const entries = parameters
      .filter(({ name }) => wanted(name))
      .map(({ name, schema }) => [name, schema as z.ZodType] as const)
    return z.object(Object.fromEntries(entries))
  }
  const others = place((name) => !inPath.has(name))
  const hasOthers = Object.keys(others.shape).length > 0
  const isWrite = row.method === 'POST' || row.method === 'PUT' || row.method === 'PATCH'
  const isNeeded = Object.values(others.shape).some((schema) => !traitsOf(schema).optional)
  return {
    method: row.method,
    path: API_PREFIX + row.path,
    access: row,
    ...(inPath.size > 0 && { params: pathParameters(inPath, parameters) }),
    ...(hasOthers && !isWrite && { query: others }),
    ...(hasOthers && isWrite && { body: isNeeded ? others : others.optional() }),
    ...(hasOthers && isWrite && row.bodyTextAs === undefined && { forms: {} }),
    documentation: {
      operationId: row.operation.name,
      tag,
      summary: row.summary,
      responses: responsesOf(row, { hasParameters: parameters.length > 0, isWrite }),
    },
  }
}

/** Also those that the operation does not ask for by that name. */
function pathParameters(names: ReadonlySet<string>, known: ReturnType<typeof parametersOf>): z.ZodType {
  const schemaOf = (name: string) =>
    (known.find((parameter) => parameter.name === name)?.schema ?? z.string()) as z.ZodType
  return z.object(Object.fromEntries([...names].map((name) => [name, schemaOf(name)])))
}

const messageBody = z
  .object({ message: z.union([z.string(), z.record(z.string(), z.unknown())]) })
  .meta({ id: 'Message', description: 'A refusal by the application' })
const errorBody = z
  .object({ error: z.string(), error_description: z.string().optional(), scope: z.string().optional() })
  .meta({ id: 'Error', description: 'A refusal before the application was asked' })
const eitherBody = z.union([messageBody, errorBody])

const listHeaders = {
  'X-Page': 'Number of this page',
  'X-Per-Page': 'Items on a page',
  'X-Next-Page': 'Number of the next page, or empty',
  'X-Prev-Page': 'Number of the page before, or empty',
  'X-Total': 'How many items there are; left out above 10,000',
  'X-Total-Pages': 'How many pages there are; left out above 10,000 items',
  Link: 'URLs of pages, by their relations: prev, next, first, last',
}

function responsesOf(
  row: RestRoute,
  { hasParameters, isWrite }: { hasParameters: boolean; isWrite: boolean },
): Record<number, ResponseRow> {
  const { input, caller } = row.operation
  const keys = Object.keys(traitsOf(input).shape ?? {})
  const isProjectPath = keys.includes('project') && row.path.includes('/:')
  const isRead = row.method === 'GET'
  return {
    [statusOf(row)]: successOf(row, keys.includes('perPage')),
    ...(row.isCreated && { 201: { ...successOf(row, false), description: 'Done, and it is new' } }),
    ...(row.shape &&
      statusOf(row) !== 204 &&
      !isRead && { 204: { description: 'Done, and there is nothing to show' } }),
    ...(isRead && { 304: { description: 'The caller has it already (If-None-Match)' } }),
    ...(isProjectPath && isRead && { 301: moved }),
    400: { description: 'A parameter is wrong, or a rule is broken', body: eitherBody },
    ...(row.ignoresCredentials !== true && {
      401: { description: 'No credential, or one that is not accepted', body: messageBody },
      403: { description: 'Not allowed, or the token lacks a scope', body: eitherBody },
    }),
    ...(caller === 'administrator' && { 403: { description: 'Only for administrators', body: eitherBody } }),
    ...(hasParameters && {
      404: { description: 'There is no such thing, or the caller may not see it', body: eitherBody },
    }),
    405: { description: 'Not possible with this thing, or with this method', body: eitherBody },
    406: { description: 'A format other than JSON was asked for', body: errorBody },
    ...(!isRead && {
      409: { description: 'It is being changed by someone else, or is there already', body: messageBody },
      412: { description: 'It has changed since If-Unmodified-Since', body: messageBody },
      422: { description: 'It cannot be done', body: messageBody },
    }),
    ...(isWrite && {
      413: { description: 'The body is too large, or the project would store more than it may', body: messageBody },
      415: {
        description: row.bodyTextAs === undefined ? 'The body is neither JSON nor a form' : 'The body is not JSON',
        body: errorBody,
      },
    }),
    ...tooLong,
    429: {
      description: 'Too many requests',
      body: z.string(),
      contentType: 'text/plain',
      headers: { 'Retry-After': 'Whole seconds until the next call can succeed' },
    },
    503: {
      description: 'The database cannot be used at the moment, or too many write to it; nothing has changed',
      body: messageBody,
      headers: { 'Retry-After': 'Whole seconds until it is worth another try' },
    },
  }
}

/** Said before anything knows what is asked for, the latter without a body. */
const tooLong: Record<number, ResponseRow> = {
  414: { description: 'The URL is longer than 8 KiB; above 16 KiB there is no body' },
  431: { description: 'The headers are longer than 16 KiB, with the URL' },
}

const moved: ResponseRow = {
  description: 'The project has another path now',
  body: z.string(),
  contentType: 'text/plain',
  headers: { Location: 'The same call by the id of the project' },
}

function successOf(row: RestRoute, isPage: boolean): ResponseRow {
  if (row.content !== undefined) return { description: 'The content', body: z.string(), contentType: 'text/plain' }
  if (row.shape === undefined) return { description: 'Done' }
  if (!isPage && !row.isList) return { description: 'Done', body: row.shape.schema }
  return {
    description: isPage ? 'One page' : 'All of them',
    body: z.array(row.shape.schema),
    ...(isPage && { headers: listHeaders }),
  }
}

/** An operation behind several calls has several ids, because an id is one call's. */
function withIds<Access>(routes: readonly RouteShape<Access>[]): RouteShape<Access>[] {
  const taken = new Map<string, number>()
  for (const { documentation } of routes) {
    const id = documentation!.operationId
    taken.set(id, (taken.get(id) ?? 0) + 1)
  }
  return routes.map((route) => {
    const documentation = route.documentation!
    const { operationId } = documentation
    if (taken.get(operationId) === 1) return route
    const method = route.method === 'GET' ? '' : ` ${route.method.toLowerCase()}`
    const words = `${operationId}${method}${route.path.slice(API_PREFIX.length)}`
    const id = words.replaceAll(/[^a-z0-9]+([a-z0-9])/gi, (_, letter: string) => letter.toUpperCase())
    return { ...route, documentation: { ...documentation, operationId: id } }
  })
}
