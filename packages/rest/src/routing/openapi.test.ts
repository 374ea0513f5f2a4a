import { clearable, day, instant, pageInput, unscopedCommand, unscopedQuery } from '@penstock/core'
import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { areas } from '../areas.ts'
import { restOpenApi } from './openapi.ts'
import { route } from './route.ts'

const uploadedFile = z.object({ fileName: z.string(), contentType: z.string(), bytes: z.instanceof(Uint8Array) })

const shape = { schema: z.object({ id: z.int() }).meta({ id: 'Thing' }), of: (value: unknown) => value }
const listThings = unscopedQuery(
  {
    name: 'listThings',
    caller: 'anyone',
    input: z.object({ group: z.union([z.int(), z.string()]), ...pageInput, updatedAfter: instant.optional() }),
  },
  async () => [],
)
const createThing = unscopedCommand(
  {
    name: 'createThing',
    input: z.object({
      group: z.int(),
      dueDate: clearable(day),
      files: z.array(z.object({ filePath: z.string() })),
      file: uploadedFile.optional(),
    }),
  },
  async () => 1,
)
const names = { group: 'id' }
const document = restOpenApi(
  [
    {
      tag: 'things',
      routes: [
        route({ method: 'GET', path: '/groups/:id/things', names, operation: listThings, summary: 'List', shape }),
        route({ method: 'POST', path: '/groups/:id/things', names, operation: createThing, summary: 'Create', shape }),
        route({ method: 'GET', path: '/all/:id', names, operation: listThings, summary: 'All', shape }),
      ],
    },
  ],
  'svc',
) as { paths: Record<string, Record<string, Record<string, unknown>>> }

test('describes parameters by their REST names at every depth, with their types', () => {
  const { get, post } = document.paths['/api/v4/groups/{id}/things']!
  expect((get!.parameters as { name: string; in: string }[]).map((one) => `${one.in} ${one.name}`)).toEqual([
    'path id',
    'query page',
    'query per_page',
    'query updated_after',
  ])
  expect(get!.parameters).toContainEqual({
    name: 'updated_after',
    in: 'query',
    required: false,
    schema: { type: 'string', format: 'date-time' },
  })
  const content = (post!.requestBody as { content: Record<string, { schema: unknown }> }).content
  expect(Object.keys(content)).toEqual(['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'])
  expect(content['application/json']!.schema).toMatchObject({
    required: ['files'],
    properties: {
      due_date: { anyOf: [{ type: 'null' }, { type: 'string', format: 'date' }] },
      files: { items: { properties: { file_path: { type: 'string' } }, required: ['file_path'] } },
      file: { type: 'string', format: 'binary' },
    },
  })
})

test('does not describe input from headers as a parameter', () => {
  const { paths } = restOpenApi(areas, 'svc') as typeof document
  const { post } = paths['/api/v4/projects/{id}/issues']!
  const { schema } = (post!.requestBody as { content: Record<string, { schema: { properties: object } }> }).content[
    'application/json'
  ]!
  expect(schema.properties).toHaveProperty('title')
  expect(schema.properties).not.toHaveProperty('captcha')
})

test('describes the statuses, security and unique id of each call', () => {
  const { get, post } = document.paths['/api/v4/groups/{id}/things']!
  expect(Object.keys(get!.responses as object)).toEqual(
    expect.arrayContaining(['200', '400', '401', '403', '404', '429']),
  )
  expect(Object.keys(post!.responses as object)).toEqual(
    expect.arrayContaining(['201', '400', '401', '413', '415', '429']),
  )
  expect(get!.security).toContainEqual({})
  expect(post!.security).not.toContainEqual({})
  expect([get!.operationId, document.paths['/api/v4/all/{id}']!.get!.operationId]).toEqual([
    'listThingsGroupsIdThings',
    'listThingsAllId',
  ])
})

test('every call of all areas has a unique id in camelCase', () => {
  const { paths } = restOpenApi(areas, 'svc') as typeof document
  const ids = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId))
  expect(ids.filter((id) => !/^[a-z]+(?:[A-Z][a-z0-9]*)*$/.test(String(id)))).toEqual([])
  expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([])
})

test('every object in a response has a named component', () => {
  const { paths } = restOpenApi(areas, 'svc') as unknown as { paths: typeof document.paths }
  const unnamed = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { responses }]) =>
      Object.values(responses as Record<string, { content?: Record<string, { schema: unknown }> }>)
        .flatMap(({ content = {} }) => Object.values(content))
        .filter(({ schema }) => JSON.stringify(schema).includes('"properties"'))
        .map(() => `${method} ${path}`),
    ),
  )
  expect(unnamed).toEqual([])
})

test('links from calls that create a resource to the calls for that resource', () => {
  const { paths } = restOpenApi(areas, 'svc') as unknown as { paths: typeof document.paths }
  const links = (path: string) =>
    (paths[`/api/v4${path}`]!.post!.responses as Record<string, { links?: Record<string, unknown> }>)['201']!.links
  expect(links('/projects/{id}/issues')).toMatchObject({
    getProjectIssue: {
      operationId: 'getProjectIssue',
      parameters: { id: '$request.path.id', issue_iid: '$response.body#/iid' },
    },
    updateIssue: {
      operationId: 'updateIssue',
      parameters: { id: '$request.path.id', issue_iid: '$response.body#/iid' },
    },
    removeIssue: {
      operationId: 'removeIssue',
      parameters: { id: '$request.path.id', issue_iid: '$response.body#/iid' },
    },
  })
  expect(links('/groups')).toMatchObject({ createGroupMilestone: { parameters: { id: '$response.body#/id' } } })
  expect(links('/users/{id}/block')).toBeUndefined()
})

test('describes the content of responses: a list without pages, JSON with headers, a raw file', () => {
  const { paths } = restOpenApi(areas, 'svc') as unknown as { paths: typeof document.paths }
  const contentOf = (path: string) =>
    (paths[`/api/v4${path}`]!.get!.responses as Record<string, { content: object }>)['200']!.content
  expect(contentOf('/groups/{id}/milestones/{milestone_id}/burndown_events')).toMatchObject({
    'application/json': { schema: { type: 'array' } },
  })
  expect(contentOf('/projects/{id}/repository/files/{file_path}')).toEqual({
    'application/json': { schema: { $ref: '#/components/schemas/RepositoryFile' } },
  })
  const { components } = restOpenApi(areas, 'svc') as unknown as { components: { schemas: Record<string, object> } }
  expect(components.schemas.RepositoryFile).toMatchObject({
    properties: { blob_id: { type: 'string' }, content: { type: 'string' } },
  })
  expect(Object.keys(contentOf('/projects/{id}/repository/files/{file_path}/raw'))).toEqual(['text/plain'])
})

test.each([
  ['the test area', document],
  ['all areas', restOpenApi(areas, 'svc')],
])('the document of %s is valid OpenAPI', async (_, one) => {
  const result = await new Validator().validate(JSON.parse(JSON.stringify(one)))
  expect([result.errors, result.valid]).toEqual([undefined, true])
})
