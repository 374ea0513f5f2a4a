import { clearable, day, instant, namespaceRef } from '@penstock/core'
import { urlEncodedEntries } from '@penstock/http'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { mergeParameters } from './request-parameters.ts'
import { toInput } from './to-input.ts'

const uploadedFile = z.object({ fileName: z.string(), contentType: z.string(), bytes: z.instanceof(Uint8Array) })

const schema = z.object({
  group: namespaceRef.optional(),
  title: z.string().min(1).optional(),
  description: clearable(z.string()),
  count: z.int().optional(),
  weight: z.number().nullish(),
  isOpen: z.boolean().optional(),
  withStats: z.boolean().default(false),
  state: z.enum(['open', 'closed']).optional(),
  iids: z.array(z.int()).optional(),
  labels: z.union([z.string(), z.array(z.string())]).optional(),
  since: instant.optional().meta({ description: 'From when' }),
  dueDate: clearable(day),
  needed: z.string().optional(),
  files: z.array(z.object({ filePath: z.string(), isBinary: z.boolean().optional() })).optional(),
  frontMatter: z.record(z.string(), z.string()).optional(),
  upload: uploadedFile.optional(),
  anything: z.unknown().optional(),
})
const names = { group: 'id' }

const read = (query: string, path: Record<string, string> = {}) =>
  toInput(schema, names, mergeParameters({ query: urlEncodedEntries(query), path }))
const readJson = (body: unknown) => toInput(schema, names, mergeParameters({ query: [], body, path: {} }))

test.each([
  ['unknown=1&anything_else=2', {}],
  ['id=5', { group: 5 }],
  ['id=-5', { group: -5 }],
  ['id=ops/5', { group: 'ops/5' }],
  ['title=5', { title: '5' }],
  ['count=5', { count: 5 }],
  ['count=-05', { count: -5 }],
  ['count=', {}],
  ['count=x5', { count: 'x5' }],
  ['count=1.5', { count: 1.5 }],
  ['weight=1.5', { weight: 1.5 }],
  ['weight=', { weight: null }],
  ['is_open=YES', { isOpen: true }],
  ['is_open=off', { isOpen: false }],
  ['is_open=', {}],
  ['is_open=maybe', { isOpen: 'maybe' }],
  ['with_stats=', {}],
  ['state=', { state: '' }],
  ['iids=1, 2,x', { iids: [1, 2, 'x'] }],
  ['iids=1&iids=2', { iids: [1, 2] }],
  ['iids[]=1&iids[]=2', { iids: [1, 2] }],
  ['iids[0]=1&iids[1]=2', { iids: [1, 2] }],
  ['iids=', { iids: [] }],
  ['labels=a,b', { labels: 'a,b' }],
  ['labels[]=a,b', { labels: ['a,b'] }],
  ['title=a&title=b', { title: 'b' }],
  ['since=', {}],
  ['since=2026-02-03', { since: '2026-02-03' }],
  ['due_date=', { dueDate: null }],
  ['front_matter[camelCase]=x', { frontMatter: { camelCase: 'x' } }],
  [
    'files[][file_path]=a&files[][is_binary]=1&files[][file_path]=b&files[][x]=y',
    { files: [{ filePath: 'a', isBinary: true }, { filePath: 'b' }] },
  ],
  ['files[1][file_path]=b&files[0][file_path]=a', { files: [{ filePath: 'a' }, { filePath: 'b' }] }],
  ['files=x', { files: ['x'] }],
  ['upload=x', { upload: 'x' }],
])('%s', (query, input) => {
  expect(read(query)).toEqual(input)
})

test.each([
  [{ title: 5 }, { title: '5' }],
  [{ title: true }, { title: 'true' }],
  [{ title: null, weight: null, with_stats: null, count: null }, { weight: null }],
  [{ description: null }, { description: null }],
  [{ count: '5' }, { count: 5 }],
  [{ count: true }, { count: true }],
  [{ is_open: 1 }, { isOpen: true }],
  [{ is_open: 2 }, { isOpen: 2 }],
  [{ iids: 5 }, { iids: [5] }],
  [{ iids: {} }, { iids: {} }],
  [{ files: [{ file_path: 'a', is_binary: 'f' }, 7] }, { files: [{ filePath: 'a', isBinary: false }, 7] }],
  [{ title: { a: 1 } }, { title: { a: 1 } }],
  [{ anything: { a: [null] } }, { anything: { a: [null] } }],
])('JSON %j', (body, input) => {
  expect(readJson(body)).toEqual(input)
})

test('converts null to an empty text for a required text', () => {
  const needed = z.object({ title: z.string().min(1) })
  expect(toInput(needed, {}, mergeParameters({ query: [], body: { title: null }, path: {} }))).toEqual({ title: '' })
})

test('converts parameters of a schema with refinements', () => {
  const ruled = z.object({ isOpen: z.boolean() }).superRefine(() => {})
  expect(toInput(ruled, {}, mergeParameters({ query: [['is_open', 't']], path: {} }))).toEqual({ isOpen: true })
})

test('passes on a file unchanged', () => {
  const upload = { fileName: 'a.png', contentType: 'image/png', bytes: Buffer.from('x') }
  const input = toInput(schema, names, mergeParameters({ query: [], form: [['upload', upload]], path: {} }))
  expect(schema.parse(input).upload).toEqual(upload)
})
