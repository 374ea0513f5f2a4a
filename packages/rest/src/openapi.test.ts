import { clearable, day, freeCommand, freeQuery, instant, pageInput } from '@penstock/core'
import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { areas } from './areas.ts'
import { restOpenApi } from './openapi.ts'
import { route } from './route.ts'

const uploadedFile = z.object({ fileName: z.string(), contentType: z.string(), bytes: z.instanceof(Uint8Array) })

const shape = { schema: z.object({ id: z.int() }).meta({ id: 'Thing' }), of: (value: unknown) => value }
const listThings = freeQuery(
  {
    name: 'listThings',
    caller: 'anyone',
    input: z.object({ group: z.union([z.int(), z.string()]), ...pageInput, updatedAfter: instant.optional() }),
  },
  async () => [],
)
const createThing = freeCommand(
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

test('names are those of REST, at every depth; types are told', () => {
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

test('a call has its statuses, its security and an id of its own', () => {
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

test.each([
  ['these', document],
  ['all areas', restOpenApi(areas, 'svc')],
])('the document of %s is OpenAPI', async (_, one) => {
  const result = await new Validator().validate(JSON.parse(JSON.stringify(one)))
  expect([result.errors, result.valid]).toEqual([undefined, true])
})
