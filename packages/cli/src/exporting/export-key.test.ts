import { expect, test } from 'vitest'
import { parseExportKey, projectIdOf } from './export-key.ts'

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

test('only the scope of a project has its id', () => {
  expect([projectIdOf('project:5'), projectIdOf('source:5')]).toEqual([5, undefined])
})
