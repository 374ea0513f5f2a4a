import { expect, test } from 'vitest'
import { consolePages } from '../../console-pages.js'
import { pageAddress } from './kept-filters.ts'

const page = (path: string) => consolePages.find((each) => each.path === path)!

test('the range and common filters are kept between Observe pages', () => {
  const query = new URLSearchParams('range=24h&project=shop%2Fweb&status=failed&q=x&span=1&ref=')
  expect(pageAddress(page('/insights'), query)).toBe('/insights?range=24h&project=shop%2Fweb')
  expect(pageAddress(page('/logs'), new URLSearchParams('q=x'))).toBe('/logs')
  expect(pageAddress(page('/ingest'), query)).toBe('/ingest')
})
