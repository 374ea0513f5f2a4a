import { expect, test } from 'vitest'
import { deliveryKey, parseExportKey, pipelineKey, readDeliveryKey, recordKey } from './export-key.ts'

test.each([
  [
    'project:5 svc.example.test 31 traces',
    { scope: 'project:5', instance: 'svc.example.test', pipelineId: '31', round: 1, signal: 'traces' },
  ],
  [
    'source:forge host:8443 9223372036854775807 #2 logs',
    { scope: 'source:forge', instance: 'host:8443', pipelineId: '9223372036854775807', round: 2, signal: 'logs' },
  ],
  [
    'source:forge an instance of two 9 #1 7 metrics',
    { scope: 'source:forge', instance: 'an instance of two 9 #1', pipelineId: '7', round: 1, signal: 'metrics' },
  ],
  ['project:5  31 traces', { scope: 'project:5', instance: '', pipelineId: '31', round: 1, signal: 'traces' }],
  ['something else', undefined],
])('%j', (key, expected) => {
  expect(parseExportKey(key)).toEqual(expected)
})

test('parses every key that it builds', () => {
  const record = recordKey(pipelineKey({ scope: 'source:forge', instance: 'host:8443' }, 9_223_372_036_854_775_807n), 2)
  const key = deliveryKey(record, 'logs')
  expect(key).toBe('source:forge host:8443 9223372036854775807 #2 logs')
  expect(readDeliveryKey(key)).toEqual({ record, signal: 'logs' })
})

test.each(['group/job #7 (x)', 'a traces', '31', '0b1c4a52-7b1c-4d58-9a40-4f1d0ad6a3f9'])(
  'parses the key of a pipeline with the id %j',
  (id) => {
    const namespace = { scope: 'source:forge', instance: 'host 3' }
    const key = deliveryKey(recordKey(pipelineKey(namespace, id), 2), 'logs')
    expect(parseExportKey(key)).toEqual({ ...namespace, pipelineId: id, round: 2, signal: 'logs' })
  },
)
