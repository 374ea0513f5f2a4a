import { expect, test } from 'vitest'
import { KeptFilters } from './kept-filters.ts'

const at = (path: string, query = '') => ({ path, query: new URLSearchParams(query) })

/** Shows pages one after another, and returns the address to which a link to `path` leads from the last one. */
function addressAfter(path: string, ...shown: readonly ReturnType<typeof at>[]): string {
  const kept = new KeptFilters()
  for (const place of shown) kept.remember(place)
  return kept.addressOfPath(path, shown.at(-1)!)
}

test('the range and common filters are kept between Observe pages, the others belong to their page', () => {
  const pipelines = at('/pipelines', 'range=24h&project=shop%2Fweb&status=failed&q=x&ref=')
  expect(addressAfter('/insights', pipelines)).toBe('/insights?range=24h&project=shop%2Fweb')
  expect(addressAfter('/logs', at('/logs', 'q=x'))).toBe('/logs')
  expect(addressAfter('/ingest', pipelines)).toBe('/ingest')
})

test('the filters of a page are there when it is shown again, with the range of now', () => {
  const pipelines = at('/pipelines', 'range=24h&status=failed')
  expect(addressAfter('/pipelines', pipelines, at('/logs', 'range=6h&q=x'))).toBe('/pipelines?range=6h&status=failed')
  expect(addressAfter('/pipelines', pipelines, at('/logs'))).toBe('/pipelines?status=failed')
})

test('pages without a range do not lose it', () => {
  const pipelines = at('/pipelines', 'range=24h&status=failed')
  for (const other of [at('/ingest'), at('/traces/0af7651916cd43dd8448eb211c80319c', 'span=1'), at('/nothing')]) {
    expect(addressAfter('/pipelines', pipelines, other)).toBe('/pipelines?range=24h&status=failed')
    expect(addressAfter('/insights', pipelines, other)).toBe('/insights?range=24h')
  }
})

test('a link to the page that is shown clears its own filters', () => {
  expect(addressAfter('/pipelines', at('/pipelines', 'range=24h&status=failed'))).toBe('/pipelines?range=24h')
})
