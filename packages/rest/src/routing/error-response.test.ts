import { DomainError, type Failure, type ParameterProblem } from '@penstock/core'
import { expect, test } from 'vitest'
import { toRestError } from './error-response.ts'

const answer = (failure: Failure, row = {}) => {
  const { status, body } = toRestError(new DomainError(failure), row)
  return [status, body]
}

test.each<[Failure, number, unknown]>([
  [{ code: 'unauthenticated' }, 401, { message: '401 Unauthorized' }],
  [{ code: 'forbidden' }, 403, { message: '403 Forbidden' }],
  [{ code: 'forbidden', reason: 'Why' }, 403, { message: '403 Forbidden - Why' }],
  [{ code: 'not_found' }, 404, { message: '404 Not found' }],
  [{ code: 'not_found', what: 'Wiki Page' }, 404, { message: '404 Wiki Page Not Found' }],
  [{ code: 'protected', message: 'Not this one' }, 405, { message: 'Not this one' }],
  [
    { code: 'page_too_far', what: 'Project', maxItems: 50_000 },
    405,
    {
      error:
        'Offset pagination has a maximum allowed offset of 50000 for requests that return objects of type Project. ' +
        'Remaining records can be retrieved using keyset pagination.',
    },
  ],
  [{ code: 'no_keyset_in_order' }, 405, { error: 'Keyset pagination is not yet available for this type of request' }],
  [{ code: 'conflict' }, 409, { message: '409 Conflict: Resource lock' }],
  [
    { code: 'ambiguous', what: 'variables', distinguishedBy: ['filter', 'environmentScope'] },
    409,
    { message: "There are multiple variables with provided parameters. Please use 'filter[environment_scope]'" },
  ],
  [{ code: 'conflict', reason: 'Label already exists' }, 409, { message: 'Label already exists' }],
  [{ code: 'unavailable', retryAfterSeconds: 5 }, 503, { message: '503 Service Unavailable' }],
  [{ code: 'changed_since' }, 412, { message: '412 Precondition Failed' }],
  [{ code: 'impossible', message: 'Not with this one' }, 422, { message: 'Not with this one' }],
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

test('formats validation errors with the function of the route', () => {
  const invalid = (fields: object) => `Failed: ${JSON.stringify(fields)}`
  expect(answer({ code: 'invalid', fields: { dueDate: ['x'] } }, { invalid })).toEqual([
    400,
    { message: 'Failed: {"due_date":["x"]}' },
  ])
})

test('Retry-After is in whole seconds, and at least 1', () => {
  const { headers } = toRestError(new DomainError({ code: 'too_often', retryAfterSeconds: 0.2 }))
  expect(headers).toEqual({ 'Retry-After': '1' })
})

const names = { group: 'id' }
const both = ['files', 'content']
test.each<[string, ParameterProblem[]]>([
  ['title is missing', [{ path: ['title'], problem: 'missing' }]],
  ['title is empty', [{ path: ['title'], problem: 'empty' }]],
  ['snippet_id is invalid', [{ path: ['snippetId'], problem: 'invalid' }]],
  ['id is invalid', [{ path: ['group'], problem: 'invalid' }]],
  ['visibility does not have a valid value', [{ path: ['visibility'], problem: 'unknown_value' }]],
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
