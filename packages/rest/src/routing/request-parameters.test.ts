import { urlEncodedEntries } from '@penstock/http'
import { describe, expect, test } from 'vitest'
import { mergeParameters } from './request-parameters.ts'
import { RestError } from './rest-error.ts'

const inQuery = (text: string) => mergeParameters({ query: urlEncodedEntries(text), path: {} })

test.each([
  ['x[]=a&x[]=b', { x: ['a', 'b'] }],
  ['a[b]=1&a[c][d]=2', { a: { b: '1', c: { d: '2' } } }],
  ['a[0][b]=1&a[1][b]=2', { a: { 0: { b: '1' }, 1: { b: '2' } } }],
  [
    'f[][p]=1&f[][c]=x&f[][p]=2&f[][c]=y',
    {
      f: [
        { p: '1', c: 'x' },
        { p: '2', c: 'y' },
      ],
    },
  ],
  ['f[][t][]=1&f[][t][]=2&f[][p]=x', { f: [{ t: ['1', '2'], p: 'x' }] }],
  ['a=1&a[b]=2', { a: { b: '2' } }],
  ['a[b=1&[x]=2&a[b]c=3', { 'a[b': '1', '[x]': '2', 'a[b]c': '3' }],
])('%s', (text, values) => {
  expect(inQuery(text).values).toEqual(values)
})

test('the path takes precedence over the body, and the body over the query', () => {
  const query = urlEncodedEntries('id=1&title=a&x=1&x=2&y=1&y=2&z=1')
  const { values, repeated } = mergeParameters({ query, body: { id: 2, title: null, x: 3 }, path: { id: '5' } })
  expect(values).toEqual({ id: '5', title: null, x: 3, y: '2', z: '1' })
  expect([...repeated]).toEqual([['y', ['1', '2']]])
})

test.each([[[1]], ['text'], [5], [null], [undefined]])('ignores a body that is not an object: %j', (body) => {
  expect(mergeParameters({ query: [], body, path: {} }).values).toEqual({})
})

test('treats names such as __proto__ like any other', () => {
  const { values } = inQuery('__proto__[x]=1&constructor[prototype][x]=2&a[__proto__][x]=3')
  expect(Object.keys(values)).toEqual(['__proto__', 'constructor', 'a'])
  expect(({} as Record<string, unknown>).x).toBeUndefined()
  expect((values.a as Record<string, unknown>).x).toBeUndefined()
})

test.each([
  ['NUL', { a: ['\0'] }],
  ['NUL in a name', { '\0': 1 }],
  ['an unpaired surrogate', { a: { b: '\ud800' } }],
  ['deep nesting', JSON.parse('[{"a":'.repeat(40) + 1 + '}]'.repeat(40))[0]],
])('rejects %s', (_, body) => {
  expect(() => mergeParameters({ query: [], body, path: {} })).toThrow(
    expect.objectContaining({ status: 400, body: { error: 'Bad Request' } }),
  )
})

test('rejects NUL in each value of a parameter that is repeated', () => {
  for (const text of ['a=%00&a=1', 'a=1&a=%00', 'a=1&a=%00&a=2']) {
    expect(() => inQuery(text)).toThrow(expect.objectContaining({ status: 400 }))
  }
})

test('rejects a name that is nested too deeply, and accepts a file with any bytes', () => {
  expect(() => inQuery(`a${'[b]'.repeat(32)}=1`)).toThrow(expect.objectContaining({ status: 400 }))
  const file = { fileName: 'x', contentType: 'image/png', bytes: Buffer.from('\0') }
  expect(mergeParameters({ query: [], form: [['file', file]], path: {} }).values).toEqual({ file })
})

describe('parameters that identify the caller', () => {
  const entry = (name: string, value = 'x') => [name, value] as const
  const names = ['sudo', 'private_token', 'access_token', 'bearer_token', 'job_token']

  test.each(
    names.flatMap((name) => [
      [`${name}[]`, [entry(`${name}[]`)]],
      [`${name}[a]`, [entry(`${name}[a]`)]],
      [`${name} twice`, [entry(name, 'a'), entry(name, 'b')]],
      [`${name} as text and list`, [entry(name), entry(`${name}[]`)]],
    ]) as [string, [string, string][]][],
  )('%s is rejected, in the query and in a form', (_, entries) => {
    const answer = { status: 400, body: { error: expect.stringMatching(/^\w+ is invalid$/) } }
    expect(() => mergeParameters({ query: entries, path: {} })).toThrow(expect.objectContaining(answer))
    expect(() => mergeParameters({ query: [], form: entries, path: {} })).toThrow(expect.objectContaining(answer))
    const both = { query: entries, form: [entry('sudo', 'mira'), entry('private_token', 'x')], path: {} }
    expect(() => mergeParameters(both)).toThrow(expect.objectContaining(answer))
  })

  test.each([[['mira']], [{ a: 'mira' }], [true]])('sudo with %j in a JSON body is rejected', (sudo) => {
    expect(() => mergeParameters({ query: [], body: { sudo }, path: {} })).toThrow(RestError)
  })

  test.each(['sudo[]', 'sudo[a]', 'sudo['])('%s in a JSON body is rejected', (name) => {
    expect(() => mergeParameters({ query: [], body: { [name]: 'mira' }, path: {} })).toThrow(RestError)
    expect(() => mergeParameters({ query: [[name, 'mira']], path: {} })).toThrow(RestError)
  })

  test.each([['mira'], [7], [null], ['']])('sudo with %j in a JSON body is accepted', (sudo) => {
    expect(mergeParameters({ query: [], body: { sudo }, path: {} }).values).toEqual({ sudo })
  })
})
