import { expect, test } from 'vitest'
import { metricTable } from './metric-table.ts'

test('rows with the same measure have the same instrument', () => {
  const instruments = new Map(metricTable.map((row) => [row.measure, row.instrument]))
  expect(metricTable.filter((row) => instruments.get(row.measure) !== row.instrument)).toEqual([])
})

test('the table has eleven metrics with different names', () => {
  expect(new Set(metricTable.map((row) => row.name)).size).toBe(11)
  expect(metricTable).toHaveLength(11)
})
