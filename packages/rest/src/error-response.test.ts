import { DomainError, type Failure, type ParameterProblem } from '@penstock/core'
import { expect, test } from 'vitest'
import { restErrorOf } from './error-response.ts'

const answer = (failure: Failure, row = {}) => {
  const { status, body } = restErrorOf(new DomainError(failure), row)
  return [status, body]
}

test.each<[Failure, number, unknown]>([
  [{ code: 'unauthenticated' }, 401, { message: '401 Unauthorized' }],
  [{ code: 'forbidden' }, 403, { message: '403 Forbidden' }],
  [{ code: 'forbidden', reason: 'Why' }, 403, { message: '403 Forbidden - Why' }],
  [{ code: 'not_found' }, 404, { message: '404 Not found' }],
  [{ code: 'not_found', what: 'Wiki Page' }, 404, { message: '404 Wiki Page Not Found' }],
  [{ code: 'not_allowed' }, 405, { message: '405 Method Not Allowed' }],
  [{ code: 'not_pageable', message: 'Too far' }, 405, { error: 'Too far' }],
  [{ code: 'conflict', reason: 'Resource lock' }, 409, { message: '409 Conflict: Resource lock' }],
  [{ code: 'precondition_failed' }, 412, { message: '412 Precondition Failed' }],
  [{ code: 'unprocessable' }, 422, { message: '422 Unprocessable Entity' }],
  [{ code: 'refused', message: 'No.' }, 400, { message: 'No.' }],
  [{ code: 'invalid', fields: { redirectUri: ['must be.'] } }, 400, { message: { redirect_uri: ['must be.'] } }],
  [
    { code: 'too_often', retryAfterSeconds: 7 },
    429,
    { message: { error: 'This endpoint has been requested too many times. Try again later.' } },
  ],
])('%j: %i', (failure, status, body) => {
  expect(answer(failure)).toEqual([status, body])
})

test('an area has words of its own for what is invalid', () => {
  const invalid = (fields: object) => `Failed: ${JSON.stringify(fields)}`
  expect(answer({ code: 'invalid', fields: { dueDate: ['x'] } }, { invalid })).toEqual([
    400,
    { message: 'Failed: {"due_date":["x"]}' },
  ])
})

test('Retry-After is whole seconds, and one at least', () => {
  const { headers } = restErrorOf(new DomainError({ code: 'too_often', retryAfterSeconds: 0.2 }))
  expect(headers).toEqual({ 'Retry-After': '1' })
})

const names = { group: 'id' }
const both = ['files', 'content']
test.each<[string, ParameterProblem[]]>([
  ['title is missing', [{ path: ['title'], problem: 'missing' }]],
  ['title is empty', [{ path: ['title'], problem: 'empty' }]],
  ['snippet_id is invalid', [{ path: ['snippetId'], problem: 'invalid' }]],
  ['id is invalid', [{ path: ['group'], problem: 'invalid' }]],
  ['visibility does not have a valid value', [{ path: ['visibility'], problem: 'not_a_value' }]],
  ['per_page has a value not allowed', [{ path: ['perPage'], problem: 'value_not_allowed' }]],
  ['files[0][file_path] is empty', [{ path: ['files', 0, 'filePath'], problem: 'empty' }]],
  ['files, content are mutually exclusive', [{ path: [], problem: 'mutually_exclusive', names: both }]],
  [
    'files, content are missing, exactly one parameter must be provided',
    [{ path: [], problem: 'exactly_one', names: both }],
  ],
  [
    'files, content are missing, at least one parameter must be provided',
    [{ path: [], problem: 'at_least_one', names: both }],
  ],
  [
    'start_date, end_date provide all or none of parameters',
    [{ path: [], problem: 'all_or_none', names: ['startDate', 'endDate'] }],
  ],
  [
    'name is missing, scopes is missing, scopes is empty',
    [
      { path: ['name'], problem: 'missing' },
      { path: ['scopes'], problem: 'missing' },
      { path: ['scopes'], problem: 'missing' },
    ],
  ],
])('%s', (error, problems) => {
  expect(answer({ code: 'parameters', problems }, { names, emptyWhenMissing: ['scopes'] })).toEqual([400, { error }])
})
