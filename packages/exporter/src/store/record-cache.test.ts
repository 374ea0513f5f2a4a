import type { PipelineRecord } from '@penstock/forges'
import { ManualClock } from '@penstock/testkit'
import { expect, test } from 'vitest'
import { readBody } from '../records/received-body.ts'
import { RecordCache } from './record-cache.ts'
import type { FoundRecord } from './record-store.ts'

function recordOf(id: number): PipelineRecord {
  const { input } = readBody(JSON.stringify({ object_attributes: { id, status: 'success' } }))
  if (input.kind !== 'pipeline') throw new Error('no pipeline')
  return input.record
}
const read = (id: number, characters: number): FoundRecord => {
  return { scope: 'project:1', record: recordOf(id), characters, collects: false }
}

test('stays within its size, and removes the oldest records first', () => {
  const cache = new RecordCache(new ManualClock(), 100)
  cache.add('a', read(1, 60))
  cache.add('a', read(1, 50))
  cache.add('b', read(2, 50))
  expect([cache.find('a')?.record.id, cache.find('b')?.record.id]).toEqual([1n, 2n])
  cache.add('c', read(3, 1))
  expect([cache.find('a'), cache.find('b')?.record.id, cache.find('c')?.record.id]).toEqual([undefined, 2n, 3n])
  cache.add('d', read(4, 101))
  expect(['b', 'c', 'd'].map((key) => cache.find(key))).toEqual([undefined, undefined, undefined])
})

test('keeps a record for a limited time', async () => {
  const clock = new ManualClock()
  const cache = new RecordCache(clock, 100)
  cache.add('a', read(1, 1))
  clock.stepSystemTime(3_600_000)
  await clock.advance(29_999)
  expect(cache.find('a')).toBeDefined()
  clock.stepSystemTime(-7_200_000)
  await clock.advance(1)
  expect(cache.find('a')).toBeUndefined()
})
