import { expect, test } from 'vitest'
import { z } from 'zod'
import { openApiDocument } from './openapi.ts'
import type { Route } from './route.ts'

const thing = z
  .strictObject({ name: z.string().max(80), until: z.iso.datetime().nullable(), parts: z.array(z.int()) })
  .meta({ id: 'Thing', description: 'A thing' })
const draft = z.strictObject({ name: z.string().trim().min(1), parts: z.array(z.int()).default([]) })

const routes: Route<undefined, 'anyone' | 'editors'>[] = [
  {
    method: 'PATCH',
    path: '/things/:id',
    access: 'editors',
    params: z.object({ id: z.string().meta({ description: 'Its id' }) }),
    query: z.object({ force: z.enum(['true', 'false']).optional() }),
    body: draft,
    documentation: {
      operationId: 'changeThing',
      tag: 'things',
      summary: 'Change a thing',
      responses: {
        200: { description: 'Changed', body: thing, headers: { ETag: 'Its version' } },
        404: { description: 'No such thing' },
      },
    },
    handle: () => ({ status: 200 }),
  },
  {
    method: 'GET',
    path: '/things/:id',
    access: 'anyone',
    documentation: {
      operationId: 'getThings',
      tag: 'things',
      summary: 'All',
      responses: { 200: { description: 'All', body: z.array(thing) } },
    },
    handle: () => ({ status: 200 }),
  },
  { method: 'GET', path: '/hidden', access: 'anyone', handle: () => ({ status: 200 }) },
]

test('describes routes by their schemas: requests before parsing, responses after it', () => {
  const document = openApiDocument(routes, {
    info: { title: 'Things', version: '1.2.3' },
    securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'KEY' } },
    security: (access) => (access === 'anyone' ? [] : ['key']),
  })
  const reference = { $ref: '#/components/schemas/Thing' }
  expect(document).toMatchObject({ openapi: '3.1.0', info: { title: 'Things', version: '1.2.3' } })
  expect(document.paths).toEqual({
    '/things/{id}': {
      patch: {
        operationId: 'changeThing',
        tags: ['things'],
        summary: 'Change a thing',
        security: [{ key: [] }],
        parameters: [
          { name: 'id', in: 'path', required: true, description: 'Its id', schema: { type: 'string' } },
          { name: 'force', in: 'query', required: false, schema: { type: 'string', enum: ['true', 'false'] } },
        ],
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: {
                type: 'object',
                properties: {
                  name: { type: 'string', minLength: 1 },
                  parts: {
                    type: 'array',
                    default: [],
                    items: { type: 'integer', minimum: -9007199254740991, maximum: 9007199254740991 },
                  },
                },
                required: ['name'],
                additionalProperties: false,
              },
            },
          },
        },
        responses: {
          200: {
            description: 'Changed',
            headers: { ETag: { description: 'Its version', schema: { type: 'string' } } },
            content: { 'application/json': { schema: reference } },
          },
          404: { description: 'No such thing' },
        },
      },
      get: {
        operationId: 'getThings',
        tags: ['things'],
        summary: 'All',
        security: [],
        responses: {
          200: { description: 'All', content: { 'application/json': { schema: { type: 'array', items: reference } } } },
        },
      },
    },
  })
  expect(document.components).toMatchObject({
    schemas: { Thing: { type: 'object', description: 'A thing', required: ['name', 'until', 'parts'] } },
    securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'KEY' } },
  })
})
