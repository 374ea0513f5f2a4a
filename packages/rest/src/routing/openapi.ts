import { openApiDocument, parsePathParameters, type ResponseRow, type RouteShape } from '@penstock/http'
import { z } from 'zod'
import { withLinks } from './openapi-links.ts'
import { HEADER_INPUT, parametersOf, snakeCase } from './parameter-names.ts'
import { API_PREFIX, type Area, type RestRoute, successStatus } from './route.ts'
import { isDateOrTime, isDay, isFile, traitsOf } from './schema-traits.ts'

type Json = Readonly<Record<string, unknown>>

/** Returns the OpenAPI 3.1 document of the areas, generated from the schemas that validate requests and from the shapes. */
export function restOpenApi(areas: readonly Area[], serviceName: string): Json {
  const routes = areas.flatMap(({ tag, routes }) => routes.map((row) => routeShape(tag, row)))
  return openApiDocument(withLinks(withUniqueIds(routes)), {
    info: {
      title: 'Penstock REST API',
      version: 'v4',
      description:
        'Every method accepts parameters in the query, in a form or in JSON. The path takes precedence over the body, and the body over the query.',
    },
    tags: areas.map(({ tag }) => ({ name: tag, description: `${tag} API` })),
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
      const anonymous = operation.caller === 'anyone' ? [undefined] : []
      return [
        'privateToken',
        'privateTokenParameter',
        'bearer',
        'accessTokenParameter',
        ...(takesJobTokens ? ['jobToken'] : []),
        'session',
        ...anonymous,
      ]
    },
    refine(schema, json, io) {
      // REST uses snake_case also for names within a parameter.
      if (io === 'input' && json.properties !== undefined) {
        json.properties = Object.fromEntries(
          Object.entries(json.properties).map(([name, inner]) => [wireName(name), inner]),
        )
        if (json.required !== undefined) json.required = json.required.map(wireName)
      }
      if (isDateOrTime(schema)) json.format = isDay(schema) ? 'date' : 'date-time'
      if (isFile(schema)) {
        for (const key of Object.keys(json)) delete json[key]
        Object.assign(json, { type: 'string', format: 'binary' })
      }
    },
  })
}

/** Headers keep their names. */
const wireName = (name: string): string => (/^[A-Z]/.test(name) ? name : snakeCase(name))

function routeShape(tag: string, row: RestRoute): RouteShape<RestRoute> {
  const inPath = new Set(parsePathParameters(row.path).map(({ name }) => name))
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
    ...(row.operation.isConditional && { headers: conditionalHeaders }),
    documentation: {
      operationId: row.operation.name,
      tag,
      summary: row.summary,
      ...(row.isDeprecated && { isDeprecated: true }),
      responses: responsesOf(row, { hasParameters: parameters.length > 0, isWrite }),
    },
  }
}

/** A value that is not a time is ignored. */
const conditionalHeaders = z.object({ 'If-Unmodified-Since': z.string().optional() })

/** Returns the schema of the path parameters, including those that the operation has no parameter for. */
function pathParameters(names: ReadonlySet<string>, known: ReturnType<typeof parametersOf>): z.ZodType {
  const schemaOf = (name: string) =>
    (known.find((parameter) => parameter.name === name)?.schema ?? z.string()) as z.ZodType
  return z.object(Object.fromEntries([...names].map((name) => [name, schemaOf(name)])))
}

const messageBody = z
  .object({
    message: z.union([z.string(), z.array(z.string()), z.record(z.string(), z.unknown())]),
    error_code: z.string().optional().describe('The reason as a word, if there is one'),
  })
  .meta({ id: 'Message', description: 'An error reported by the operation' })
const errorBody = z
  .object({ error: z.string(), error_description: z.string().optional(), scope: z.string().optional() })
  .meta({ id: 'Error', description: 'An error found before the operation ran' })
const eitherBody = z.union([messageBody, errorBody]).meta({ id: 'MessageOrError' })
const captchaBody = z
  .object({
    needs_captcha_response: z.literal(true),
    spam_log_id: z.int(),
    captcha_site_key: z.string(),
    message: z.object({ error: z.string() }),
  })
  .meta({
    id: 'CaptchaChallenge',
    description: 'The request looks like spam, and can be repeated with a solved CAPTCHA',
  })

const listHeaders = {
  'X-Page': 'Number of this page',
  'X-Per-Page': 'Number of items per page',
  'X-Next-Page': 'Number of the next page, or empty',
  'X-Prev-Page': 'Number of the previous page, or empty',
  'X-Total': 'Total number of items; missing above 10,000',
  'X-Total-Pages': 'Total number of pages; missing above 10,000 items',
  Link: 'URLs of other pages, with the relations prev, next, first and last',
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
    [successStatus(row)]: successOf(row, keys.includes('perPage')),
    ...(row.isCreated && { 201: { ...successOf(row, false), description: 'Created' } }),
    ...(row.shape &&
      successStatus(row) !== 204 &&
      !isRead && { 204: { description: 'Done; the response has no body' } }),
    ...(isRead && { 304: { description: 'Not changed since the response that If-None-Match names' } }),
    ...(row.isUnchanged && { 304: { description: 'Nothing had to be changed' } }),
    ...(isProjectPath && isRead && { 301: moved }),
    400: { description: 'A parameter is invalid, or a rule is violated', body: eitherBody },
    ...(row.ignoresCredentials !== true && {
      401: { description: 'The credential is missing or not accepted', body: messageBody },
      403: { description: 'The caller lacks the permission, or the token lacks a scope', body: eitherBody },
    }),
    ...(caller === 'administrator' && { 403: { description: 'The caller is not an administrator', body: eitherBody } }),
    // A job token can name the job of the request.
    ...((hasParameters || row.takesJobTokens) && {
      404: { description: 'The resource does not exist, or the caller may not see it', body: eitherBody },
    }),
    405: { description: 'The method is not supported, or the resource does not allow the change', body: eitherBody },
    406: { description: 'The requested format is not JSON, or there is nothing to change', body: eitherBody },
    ...(!isRead && {
      409: {
        description: 'The resource exists already, or another request is changing it',
        body: keys.includes(HEADER_INPUT) ? z.union([messageBody, captchaBody]) : messageBody,
      },
      422: { description: 'The change is not possible', body: eitherBody },
    }),
    ...(isRead &&
      keys.some((key) => key === 'search' || key === 'searchTitle') && {
        422: { description: 'The search takes too long', body: messageBody },
      }),
    ...(row.operation.isConditional && {
      412: { description: 'The resource has changed since If-Unmodified-Since', body: messageBody },
    }),
    ...(isWrite && {
      413: { description: 'The body is too large, or the project would exceed its storage limit', body: messageBody },
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
      ...(row.operation.limits.length > 0 && { otherBodies: { 'application/json': messageBody } }),
      headers: { 'Retry-After': 'Seconds until the next request can succeed' },
    },
    503: {
      description: 'The database is unavailable or has too many pending writes; nothing was changed',
      body: messageBody,
      headers: { 'Retry-After': 'Seconds to wait before a retry' },
    },
  }
}

/** Errors that are sent before the route is known. */
const tooLong: Record<number, ResponseRow> = {
  414: { description: 'The URL is longer than 8 KiB; above 16 KiB the response has no body' },
  431: { description: 'The URL and the headers together are longer than 16 KiB' },
}

const moved: ResponseRow = {
  description: 'The project has moved to another path',
  body: z.string(),
  contentType: 'text/plain',
  headers: { Location: 'The same URL with the id of the project' },
}

function successOf(row: RestRoute, isPage: boolean): ResponseRow {
  if (row.content !== undefined) {
    const otherBodies = Object.fromEntries((row.contentTypes ?? []).map((type) => [type, z.string()]))
    return {
      description: 'The content',
      body: z.string(),
      contentType: 'text/plain',
      ...(row.contentTypes && { otherBodies }),
    }
  }
  if (row.shape === undefined) return { description: 'Done' }
  if (!isPage && !row.isList) return { description: 'Done', body: row.shape.schema }
  return {
    description: isPage ? 'One page of the list' : 'The complete list',
    body: z.array(row.shape.schema),
    ...(isPage && { headers: listHeaders }),
  }
}

/** Makes operation ids unique: if several calls share an operation, the method and path are appended to its name. */
function withUniqueIds<Access>(routes: readonly RouteShape<Access>[]): RouteShape<Access>[] {
  const uses = new Map<string, number>()
  for (const { documentation } of routes) {
    const id = documentation!.operationId
    uses.set(id, (uses.get(id) ?? 0) + 1)
  }
  return routes.map((route) => {
    const documentation = route.documentation!
    const { operationId } = documentation
    if (uses.get(operationId) === 1) return route
    const method = route.method === 'GET' ? '' : ` ${route.method.toLowerCase()}`
    const words = `${operationId}${method}${route.path.slice(API_PREFIX.length)}`
    const id = words.replaceAll(/[^a-z0-9]+([a-z0-9])/gi, (_, letter: string) => letter.toUpperCase())
    return { ...route, documentation: { ...documentation, operationId: id } }
  })
}
