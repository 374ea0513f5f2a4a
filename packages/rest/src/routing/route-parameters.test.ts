import { listGroups } from '@penstock/core'
import { expect, test } from 'vitest'
import type { RestError } from './rest-error.ts'
import { type RestRoute, route } from './route.ts'
import { parameterMarks, requireSupported } from './route-parameters.ts'

const row: RestRoute = route({
  method: 'GET',
  path: '/groups/:place',
  operation: listGroups,
  summary: 'List groups.',
  parameters: {
    stored: ['owned'],
    noEffect: { statistics: 'no statistics in lists' },
    refused: {
      custom_attributes: 'no custom attributes',
      'not[iteration]': 'no iterations',
      'actions[][lfs]': 'no LFS',
    },
  },
})

test('each declaration gives one mark', () => {
  const marks = (name: string) => parameterMarks(row, name).map(({ mark }) => mark)
  expect(marks('search')).toEqual(['acted on'])
  expect(marks('place')).toEqual(['acted on'])
  expect(marks('owned')).toEqual(['stored and returned'])
  expect(marks('statistics')).toEqual(['no effect'])
  expect(marks('custom_attributes[*]')).toEqual(['refused'])
  expect(marks('not[iteration]')).toEqual(['refused'])
  expect(marks('not[labels]')).toEqual([])
  expect(marks('anything')).toEqual([])
})

test('a refused parameter is an error if it asks for something', () => {
  const errorOf = (values: Readonly<Record<string, unknown>>) => {
    try {
      requireSupported(row, values)
      return undefined
    } catch (error) {
      return [(error as RestError).status, (error as RestError).body]
    }
  }
  const refused = (name: string) => [400, { error: `${name} is not supported` }]
  expect(errorOf({ custom_attributes: { team: 'a' } })).toEqual(refused('custom_attributes'))
  expect(errorOf({ not: { iteration: 4 } })).toEqual(refused('not[iteration]'))
  expect(errorOf({ actions: [{ path: 'a' }, { lfs: 'true' }] })).toEqual(refused('actions[][lfs]'))
  for (const nothing of [undefined, null, '', false, 'false', [], {}]) {
    expect(errorOf({ custom_attributes: nothing })).toBeUndefined()
  }
  expect(errorOf({ not: { labels: 'a' }, anything: 1, statistics: true })).toBeUndefined()
})
