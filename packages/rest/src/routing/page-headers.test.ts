import { type Page, pageInput } from '@penstock/core'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { keysetHeaders, pageHeaders } from './page-headers.ts'

const at = {
  url: 'https://svc.example.test/api/v4/groups/ops%2Ftools/wikis',
  input: z.object({
    group: z.union([z.int(), z.string()]),
    iids: z.array(z.int()).optional(),
    withContent: z.boolean().default(false),
    ...pageInput,
    cursor: z.string().optional(),
  }),
  names: { group: 'id' },
  values: { id: 'ops/tools', per_page: '500', private_token: 'secret', iids: ['1', '2'] },
}
const page = (changes: Partial<Page<unknown>>): Page<unknown> => ({
  items: [1],
  page: 1,
  perPage: 100,
  hasNext: false,
  total: 1,
  ...changes,
})
const url = (number: number) =>
  `<${at.url}?id=ops%2Ftools&iids%5B%5D=1&iids%5B%5D=2&page=${number}&per_page=500&with_content=false>`

test('links have every parameter of the list, sorted, as sent or by default, and no secrets', () => {
  expect(pageHeaders(page({ page: 2, hasNext: true, total: 205 }), at)).toEqual({
    'X-Page': '2',
    'X-Per-Page': '100',
    'X-Next-Page': '3',
    'X-Prev-Page': '1',
    'X-Total': '205',
    'X-Total-Pages': '3',
    Link: `${url(1)}; rel="prev", ${url(3)}; rel="next", ${url(1)}; rel="first", ${url(3)}; rel="last"`,
  })
})

test('an empty list has one page', () => {
  expect(pageHeaders(page({ items: [], total: 0 }), at)).toEqual({
    'X-Page': '1',
    'X-Per-Page': '100',
    'X-Next-Page': '',
    'X-Prev-Page': '',
    'X-Total': '0',
    'X-Total-Pages': '1',
    Link: `${url(1)}; rel="first", ${url(1)}; rel="last"`,
  })
})

test('a page beyond the last one has neither a next nor a previous page', () => {
  expect(pageHeaders(page({ page: 7, items: [] }), at)).toMatchObject({
    'X-Page': '7',
    'X-Next-Page': '',
    'X-Prev-Page': '',
    Link: `${url(1)}; rel="first", ${url(1)}; rel="last"`,
  })
})

test('without a total, there are no totals and no last page', () => {
  const headers = pageHeaders(page({ hasNext: true, total: undefined }), at)
  expect(Object.keys(headers)).toEqual(['X-Page', 'X-Per-Page', 'X-Next-Page', 'X-Prev-Page', 'Link'])
  expect(headers.Link).toBe(`${url(2)}; rel="next", ${url(1)}; rel="first"`)
})

test('keyset pagination has only a link to the next page', () => {
  expect(keysetHeaders({ items: [], perPage: 1, nextCursor: undefined }, at)).toEqual({})
  const values = { id: '5', pagination: 'ignored here' }
  expect(keysetHeaders({ items: [], perPage: 1, nextCursor: 'abc' }, { ...at, values })).toEqual({
    Link: `<${at.url}?cursor=abc&id=5&page=1&per_page=20&with_content=false>; rel="next"`,
  })
})
